"""The memory of a process in huge pages."""

from __future__ import annotations

import subprocess
import sys

from tests.support.huge_pages import needs_huge_pages

_PROGRAM = """
import os
from config.huge_pages import use_huge_pages
from tests.support.huge_pages import huge_kib

kept = [[number] for number in range(500_000)]
before = huge_kib(os.getpid())
use_huge_pages()
assert kept == [[number] for number in range(500_000)]
print(huge_kib(os.getpid()) - before)
"""


@needs_huge_pages
def test_objects_are_moved_to_huge_pages_and_stay_as_they_are() -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert int(run.stdout) > 20 << 10  # of some 50 MiB
