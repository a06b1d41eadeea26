"""Which processes of this machine are alive. Each locks a file of its own; the system frees the lock when it ends."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Presence:
    """This process. The records of files that it writes have its `id`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.id = secrets.token_hex(8)
        self._held = -1

    def enter(self) -> None:
        """Lock the file of this process, so that others see it as alive."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f".{self.id}"
        self._held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        path.rename(self._folder / self.id)  # renamed when locked, so that nobody sees it unlocked

    def leave(self) -> None:
        """Release the lock. The file stays, so that the next start removes what was left unfinished."""
        os.close(self._held)

    @contextmanager
    def claim_dead(self) -> Iterator[list[str]]:
        """Claim the processes that ended, and yield their ids. No other process gets them while the block runs.

        If the block succeeds, they are forgotten; if it fails, the next caller gets them.
        """
        found = {path: lock for path in sorted(self._folder.glob("[0-9a-f]*")) if (lock := _try_lock(path)) is not None}
        try:
            yield [path.name for path in found]
            for path in found:
                path.unlink(missing_ok=True)
        finally:
            for lock in found.values():
                os.close(lock)


def _try_lock(path: Path) -> int | None:
    """Lock and return the file descriptor, or None while its process is alive."""
    try:
        lock = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
