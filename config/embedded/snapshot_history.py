"""Lets the embedded `mongod` keep past states of its documents for as long as a backup reads one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded.diagnosis import EmbeddedError
from config.embedded.folder import Folder, Lock

_PARAMETER = "minSnapshotHistoryWindowInSeconds"
_SECONDS = 24 * 3600
_NONE = 0  # the value that `mongod` is started with; the reason is in mongod.py


@contextmanager
def snapshot_history(data_dir: Path) -> Iterator[None]:
    """Keep the history until the block ends; the caller has acquired the database. Raises EmbeddedError.

    A process that is killed leaves the history on, which costs disk space until the next backup or start of `mongod`.
    """
    folder = Folder(data_dir)
    lock = Lock(folder.path / "backup.lock")
    try:
        if not lock.try_exclusive():
            raise EmbeddedError(f"Another backup of the database in {folder.path} is running.")
        _keep(folder, _SECONDS)
        try:
            yield
        finally:
            _keep(folder, _NONE)
    finally:
        lock.close()


def _keep(folder: Folder, seconds: int) -> None:
    from config.embedded.replica_set import as_member  # late: importing the driver takes a fifth of a second

    record = folder.live_record()
    if record is not None:
        with as_member(folder, record.port) as client:
            client.admin.command({"setParameter": 1, _PARAMETER: seconds})
