"""Control of Python's garbage collector.

Starting the service creates hundreds of thousands of objects, nearly all of which stay. Collecting meanwhile wastes
time, and a later full collection would visit them all and block the event loop for 90 ms. So the collector is paused
while many objects are created, and all objects that exist afterwards are exempt from collection.
"""

from __future__ import annotations

import gc

_collect_after = 10_000  # new objects; Python's default of 700 is reached after a few requests
_COLLECT_AFTER_WITH_THREADS = 2_000


def pause() -> None:
    """Stop collecting until `resume` or `exempt_and_resume`."""
    gc.disable()


def resume() -> None:
    """Enable the collector again."""
    gc.enable()


def collect_and_pause() -> None:
    """Run a full collection and pause the collector, so that `exempt_and_resume` does not exempt garbage."""
    gc.collect()
    gc.disable()


def exempt_and_resume() -> None:
    """Exempt all objects that exist now, and enable the collector again for new ones."""
    gc.freeze()
    gc.set_threshold(_collect_after)
    gc.enable()


def collect_in_smaller_steps() -> None:
    """Collect sooner, for a process whose other threads compete with the event loop.

    A collection holds the interpreter, and the threads that wait for it take much of the processor meanwhile: 20 ms
    became 160 ms.
    """
    global _collect_after
    _collect_after = _COLLECT_AFTER_WITH_THREADS
    gc.set_threshold(_collect_after)
