"""Which processes of this machine live: each holds a lock on a file of its own, which the system frees at any end."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Presence:
    """This process, as others see it. `id` stands in the records of the files that it writes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.id = secrets.token_hex(8)
        self._held = -1

    def enter(self) -> None:
        """From now on this process is seen to live."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = self._folder / f".{self.id}"
        self._held = os.open(made, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        made.rename(self._folder / self.id)  # nobody sees it unlocked

    def leave(self) -> None:
        """Let go; the file stays, so that the next start looks for what was left unfinished."""
        os.close(self._held)

    @contextmanager
    def of_the_dead(self) -> Iterator[list[str]]:
        """The ids of processes that ended; while the block runs nobody else is told of them, afterwards nobody at all.

        A block that fails leaves them for the next one.
        """
        found = {path: lock for path in sorted(self._folder.glob("[0-9a-f]*")) if (lock := _locked(path)) is not None}
        try:
            yield [path.name for path in found]
            for path in found:
                path.unlink(missing_ok=True)
        finally:
            for lock in found.values():
                os.close(lock)


def _locked(path: Path) -> int | None:
    """The file, locked by us; None while its process lives."""
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
