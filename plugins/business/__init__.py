"""What plugins of a business tell and ask one another, of which none requires another: sales, purchases, books.

It stands here because several of them share it and each of them may be missing. `plugins.api.business` is its door.
"""
