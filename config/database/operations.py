"""The time limits of operations: one for each, and one that a request shares among its operations without a reply.

A request runs several operations in sequence. While MongoDB does not reply, each of them would wait for its full time
limit. So a request remembers since when it has had no reply, and from then on its operations share one time limit. A
reply to any of them ends that, and the request goes on as usual.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import pymongo
from pymongo.errors import OperationFailure

from config.database.errors import AWAY, DatabaseUnavailable, translate
from config.time_limits import LimitedBlock, OwnLimit, TimeLimit

MARGIN_SECONDS = 0.2  # the limit of the library or the server ends first, and its error says more exactly what happened
# codes of a server that is not a primary, or makes no progress: src/mongo/base/error_codes.yml
SILENT_CODES = frozenset({6, 7, 50, 64, 89, 91, 189, 202, 216, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436})


class Waiting:
    """What the operations of one request share: since when, monotonic, none of them has had a reply."""

    __slots__ = ("silent_since",)

    def __init__(self, silent_since: float | None = None) -> None:
        self.silent_since = silent_since


_waiting: ContextVar[Waiting | None] = ContextVar("database_waiting", default=None)


def begin_waiting() -> None:
    """Make the later operations of this context share their waits: they belong to one request or one task."""
    _waiting.set(Waiting())


class Operations:
    """The operations of one driver, each with a time limit of `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds + MARGIN_SECONDS
        self.limit = TimeLimit(self.seconds)
        self.silent_since: float | None = None  # since when nobody in this process has had a reply

    def __call__(self) -> Operation:
        """`with operations(): …` around one operation, in the task that runs it.

        Translates the errors of the libraries; raises `DatabaseUnavailable` when the time limit ends.
        """
        return Operation(self)

    def note_wait(self, since: float) -> None:
        """Record a wait since then for another caller's operation; without a reply it counts as the caller's own."""
        waiting = _waiting.get()
        if waiting is not None and waiting.silent_since is None and self.silent_since is not None:
            waiting.silent_since = max(since, self.silent_since)


class Operation:
    """A running operation. Set `unanswered` where the server did not reply and that is no error."""

    __slots__ = ("_began", "_block", "_library", "_operations", "_waiting", "unanswered")

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._library: Any = None
        self.unanswered = False

    def __enter__(self) -> Operation:
        self._began = time.monotonic()
        self._waiting = waiting = _waiting.get()
        if waiting is None or waiting.silent_since is None:
            self._block = self._operations.limit()
        else:
            self._block = self._remaining_time(waiting, waiting.silent_since)
        self._block.__enter__()
        return self

    def _remaining_time(self, waiting: Waiting, silent_since: float) -> LimitedBlock:
        """What remains of the time limit of a request without a reply since then."""
        seconds = self._operations.seconds
        left = silent_since + seconds - self._began
        if left < -seconds:  # no request takes so long: this is a task that the request started
            waiting.silent_since = None
            return self._operations.limit()
        if left <= 0:
            expired = DatabaseUnavailable("no reply to this request within the time limit")
            expired.silent = True
            raise expired from TimeoutError()
        self._library = pymongo.timeout(left)  # the library's thread ends then too
        self._library.__enter__()
        return OwnLimit(left)()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._library is not None:
            self._library.__exit__(kind, error, trace)
        try:
            self._block.__exit__(kind, error, trace)
        except TimeoutError as late:
            error = late
        if error is None:
            self._note(self.unanswered)
            return
        translated = translate(error)
        if translated is None:
            # the error of an operation that served several callers
            if isinstance(error, DatabaseUnavailable) and error.silent:
                self._note(True)
            return
        silent = _is_silence(error)
        self._note(silent)
        if isinstance(translated, DatabaseUnavailable):
            translated.silent = silent
        raise translated from error

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
    """Whether an error means that no server replies, rather than that a server reports a failure."""
    if isinstance(error, OperationFailure):
        return error.code in SILENT_CODES
    return isinstance(error, (*AWAY, TimeoutError))
