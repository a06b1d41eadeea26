"""Ends a child process when its parent ends, for whatever reason (Linux only)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

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
