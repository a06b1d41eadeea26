"""The memory of a process in huge pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
from pathlib import Path
from config.huge_pages import use_huge_pages

def huge_kib():
    return next(int(line.split()[1]) for line in Path("/proc/self/smaps_rollup").open() if line.startswith("AnonHuge"))

kept = [[number] for number in range(500_000)]
before = huge_kib()
use_huge_pages()
assert kept == [[number] for number in range(500_000)]
print(huge_kib() - before)
"""


def has_call() -> bool:
    """Whether this system has `MADV_COLLAPSE`: since Linux 6.1, with huge pages built in."""
    if sys.platform != "linux" or not Path("/sys/kernel/mm/transparent_hugepage").exists():
        return False
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (6, 1)


@pytest.mark.skipif(not has_call(), reason="the system has no MADV_COLLAPSE")
def test_objects_are_moved_to_huge_pages_and_stay_as_they_are() -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert int(run.stdout) > 20 << 10  # of some 50 MiB
