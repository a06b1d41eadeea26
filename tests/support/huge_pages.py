"""Huge pages of processes: whether this system can move memory to them, and how much a process has in them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def _can_collapse() -> bool:
    """Whether this system has `MADV_COLLAPSE`: since Linux 6.1, with huge pages built in."""
    if sys.platform != "linux" or not Path("/sys/kernel/mm/transparent_hugepage").exists():
        return False
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (6, 1)


# an older or another system has nothing to show: `use_huge_pages` then changes nothing
needs_huge_pages = pytest.mark.skipif(not _can_collapse(), reason="the system has no MADV_COLLAPSE")


def huge_kib(pid: int) -> int:
    """Return how many KiB of the memory of a process are in huge pages."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))
