"""The data folder: its files, its locks, and the record of the running database."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

POLL_SECONDS = 0.02
KEY_BYTES = 96


class Lock:
    """A flock(2) on a file; it is held until `close`, or until every process that inherited it has ended."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def try_shared(self) -> bool:
        """Take the lock shared with others; return False if it would have to wait."""
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Take the lock alone; return False if it would have to wait. A shared lock of this object is lost anyway."""
        return self._try(fcntl.LOCK_EX)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Release the lock; a second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def until(condition: Callable[[], bool], deadline: float) -> bool:
    """Poll `condition` until it holds (return True) or `deadline`, a `time.monotonic()`, has passed (return False)."""
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


@dataclass(frozen=True)
class Record:
    """Where a database is: its uri (with the password), its port on loopback, and the pid of its supervisor."""

    uri: str
    port: int
    pid: int


class Folder:
    """The files of one embedded database. The constructor makes `path` absolute and creates nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.users_lock = self.path / "users.lock"
        self.supervisor_lock = self.path / "supervisor.lock"
        self.supervisor_log = self.path / "supervisor.log"
        self.record = self.path / "embedded.json"
        self.key = self.path / "mongodb.key"
        self.log = self.path / "mongod.log"
        self.database = self.path / "mongodb"

    def create(self) -> None:
        """Create the folder, accessible to its owner alone. Raises OSError."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def is_supervised(self) -> bool:
        """Return whether a supervisor runs, or a `mongod` that outlived one."""
        probe = Lock(self.supervisor_lock)
        try:
            return not probe.try_shared()
        finally:
            probe.close()

    def password(self, user: str) -> str:
        """Return the password of a database user, derived from the replica set's random key."""
        self.make_key()
        return hmac.new(self.key.read_bytes(), user.encode(), hashlib.sha256).hexdigest()

    def ended_cleanly(self) -> bool:
        """Return whether the last `mongod` emptied its lock file when it ended."""
        lock = self.database / "mongod.lock"
        return not lock.exists() or lock.stat().st_size == 0

    def make_key(self) -> None:
        """Create the key file of the replica set if it does not exist."""
        if not self.key.exists():
            fresh = self.key.with_suffix(".new")
            fresh.touch(mode=0o600)
            fresh.write_bytes(base64.b64encode(secrets.token_bytes(KEY_BYTES)))
            fresh.replace(self.key)
        self.key.chmod(0o600)  # mongod refuses a key that others may read

    def publish(self, record: Record) -> Lock:
        """Write the record of the running database, which is valid as long as the returned lock is held."""
        fresh = self.record.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        lock = Lock(fresh)
        try:
            lock.try_exclusive()
            fresh.write_text(json.dumps(asdict(record)))
            # The lock is on this very file, so the record of a dead supervisor is never valid.
            fresh.replace(self.record)
        except OSError:
            lock.close()
            raise
        return lock

    def live_record(self) -> Record | None:
        """Return the record of the running database; None if no supervisor holds the record's lock."""
        try:
            fd = os.open(self.record, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with open(fd, encoding="utf-8") as file:
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return Record(**json.load(file))
        return None

    def last_port(self) -> int | None:
        """Return the port of the last run, which the stored replica set still names; None if it is unknown."""
        try:
            return int(json.loads(self.record.read_text())["port"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
