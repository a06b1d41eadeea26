"""The time limits of operations: one of its own for each, and one for all that a request waits for in vain.

A request runs several operations, one after the other. While MongoDB does not answer, each would wait for as long as it
may. So a request remembers since when nothing has answered it, and its operations share the time of one from then on.
An answer to any of them ends that: a request that gets on may go on.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import pymongo
from pymongo.errors import OperationFailure

from config.database.errors import AWAY, DatabaseUnavailable, translation
from config.time_limits import OwnLimit, Piece, TimeLimit

MARGIN_SECONDS = 0.2  # the driver's own limit ends first, and says more exactly what happened
# codes of a server that is none, or does not get on: src/mongo/base/error_codes.yml
SILENT_CODES = frozenset({6, 7, 50, 64, 89, 91, 189, 202, 216, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436})


class Waiting:
    """What the operations of one request have in common: since when, monotonic, none of them was answered."""

    __slots__ = ("silent_since",)

    def __init__(self, silent_since: float | None = None) -> None:
        self.silent_since = silent_since


_waiting: ContextVar[Waiting | None] = ContextVar("database_waiting", default=None)


def begin_waiting() -> None:
    """From here on the operations of this context belong together: they are those of one request, or one piece of work."""
    _waiting.set(Waiting())


class Operations:
    """The operations of one driver, each with `seconds` for itself."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds + MARGIN_SECONDS
        self.limit = TimeLimit(self.seconds)
        self.silent_since: float | None = None  # nothing was answered to anybody in this process

    def __call__(self) -> Operation:
        """`with operations(): …` around one operation, in the task that runs it.

        Raises the errors of the seam for those of the drivers, and `DatabaseUnavailable` when the time is over.
        """
        return Operation(self)

    def note_wait(self, since: float) -> None:
        """The caller has waited since then for an operation of somebody else. If that was in vain, so was the wait."""
        waiting = _waiting.get()
        if waiting is not None and waiting.silent_since is None and self.silent_since is not None:
            waiting.silent_since = max(since, self.silent_since)


class Operation:
    """One operation under way. Set `unanswered` where the server did not answer and that is no error."""

    __slots__ = ("_began", "_library", "_operations", "_piece", "_waiting", "unanswered")

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._library: Any = None
        self.unanswered = False

    def __enter__(self) -> Operation:
        self._began = time.monotonic()
        self._waiting = waiting = _waiting.get()
        if waiting is None or waiting.silent_since is None:
            self._piece = self._operations.limit()
        else:
            self._piece = self._rest_of(waiting, waiting.silent_since)
        self._piece.__enter__()
        return self

    def _rest_of(self, waiting: Waiting, silent_since: float) -> Piece:
        """What is left of the time of a request that nothing answered since then."""
        seconds = self._operations.seconds
        left = silent_since + seconds - self._began
        if left < -seconds:  # no request goes on for so long: this is other work, which began in the request
            waiting.silent_since = None
            return self._operations.limit()
        if left <= 0:
            over = DatabaseUnavailable("no answer to this request within the time limit")
            over.silent = True
            raise over from TimeoutError()
        self._library = pymongo.timeout(left)  # so that its thread ends then too
        self._library.__enter__()
        return OwnLimit(left)()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._library is not None:
            self._library.__exit__(kind, error, trace)
        try:
            self._piece.__exit__(kind, error, trace)
        except TimeoutError as late:
            error = late
        if error is None:
            self._note(self.unanswered)
            return
        told = translation(error)
        if told is None:
            if (
                isinstance(error, DatabaseUnavailable) and error.silent
            ):  # an operation for several callers, this one too
                self._note(True)
            return
        silent = _is_silence(error)
        self._note(silent)
        if isinstance(told, DatabaseUnavailable):
            told.silent = silent
        raise told from error

    def _note(self, silent: bool) -> None:
        operations, waiting = self._operations, self._waiting
        if not silent:
            operations.silent_since = None
            if waiting is not None:
                waiting.silent_since = None
            return
        if operations.silent_since is None:
            operations.silent_since = self._began
        if waiting is not None and waiting.silent_since is None:
            waiting.silent_since = self._began


def _is_silence(error: BaseException) -> bool:
    """Whether an error means that nothing answers, rather than that an answer is a refusal."""
    if isinstance(error, OperationFailure):
        return error.code in SILENT_CODES
    return isinstance(error, (*AWAY, TimeoutError))
