"""A process of the service: how it ends, whom it tells that it is ready, and its garbage collector.

A start makes hundreds of thousands of objects, nearly all of which stay. A full collection that visits them all blocks
the event loop for 90 ms, so they are exempt from it.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn


def fail(problems: Sequence[str]) -> int:
    """Print every problem on a line of its own and return the exit code."""
    for problem in problems:
        sys.stderr.write(f"tradewind: {problem}\n")
    return 1


def end(code: int) -> NoReturn:
    """End the process at once. A thread waiting for an unresponsive database would delay it by a whole time limit."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


_PR_SET_PDEATHSIG = 1  # prctl(2)
_PROCESS = ctypes.CDLL(None)  # loaded at import: a forked child of a process with threads must not load it


def stop_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when its parent dies; exit if that has happened already.

    `parent` is the pid of the parent, which the parent reads before the fork. On other systems this does nothing.
    """
    if sys.platform != "linux":
        return
    _PROCESS.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


VARIABLE = "NOTIFY_SOCKET"


def notify(state: str) -> None:
    """Send `READY=1`, `RELOADING=1`, `STOPPING=1` or the like; separate several by line breaks."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    address = f"\0{path[1:]}" if path.startswith("@") else path
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.sendto(state.encode(), address)


_COLLECT_AFTER = 10_000  # new objects; Python's default of 700 is reached after a few requests


def exempt_what_exists() -> None:
    """Exempt all objects that exist now from collections, and let these come later than Python's do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
