"""The process that runs `mongod` as long as it is used."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import FrameType

from config.embedded.diagnosis import EmbeddedError, explain, explain_os_error
from config.embedded.folder import Folder, Lock, Record, until
from config.embedded.mongod import Mongod, find_mongod, start_mongod

LOCK_SECONDS = 0.1
USERS_POLL_SECONDS = 0.2
FIRST_PAUSE_SECONDS = 0.5
MOST_PAUSE_SECONDS = 10.0
RECOVERY_SECONDS = 900.0  # for a mongod that was killed: it replays what was written since its last checkpoint
STEADY_SECONDS = 60.0  # a mongod that has run for this long does not count as crashing repeatedly
MOVE_STOP_SECONDS = 1.0
ENDING_SECONDS = 3.0
LOG_BYTES = 1 << 20
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Supervisor:
    """Runs the database of `folder` for its users; `start_seconds` limits each start of a `mongod` that ended cleanly.

    A `mongod` that ends by itself is restarted on the same port as often as necessary, because a full disk, for
    example, may get free space again. The pause between two attempts doubles.
    """

    def __init__(self, folder: Folder, cache_gib: float, start_seconds: float) -> None:
        self._folder = folder
        self._cache_gib = cache_gib
        self._start_seconds = start_seconds
        self._mongod: Mongod | None = None
        self._port: int | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._begun = 0.0
        self._again_at = 0.0

    def run(self, ready: Callable[[], None]) -> None:
        """Start, call `ready`, and run until nobody uses the database. Return at once if another supervisor runs."""
        lock = Lock(self._folder.supervisor_lock)
        # A process that checks whether a supervisor runs holds this lock for a moment.
        if not until(lock.try_exclusive, time.monotonic() + LOCK_SECONDS):
            return
        for number in STOP_SIGNALS:
            signal.signal(number, _leave)
        record = None
        try:
            uri = self._start(lock)
            record = self._folder.publish(Record(uri, self._port or 0, os.getpid()))
            ready()
            users = Lock(self._folder.users_lock)
            while not users.try_exclusive():  # from then on new users wait until this supervisor has ended
                time.sleep(USERS_POLL_SECONDS)
                try:
                    self._maintain(lock)
                except OSError as error:
                    _say(explain_os_error(error, self._folder.path))
        finally:
            if record:
                record.close()
            if self._mongod:
                self._mongod.stop()

    def _maintain(self, lock: Lock) -> None:
        """Keep the log of `mongod` short, and restart a `mongod` that has ended when its pause is over."""
        if self._mongod is None:
            if time.monotonic() >= self._again_at:
                self._try_again(lock)
        elif self._mongod.exit_code is None:
            self._mongod.rotate_log()
        else:
            ended, self._mongod = self._mongod, None
            _say(explain(ended.ending()))
            ended.stop()
            if time.monotonic() - self._begun > STEADY_SECONDS:
                self._pause = FIRST_PAUSE_SECONDS
            self._wait()

    def _try_again(self, lock: Lock) -> None:
        try:
            self._start(lock)
        except (EmbeddedError, OSError) as error:
            _say(explain_os_error(error, self._folder.path) if isinstance(error, OSError) else str(error))
            self._wait()
        else:
            _say("mongod runs again")

    def _wait(self) -> None:
        _say(f"starting mongod again in {self._pause:g} s")
        self._again_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, MOST_PAUSE_SECONDS)

    def _start(self, lock: Lock) -> str:
        """Start `mongod`, make it ready, and return its address."""
        self._folder.make_key()  # mongod reads it
        self._begun = time.monotonic()
        deadline = self._begun + (self._start_seconds if self._folder.ended_cleanly() else RECOVERY_SECONDS)
        known = self._port is not None
        port = self._port if known else self._folder.last_port()
        while True:
            mongod = start_mongod(find_mongod(), self._folder, self._cache_gib, lock, port, deadline, moves=not known)
            try:
                from config.embedded.replica_set import make_ready, move_member  # imported late: start_mongod says why
                from config.embedded.users import SERVICE, uri_of

                if not move_member(self._folder, mongod.port):
                    make_ready(self._folder, mongod.port, deadline)
                    self._mongod, self._port = mongod, mongod.port
                    return uri_of(self._folder, mongod.port, SERVICE)
            except EmbeddedError as error:
                raise EmbeddedError(_reason(mongod, error)) from error
            except BaseException:
                mongod.stop()
                raise
            mongod.stop(MOVE_STOP_SECONDS)
            port = mongod.port


def _reason(mongod: Mongod, error: EmbeddedError) -> str:
    """Stop `mongod`; return the reason that it gives itself if it has ended, otherwise `error`."""
    ended = until(lambda: mongod.exit_code is not None, time.monotonic() + ENDING_SECONDS)
    reason = explain(mongod.ending()) if ended else str(error)
    mongod.stop()
    return reason


def _say(line: str) -> None:
    """Write a line to supervisor.log; on a full disk this fails silently."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n".encode())


def _leave(_number: int, _frame: FrameType | None) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # further signals do not interrupt the clean stop
    raise SystemExit


def detach(folder: Folder, run: Callable[[Callable[[], None]], None]) -> str:
    """Call `run(ready)` in a new process and wait until it calls `ready` or ends; return why it failed, or ""."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        with open(reader, encoding="utf-8") as file:
            return file.read()
    os.close(reader)
    _run_and_report(folder, run, writer)
    raise SystemExit


def _run_and_report(folder: Folder, run: Callable[[Callable[[], None]], None], writer: int) -> None:
    listener: list[int] = [writer]

    def ready() -> None:
        os.close(listener.pop())

    try:
        _redirect(folder)
        run(ready)
    except (EmbeddedError, OSError) as error:
        line = explain_os_error(error, folder.path) if isinstance(error, OSError) else str(error)
        _say(line)
        if listener:
            os.write(listener[0], f"{line}\n".encode())


def _redirect(folder: Folder) -> None:
    if folder.supervisor_log.exists() and folder.supervisor_log.stat().st_size > LOG_BYTES:
        folder.supervisor_log.replace(folder.supervisor_log.with_suffix(".log.1"))
    log = os.open(folder.supervisor_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (nothing, 1), (log, 2)):
        os.dup2(source, target)
