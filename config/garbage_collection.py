"""Python's garbage collector in a process that has started.

A start makes hundreds of thousands of objects, nearly all of which stay. A full collection that visits them all blocks
the event loop for 90 ms.
"""

import gc

_COLLECT_AFTER = 10_000  # new objects; Python's default of 700 is reached after a few requests


def exempt_what_exists() -> None:
    """Exempt all objects that exist now from collections, and let these come later than Python's do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
