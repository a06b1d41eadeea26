"""Control of Python's garbage collector.

Starting the service creates hundreds of thousands of objects, nearly all of which stay. Collecting meanwhile wastes
time, and a later full collection would visit them all and block the event loop for 90 ms. So the collector is paused
while many objects are created, and all objects that exist afterwards are exempt from collection.
"""

from __future__ import annotations

import asyncio
import gc

_collect_after = 10_000  # new objects; Python's default of 700 is reached after a few requests
_COLLECT_AFTER_IN_SMALL_STEPS = 2_000
_FAILURE_SECONDS = 10.0
_failures_end: asyncio.TimerHandle | None = None


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
    _collect_after = _COLLECT_AFTER_IN_SMALL_STEPS
    gc.set_threshold(_collect_after)


def collect_sooner_for_a_while() -> None:
    """Collect sooner until ten seconds after the last such call. Must run on the event loop.

    For calls of the database that fail: errors of its libraries are in cycles with the frames that raised them, and all
    that these refer to. 10,000 such objects took up to 50 ms of processor time. Even smaller steps would move what is
    in use to the last generation, whose collections take as long.
    """
    global _failures_end
    if _failures_end is not None:
        _failures_end.cancel()
    gc.set_threshold(_COLLECT_AFTER_IN_SMALL_STEPS)
    _failures_end = asyncio.get_running_loop().call_later(_FAILURE_SECONDS, _collect_as_usual)


def _collect_as_usual() -> None:
    gc.set_threshold(_collect_after)
