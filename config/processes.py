"""Several server processes under one parent, which starts again what ends.

The parent has imported everything before it forks, so a process that was killed is back without the time of an import.
It has neither threads nor an event loop: a child gets only the thread that forks.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from config.parent_death import stop_with_parent

log = logging.getLogger("tradewind.processes")
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SIGNALS = (*_STOP_SIGNALS, signal.SIGCHLD)
_FIRST_PAUSE_SECONDS = 0.5
_MOST_PAUSE_SECONDS = 30.0
_EARLY_SECONDS = 3.0
_STABLE_SECONDS = 10.0


@dataclass
class _Place:
    """One of the processes: its pid while it runs, else when it is due to start; `failures` in sequence."""

    number: int
    pid: int = 0
    started: float = 0.0
    due: float = 0.0
    failures: int = 0


def run_processes(count: int, serve: Callable[[bool], int]) -> int:
    """Keep `count` processes running until SIGTERM or SIGINT; return the exit code.

    Each process exits with what `serve(first)` returns; `first` is true for the first process only. One that ends is
    started again at once, or after a pause that doubles if it ended within three seconds. If one exits with an error in
    the first ten seconds, all stop: the fault is in the settings.
    """
    return _Processes(count, serve).run()


class _Processes:
    def __init__(self, count: int, serve: Callable[[bool], int]) -> None:
        self._serve = serve
        self._places = [_Place(number) for number in range(count)]
        self._began = time.monotonic()
        self._stopping = False
        self._code = 0

    def run(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        while not self._stopping or any(place.pid for place in self._places):
            self._start_due()
            received = signal.sigtimedwait(_SIGNALS, self._next_pause())
            self._reap()
            if received is not None and received.si_signo in _STOP_SIGNALS:
                self._stop()
        return self._code

    def _start_due(self) -> None:
        now = time.monotonic()
        for place in self._places:
            if not place.pid and not self._stopping and place.due <= now:
                self._start(place)

    def _start(self, place: _Place) -> None:
        sys.stdout.flush()
        first, place.started = not place.started and place.number == 0, time.monotonic()
        parent = os.getpid()
        place.pid = os.fork()
        if place.pid:
            return
        code = 1
        try:
            stop_with_parent(parent)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            code = self._serve(first)
            sys.stdout.flush()
        finally:
            os._exit(code)  # what the parent has registered for its exit is not the child's

    def _next_pause(self) -> float:
        """The seconds until the next process is due."""
        now = time.monotonic()
        return max(0.0, min((place.due - now for place in self._places if not place.pid), default=_MOST_PAUSE_SECONDS))

    def _reap(self) -> None:
        by_pid = {place.pid: place for place in self._places if place.pid}
        for pid, place in by_pid.items():
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                place.pid = 0
                self._note_end(place, os.waitstatus_to_exitcode(status))

    def _note_end(self, place: _Place, code: int) -> None:
        if self._stopping:
            self._code = self._code or max(code, 0)
            return
        now = time.monotonic()
        if code > 0 and now - self._began < _STABLE_SECONDS:
            self._code = code
            self._stop()
            return
        place.failures = 0 if now - place.started > _EARLY_SECONDS else place.failures + 1
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** (place.failures - 1), _MOST_PAUSE_SECONDS) if place.failures else 0.0
        place.due = now + pause
        log.warning("a process ended and is started again", extra={"exit_code": code, "pause_seconds": pause})

    def _stop(self) -> None:
        self._stopping = True
        for place in self._places:
            if place.pid:
                os.kill(place.pid, signal.SIGTERM)
