"""How a server process gets the embedded database: `acquire`, and `release` when it is done."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from config.embedded.diagnosis import EmbeddedError, explain_os_error
from config.embedded.folder import POLL_SECONDS, Folder, Lock, until
from config.embedded.mongod import HOST

PROJECT = Path(__file__).resolve().parents[2]
# The supervisor looks five times a second whether the database is used.
DECISION_SECONDS = 5.0
SHARED_DECISION_SECONDS = 0.5
STOP_SECONDS = 60.0
CONNECT_SECONDS = 1.0


@dataclass(frozen=True)
class Embedded:
    """The right to use the database at `uri`, which holds its password, until released."""

    uri: str = field(repr=False)
    _folder: Folder = field(repr=False)
    _lock: Lock = field(repr=False)

    def release(self) -> None:
        """Give the right up; the database stops within a second if nobody else uses it. Does not wait."""
        self._lock.close()

    def release_and_wait(self, seconds: float = 30.0) -> bool:
        """Give the right up and, if nobody else uses the database, wait for its clean end. False: still running."""
        deadline = time.monotonic() + seconds
        alone = self._lock.fd >= 0 and self._lock.try_exclusive()
        self._lock.close()
        decided = time.monotonic() + (DECISION_SECONDS if alone else SHARED_DECISION_SECONDS)
        if not until(self._has_ended, min(deadline, decided)):
            return False
        return until(lambda: not self._folder.is_supervised(), deadline)

    def _has_ended(self) -> bool:
        return self._folder.live_record() is None


def acquire(data_dir: Path, cache_gib: float = 1.0, start_seconds: float = 30.0) -> Embedded:
    """Join the database in `data_dir`, starting it where it does not run.

    Blocks for up to `start_seconds`, so call it in a thread. `cache_gib` is the size of the storage engine's
    cache in GiB. Raises EmbeddedError with one line for the person at the terminal.
    """
    folder = Folder(Path(data_dir))
    try:
        folder.create()
        lock = Lock(folder.users_lock)
    except OSError as error:
        raise EmbeddedError(explain_os_error(error, folder.path)) from error
    try:
        return Embedded(_join(folder, lock, cache_gib, start_seconds), folder, lock)
    except OSError as error:
        lock.close()
        raise EmbeddedError(explain_os_error(error, folder.path)) from error
    except BaseException:
        lock.close()
        raise


def _join(folder: Folder, lock: Lock, cache_gib: float, start_seconds: float) -> str:
    deadline = time.monotonic() + start_seconds
    # Refused only while a supervisor that nobody uses any more is stopping.
    if not until(lock.try_shared, deadline):
        raise EmbeddedError(f"The database in {folder.path} is still stopping after {start_seconds:.0f} s.")
    while (record := folder.live_record()) is None or not _answers(record.port):
        if time.monotonic() > deadline:
            raise EmbeddedError(
                f"The database in {folder.path} is neither ready nor gone after {start_seconds:.0f} s; "
                f"see {folder.log} and {folder.supervisor_log}."
            )
        if record or folder.is_supervised():
            time.sleep(POLL_SECONDS)
        else:
            _start_supervisor(folder, cache_gib, start_seconds)
    return record.uri


def _answers(port: int) -> bool:
    """Whether `mongod` is there: not while its supervisor starts it again after a crash."""
    try:
        socket.create_connection((HOST, port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _start_supervisor(folder: Folder, cache_gib: float, start_seconds: float) -> None:
    command = [sys.executable, "-m", "config.embedded", str(folder.path), str(cache_gib), str(start_seconds)]
    # The supervisor needs none of the server's settings, so it gets none of its secrets either.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    started = subprocess.run(  # noqa: S603 - our own module
        command,
        cwd=PROJECT,
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # Ctrl-C at the terminal is for the server, which then lets go of the database
        timeout=start_seconds + STOP_SECONDS,
        check=False,
    )
    if started.returncode:
        raise EmbeddedError(_last_line(started.stdout) or _last_line(started.stderr) or "The supervisor failed.")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
