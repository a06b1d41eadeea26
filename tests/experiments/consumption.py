"""The processor time and memory of a process."""

from __future__ import annotations

import os
import time
from pathlib import Path

_SCHEDULED = 2  # CPUCLOCK_SCHED: the exact time, not the ticks


def processor_seconds(pid: int) -> float:
    """Return how many seconds the threads of a process have run so far (clock_getcpuclockid(3)); 0 if it has ended."""
    try:
        return time.clock_gettime(~pid << 3 | _SCHEDULED)
    except OSError:
        return 0.0


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process (proc(5)), in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
