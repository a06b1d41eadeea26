"""How a server process gets the embedded database: `acquire`, and `release` when it is done."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
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
SUPERVISOR_POLL_SECONDS = 0.1
CONNECT_SECONDS = 1.0


class MovedError(EmbeddedError):
    """The database runs at another address than the one that was acquired."""


@dataclass(frozen=True)
class Embedded:
    """The right to use the database at `uri`, which holds its password, until released."""

    uri: str = field(repr=False)
    _folder: Folder = field(repr=False)
    _lock: Lock = field(repr=False)
    _database: str | None = None

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

    def is_supervised(self) -> bool:
        """Whether somebody looks after `mongod`; one whose supervisor was killed ends too."""
        return self._folder.live_record() is not None

    def supervise(self, given_up: threading.Event) -> None:
        """Start a supervisor again, as `acquire` does; raises `EmbeddedError`, `MovedError` for another address."""
        again = acquire(self._folder.path, given_up=given_up, database=self._database)
        again.release()  # the right that this one holds is enough
        if again.uri != self.uri:
            raise MovedError(f"The database in {self._folder.path} has another address now: start the server again.")

    def _has_ended(self) -> bool:
        return self._folder.live_record() is None


def acquire(
    data_dir: Path,
    cache_gib: float = 1.0,
    start_seconds: float = 30.0,
    given_up: threading.Event | None = None,
    *,
    database: str | None = None,
) -> Embedded:
    """Join the database in `data_dir`, starting it where it does not run, with the rights of the service on `database`.

    Without `database` the rights are those of tests and measurements: any database, and how `mongod` is.
    Blocks for up to `start_seconds`, so call it in a thread; `given_up` ends the wait. `cache_gib` is the size of the
    storage engine's cache in GiB. Raises EmbeddedError with one line for the person at the terminal.
    """
    folder = Folder(Path(data_dir))
    try:
        folder.create()
        lock = Lock(folder.users_lock)
    except OSError as error:
        raise EmbeddedError(explain_os_error(error, folder.path)) from error
    try:
        joining = _Joining(folder, lock, cache_gib, start_seconds, given_up or threading.Event())
        return Embedded(joining.uri(database), folder, lock, database)
    except OSError as error:
        lock.close()
        raise EmbeddedError(explain_os_error(error, folder.path)) from error
    except BaseException:
        lock.close()
        raise


@dataclass(frozen=True)
class _Joining:
    """One wait for the database: where, and for how long."""

    folder: Folder
    lock: Lock
    cache_gib: float
    seconds: float
    given_up: threading.Event

    def uri(self, database: str | None) -> str:
        """The address of the database once it answers; starts a supervisor where none is at work."""
        folder, deadline = self.folder, time.monotonic() + self.seconds
        # Refused only while a supervisor that nobody uses any more is stopping.
        if not until(self._patient(self.lock.try_shared), deadline):
            raise EmbeddedError(f"The database in {folder.path} is still stopping after {self.seconds:.0f} s.")
        while True:
            record = folder.live_record()
            if record is not None and _answers(record.port):
                try:
                    return _let_in(folder, record.port, database)
                except EmbeddedError:
                    if time.monotonic() > deadline:
                        raise
            self._go_on()
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"The database in {folder.path} is neither ready nor gone after {self.seconds:.0f} s; "
                    f"see {folder.log} and {folder.supervisor_log}."
                )
            if record or folder.is_supervised():
                time.sleep(POLL_SECONDS)
            else:
                self._start_supervisor()

    def _go_on(self) -> None:
        if self.given_up.is_set():
            raise EmbeddedError(f"The database in {self.folder.path} is not waited for any longer.")

    def _patient(self, condition: Callable[[], bool]) -> Callable[[], bool]:
        def look() -> bool:
            self._go_on()
            return condition()

        return look

    def _start_supervisor(self) -> None:
        command = [
            sys.executable,
            "-m",
            "config.embedded",
            str(self.folder.path),
            str(self.cache_gib),
            str(self.seconds),
        ]
        # The supervisor needs none of the server's settings, so it gets none of its secrets either.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
        path = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))
        started = subprocess.Popen(  # noqa: S603 - our own module
            command,
            cwd=PROJECT,
            env=environment | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C at the terminal is for the server, which then lets go of the database
        )
        said, complained = self._last_words(started)
        if started.returncode:
            raise EmbeddedError(_last_line(said) or _last_line(complained) or "The supervisor failed.")

    def _last_words(self, started: subprocess.Popen[str]) -> tuple[str, str]:
        """What it printed until its end; one that is not waited for goes on, and stops where nobody uses it."""
        deadline = time.monotonic() + self.seconds + STOP_SECONDS
        while time.monotonic() < deadline:
            self._go_on()
            with suppress(subprocess.TimeoutExpired):
                return started.communicate(timeout=SUPERVISOR_POLL_SECONDS)
        raise EmbeddedError(f"The database in {self.folder.path} does not start; see {self.folder.log}.")


def _let_in(folder: Folder, port: int, database: str | None) -> str:
    from config.embedded.users import let_in  # late: importing the driver takes a fifth of a second

    return let_in(folder, port, database)


def _answers(port: int) -> bool:
    """Whether `mongod` is there: not while its supervisor starts it again after a crash."""
    try:
        socket.create_connection((HOST, port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
