"""Huge pages for the memory of a process that has started.

A request visits objects all over some 100 MiB. On a machine with 2 cores, beside MongoDB, creating a record took a
tenth less processor time with pages of 2 MiB than with pages of 4 KiB.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROCESS = ctypes.CDLL(None)
_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1: madvise(2)
_PAGE_BYTES = 2 << 20


def use_huge_pages() -> None:
    """Move what this process has in memory now to huge pages; memory that it gets later is not affected.

    This copies the memory, so it belongs in a thread, and ends what a forked process shares with its parent. Where the
    system has no such call, or no free huge pages, or hides the ranges of memory, nothing changes.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            for start, end in _ranges():
                _PROCESS.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _COLLAPSE)


def _ranges() -> Iterator[tuple[int, int]]:
    """Yield the start and end of each range of memory that holds objects: private, writable, without a file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, _, *name = line.split(maxsplit=5)
        start, end = (int(address, 16) for address in addresses.split("-"))
        if permissions == "rw-p" and name in ([], ["[heap]"]) and end - start >= _PAGE_BYTES:
            yield start, end
