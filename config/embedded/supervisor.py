"""The process that runs `mongod` as long as somebody uses it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from types import FrameType

from config.embedded.binary import find_mongod
from config.embedded.diagnosis import EmbeddedError, explain, explain_os_error
from config.embedded.folder import Folder, Lock, Record, until
from config.embedded.mongod import Mongod, start_mongod

LOCK_SECONDS = 0.1
USERS_POLL_SECONDS = 0.2
MAX_RESTARTS = 3
RESTART_WINDOW_SECONDS = 60.0
MOVE_STOP_SECONDS = 1.0
ENDING_SECONDS = 3.0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Supervisor:
    """Runs the database of `folder` for its users; `start_seconds` bounds each start of `mongod`."""

    def __init__(self, folder: Folder, cache_gib: float, start_seconds: float) -> None:
        self._folder = folder
        self._cache_gib = cache_gib
        self._start_seconds = start_seconds
        self._restarts: deque[float] = deque(maxlen=MAX_RESTARTS)

    def run(self, ready: Callable[[], None]) -> None:
        """Start, call `ready`, and stay until nobody uses the database. At once back where another one is at work."""
        lock = Lock(self._folder.supervisor_lock)
        # A process that looks whether a supervisor is at work holds this lock for a moment.
        if not until(lock.try_exclusive, time.monotonic() + LOCK_SECONDS):
            return
        self._folder.supervisor_log.write_text("")
        for number in STOP_SIGNALS:
            signal.signal(number, _leave)
        mongod, uri = self._start(lock)
        record = None
        try:
            record = self._folder.publish(Record(uri, mongod.port, os.getpid()))
            ready()
            users = Lock(self._folder.users_lock)
            while not users.try_exclusive():  # from then on newcomers wait for our end
                time.sleep(USERS_POLL_SECONDS)
                mongod.rotate_log()
                if mongod.exit_code is not None:
                    mongod = self._restart(mongod, lock)
        finally:
            if record:
                record.close()
            mongod.stop()

    def _start(self, lock: Lock) -> tuple[Mongod, str]:
        self._folder.password()  # makes the key file, which mongod reads
        deadline = time.monotonic() + self._start_seconds
        port = self._folder.last_port()
        while True:
            mongod = start_mongod(find_mongod(), self._folder, self._cache_gib, lock, port, deadline)
            try:
                from config.embedded.replica_set import make_ready, move_member  # late, as start_mongod says

                if not move_member(self._folder, mongod.port):
                    return mongod, make_ready(self._folder, mongod.port, deadline)
            except EmbeddedError as error:
                raise EmbeddedError(_reason(mongod, error)) from error
            except BaseException:
                mongod.stop()
                raise
            mongod.stop(MOVE_STOP_SECONDS)
            port = mongod.port

    def _restart(self, ended: Mongod, lock: Lock) -> Mongod:
        """Start again after a crash, on the port that the users know."""
        now = time.monotonic()
        if len(self._restarts) == MAX_RESTARTS and now - self._restarts[0] < RESTART_WINDOW_SECONDS:
            raise EmbeddedError(f"mongod ended {MAX_RESTARTS + 1} times within a minute.")
        self._restarts.append(now)
        sys.stderr.write(f"mongod ended with code {ended.exit_code}; starting it again\n")
        mongod, _ = self._start(lock)
        if mongod.port != ended.port:
            mongod.stop()
            raise EmbeddedError(f"Port {ended.port} of the database was taken while it started again.")
        return mongod


def _reason(mongod: Mongod, error: EmbeddedError) -> str:
    """What `mongod` itself says if it came to an end, else `error`; either way it runs no more."""
    ended = until(lambda: mongod.exit_code is not None, time.monotonic() + ENDING_SECONDS)
    reason = explain(mongod.ending()) if ended else str(error)
    mongod.stop()
    return reason


def _leave(_number: int, _frame: FrameType | None) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the database stops cleanly, however often it is asked to
    raise SystemExit


def detach(folder: Folder, run: Callable[[Callable[[], None]], None]) -> str:
    """Call `run(ready)` in a process of its own; back when that calls `ready` or ends. Why it failed, or ""."""
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        with open(told, encoding="utf-8") as file:
            return file.read()
    os.close(told)
    _run_and_tell(folder, run, tell)
    raise SystemExit


def _run_and_tell(folder: Folder, run: Callable[[Callable[[], None]], None], tell: int) -> None:
    listener: list[int] = [tell]

    def ready() -> None:
        os.close(listener.pop())

    try:
        _redirect(folder)
        run(ready)
    except (EmbeddedError, OSError) as error:
        line = explain_os_error(error, folder.path) if isinstance(error, OSError) else str(error)
        os.write(listener[0] if listener else sys.stderr.fileno(), f"{line}\n".encode())


def _redirect(folder: Folder) -> None:
    log = os.open(folder.supervisor_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (nothing, 1), (log, 2)):
        os.dup2(source, target)
