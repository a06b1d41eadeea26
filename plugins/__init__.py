"""The plugins, and what they are made with; `api.py` is all that a plugin author imports."""
