"""A folder of backups: the names of its files, and which of them are old."""

from __future__ import annotations

import fcntl
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

_WHOLE, _CHANGES = ".backup", ".changes"  # Tradewind up to 0.2 made the latter
_PARTIAL = ".partial"


def new_name(database: str) -> str:
    """Return the name of a backup that is taken now."""
    return f"{database}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{_WHOLE}"


def partial_of(path: Path) -> Path:
    """Return the name that a file has while it is being written."""
    return path.with_name(f".{path.name}{_PARTIAL}")


def remove_abandoned(folder: Path, database: str) -> None:
    """Remove partial files that killed backups have left, except those that a process is still writing."""
    for path in folder.glob(f".{database}-*{_PARTIAL}"):
        with path.open("rb") as file, suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def remove_old(folder: Path, database: str, keep: int) -> list[str]:
    """Remove all but the newest `keep` whole backups, and the changes older than those; return the removed names.

    Only files with names such as `new_name` makes are considered.
    """
    whole = _ours(folder, database, _WHOLE)
    old = whole[:-keep]
    if old:
        oldest = whole[-keep].stem
        old += [path for path in _ours(folder, database, _CHANGES) if path.stem < oldest]
    for path in old:
        path.unlink()
    return [path.name for path in old]


def _ours(folder: Path, database: str, ending: str) -> list[Path]:
    """Return the files that have names such as `new_name` makes, the oldest first."""
    name = re.compile(re.escape(database) + r"-\d{8}T\d{6}Z" + re.escape(ending))
    return sorted(path for path in folder.iterdir() if name.fullmatch(path.name))
