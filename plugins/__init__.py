"""The plugins, and what they are written with: `api.py` is all that a plugin author imports."""
