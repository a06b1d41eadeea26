"""All switches of Python's garbage collector.

A start creates hundreds of thousands of objects, nearly all of which stay. To collect meanwhile is wasted time, and a
full collection later would visit them all and block the event loop for 90 ms. So the collector is paused while much is
created, and all objects that exist then are exempt from it.
"""

from __future__ import annotations

import gc

_COLLECT_AFTER = 10_000  # new objects; a few requests create the 700 of Python's default


def pause() -> None:
    """Stop collecting until `resume` or `exempt_and_resume`."""
    gc.disable()


def resume() -> None:
    """Collect again."""
    gc.enable()


def collect_and_pause() -> None:
    """Collect everything once, before `exempt_and_resume` would exempt what is garbage too."""
    gc.collect()
    gc.disable()


def exempt_and_resume() -> None:
    """Exempt all objects that exist now, and collect new ones again."""
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    gc.enable()
