"""What plugins are made with, and the built-in ones.

`api/` is all that a plugin author imports, and `plugin.py` the declaration of a module. `records/`: what records do, from
their routes to their history; `checks/`: what a declaration may get wrong; `boot/`: from plugins to a serving process;
`testing/`: fixtures; `business/`: what plugins of a business tell and ask one another. Every other folder is a plugin.
"""
