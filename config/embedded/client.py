"""How a server process uses the embedded database: `acquire` it, `keep` it supervised, and `release` it at the end."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config.embedded.diagnosis import EmbeddedError, explain_os_error
from config.embedded.folder import POLL_SECONDS, Folder, Lock, until
from config.embedded.mongod import HOST

if TYPE_CHECKING:  # the supervisor of the database starts without what settings need
    from config.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
# The supervisor checks five times a second whether the database is used.
DECISION_SECONDS = 5.0
SHARED_DECISION_SECONDS = 0.5
STOP_SECONDS = 60.0
SUPERVISOR_POLL_SECONDS = 0.1
CONNECT_SECONDS = 1.0


class MovedError(EmbeddedError):
    """The database now runs at a different address from the one that was acquired."""


@dataclass(frozen=True)
class Embedded:
    """The right to use the database at `uri` until it is released. `uri` contains the password."""

    uri: str = field(repr=False)
    _folder: Folder = field(repr=False)
    _lock: Lock = field(repr=False)
    _database: str | None = None

    def release(self) -> None:
        """Give up the right; the database stops within a second if nobody else uses it. Does not wait."""
        self._lock.close()

    def release_and_wait(self, seconds: float = 30.0) -> bool:
        """Give up the right and, if nobody else uses the database, wait for its clean end; return whether it ended."""
        deadline = time.monotonic() + seconds
        alone = self._lock.fd >= 0 and self._lock.try_exclusive()
        self._lock.close()
        decided = time.monotonic() + (DECISION_SECONDS if alone else SHARED_DECISION_SECONDS)
        if not until(self._has_ended, min(deadline, decided)):
            return False
        return until(lambda: not self._folder.is_supervised(), deadline)

    def is_supervised(self) -> bool:
        """Return whether a supervisor is running. If it is killed, its `mongod` ends too."""
        return self._folder.live_record() is not None

    def acknowledge_at_once(self) -> None:
        """Let writes be acknowledged before they are in the journal, for tests. Raises `EmbeddedError`."""
        from config.embedded.replica_set import acknowledge_at_once  # imported late, as in `_let_in`

        record = self._folder.live_record()
        if record is None:
            raise EmbeddedError(f"The database in {self._folder.path} has ended; see {self._folder.log}.")
        acknowledge_at_once(self._folder, record.port)

    def supervise(self, given_up: threading.Event) -> None:
        """Start a new supervisor, as `acquire` does. Raises `EmbeddedError`, or `MovedError` if the address changed."""
        again = acquire(self._folder.path, given_up=given_up, database=self._database)
        again.release()  # this object still holds the right
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
    """Join the database in `data_dir`, or start it, with the rights of the service on `database`.

    Without `database` the rights are those of tests and measurements: on any database, and on the state of `mongod`.
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
    """One attempt to join the database in `folder` within `seconds`."""

    folder: Folder
    lock: Lock
    cache_gib: float
    seconds: float
    given_up: threading.Event

    def uri(self, database: str | None) -> str:
        """Wait until the database can be reached, start a supervisor if none runs, and return the address."""
        folder, deadline = self.folder, time.monotonic() + self.seconds
        # The lock is refused only while an unused supervisor is stopping.
        if not until(self._unless_given_up(self.lock.try_shared), deadline):
            raise EmbeddedError(f"The database in {folder.path} is still stopping after {self.seconds:.0f} s.")
        while True:
            record = folder.live_record()
            if record is not None and _accepts_connections(record.port):
                try:
                    return _let_in(folder, record.port, database)
                except EmbeddedError:
                    if time.monotonic() > deadline:
                        raise
            self._check_given_up()
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"The database in {folder.path} is neither ready nor gone after {self.seconds:.0f} s; "
                    f"see {folder.log} and {folder.supervisor_log}."
                )
            if record or folder.is_supervised():
                time.sleep(POLL_SECONDS)
            else:
                self._start_supervisor()

    def _check_given_up(self) -> None:
        if self.given_up.is_set():
            raise EmbeddedError(f"The database in {self.folder.path} is not waited for any longer.")

    def _unless_given_up(self, condition: Callable[[], bool]) -> Callable[[], bool]:
        def check() -> bool:
            self._check_given_up()
            return condition()

        return check

    def _start_supervisor(self) -> None:
        command = [
            sys.executable,
            "-m",
            "config.embedded",
            str(self.folder.path),
            str(self.cache_gib),
            str(self.seconds),
        ]
        # The supervisor needs no settings of the server, so it gets no secrets either.
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
            start_new_session=True,  # Ctrl-C at the terminal stops the server, which then releases the database
        )
        output, errors = self._wait_for_output(started)
        if started.returncode:
            raise EmbeddedError(_last_line(output) or _last_line(errors) or "The supervisor failed.")

    def _wait_for_output(self, started: subprocess.Popen[str]) -> tuple[str, str]:
        """Return what the process printed until it ended.

        If this gives up, the process runs on until nobody uses the database.
        """
        deadline = time.monotonic() + self.seconds + STOP_SECONDS
        while time.monotonic() < deadline:
            self._check_given_up()
            with suppress(subprocess.TimeoutExpired):
                return started.communicate(timeout=SUPERVISOR_POLL_SECONDS)
        raise EmbeddedError(f"The database in {self.folder.path} does not start; see {self.folder.log}.")


def _let_in(folder: Folder, port: int, database: str | None) -> str:
    from config.embedded.users import let_in  # late: importing the driver takes a fifth of a second

    return let_in(folder, port, database)


def _accepts_connections(port: int) -> bool:
    """Return whether `mongod` accepts connections; it does not while its supervisor restarts it after a crash."""
    try:
        socket.create_connection((HOST, port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


log = logging.getLogger("tradewind.database")
_CHECK_SECONDS = 1.0
_MOST_PAUSE_SECONDS = 30.0


async def keep(embedded: Embedded) -> None:
    """Restart the supervisor whenever it is gone, until cancelled. Raises `MovedError` if the address has changed."""
    pause = _CHECK_SECONDS
    while True:
        await asyncio.sleep(pause)
        if await asyncio.to_thread(embedded.is_supervised):
            pause = _CHECK_SECONDS
            continue
        log.warning("the supervisor of the embedded database is gone; starting another")
        given_up = threading.Event()
        try:
            await asyncio.to_thread(embedded.supervise, given_up)
            log.info("the embedded database runs again")
        except MovedError:
            raise
        except EmbeddedError as error:
            pause = min(2 * pause, _MOST_PAUSE_SECONDS)
            log.error(
                "the embedded database does not start", extra={"reason": str(error), "again_after_seconds": pause}
            )
        finally:
            given_up.set()


class Starting:
    """A start in a thread. If the server fails before it uses the database, the database stops by itself."""

    def __init__(self, data_dir: Path, database: str) -> None:
        self._given_up = threading.Event()
        begin = partial(acquire, data_dir, given_up=self._given_up, database=database)
        self._future = ThreadPoolExecutor(1, "database").submit(begin)

    async def database(self) -> Embedded:
        """Wait for the database and return it; if the caller is cancelled, its start is given up.

        Raises `EmbeddedError`.
        """
        try:
            return await asyncio.wrap_future(self._future)
        finally:
            self._given_up.set()


def start_database(settings: Settings) -> Starting | None:
    """Start the embedded database in the background; return None if the settings name another database."""
    return None if settings.mongodb_uri.get_secret_value() else Starting(settings.data_dir, settings.mongodb_database)
