"""Where databases of tests and experiments go: to memory, if it has room, as they wait for the disk otherwise."""

# `scripts/test` reads this file with any Python; hence no newer syntax.

import os
import shutil

_SHARED = "/dev/shm"


def folder_in_memory(room_bytes: int) -> "str | None":
    """Return a folder in memory, or None if databases of this size and as much for processes do not fit."""
    if not os.path.isdir(_SHARED) or shutil.disk_usage(_SHARED).free < room_bytes:
        return None
    # the limit of the folder says nothing about the memory that is left
    with open("/proc/meminfo") as lines:
        available = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
    return _SHARED if available >= 2 * room_bytes else None
