"""The time limits of operations: each has one, and while MongoDB fails all those of a request end at one deadline.

A request has no deadline while MongoDB replies. An operation without a reply sets it, six seconds after that operation
began: whatever the request waits for afterwards gets what is left, also when the database replies in between.
"""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any

import pymongo
from pymongo.errors import OperationFailure

from config.database.errors import AWAY, DatabaseUnavailable, translate
from config.time_limits import LimitedBlock, OwnLimit, TimeLimit

MARGIN_SECONDS = 0.2  # the limit of the library or the server ends first, as its error says more exactly what happened
_REQUEST_LIMITS = 1.2  # six seconds by default, which leaves two of a response of eight for everything else
_PROMPT_SHARE = 0.2  # of a time limit: a later success may be a library's second attempt
# codes of a server that is not a primary, or makes no progress: src/mongo/base/error_codes.yml
SILENT_CODES = frozenset({6, 7, 50, 64, 89, 91, 189, 202, 216, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436})


class Deadline:
    """The instant `at` which the waits of one request end (monotonic); infinitely long ago if it has none.

    `end_of_conflicts` is set while a transaction of it tries again because of others.
    """

    __slots__ = ("at", "end_of_conflicts", "operations")

    def __init__(self, operations: Operations | None) -> None:
        self.at = -math.inf
        self.end_of_conflicts = math.inf
        self.operations = operations


_deadline: ContextVar[Deadline | None] = ContextVar("database_deadline", default=None)


def share_deadline(operations: Operations | None = None) -> None:
    """Make the later operations of this context share a deadline: they belong to one request or one task.

    `operations` are those of its driver, which are needed to limit waits for work that requests share.
    """
    _deadline.set(Deadline(operations))


def create_separate_context() -> Context:
    """Return an empty context for work that several requests share.

    It has a deadline of its own, and neither the log context nor the transaction of the request that comes first.
    """
    deadline, context = _deadline.get(), Context()
    context.run(share_deadline, None if deadline is None else deadline.operations)
    return context


def wait_for_shared_work() -> AbstractContextManager[object]:
    """Return a context manager for the wait of the current request for work that it shares with others."""
    deadline = _deadline.get()
    return nullcontext() if deadline is None or deadline.operations is None else deadline.operations.shared()


class Operations:
    """The operations of one driver, each with a time limit of `seconds`.

    `last_failure` is when the latest of them ended without a reply (monotonic).
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds + MARGIN_SECONDS
        self.limit = TimeLimit(self.seconds)
        self.last_failure = 0.0

    def __call__(self) -> Operation:
        """Return a context manager for one operation, for the task that runs it.

        It translates the errors of the libraries, and raises `DatabaseUnavailable` when the time limit or the deadline
        of the request is over.
        """
        return Operation(self)

    def shared(self) -> Operation:
        """Return a context manager for the wait for what ends by itself: work of several callers, or another's lock.

        Only the deadline of the request limits it.
        """
        return Operation(self, shared=True)

    def left_seconds(self) -> float:
        """Return how long the current request may wait now: a time limit, or until its deadline."""
        return min(self.seconds, max(0.0, self.until_deadline(_deadline.get(), time.monotonic())))

    def until_deadline(self, deadline: Deadline | None, now: float) -> float:
        """Return the seconds from `now` until the deadline; infinity if there is none.

        If operations fail while a transaction waits for others, it may have waited for one of those, and ends with its
        conflicts.
        """
        if deadline is None:
            return math.inf
        ends = self._end(deadline, now)
        if self.last_failure > deadline.end_of_conflicts - _REQUEST_LIMITS * self.seconds:
            ends = min(ends, deadline.end_of_conflicts)
        return ends - now

    def _end(self, deadline: Deadline, now: float) -> float:
        """Return when the request ends because of a failure; infinity if the database has recovered, or ages ago."""
        return deadline.at if now - min(deadline.at, self.last_failure) <= self.seconds else math.inf

    def end_of_conflicts(self) -> float:
        """Return until when (monotonic) a transaction that begins now may wait for others and try again."""
        now, deadline = time.monotonic(), _deadline.get()
        until = now + _REQUEST_LIMITS * self.seconds
        return until if deadline is None else min(until, self._end(deadline, now))

    def note_conflicts(self, until: float) -> None:
        """Note that a transaction of the current request tries again, until this time; infinity after its end."""
        if (deadline := _deadline.get()) is not None:
            deadline.end_of_conflicts = until


class Operation:
    """An operation, or the wait for a `shared` one. Set `unanswered` if there was no reply and no error either.

    `took` has its seconds at its end.
    """

    __slots__ = ("_began", "_block", "_deadline", "_library", "_operations", "_shared", "took", "unanswered")

    def __init__(self, operations: Operations, shared: bool = False) -> None:
        self._operations = operations
        self._shared = shared
        self._deadline = _deadline.get()
        self._began = time.monotonic()
        self._library: Any = None
        self._block: LimitedBlock | None = None
        self.took = 0.0
        self.unanswered = False

    def __enter__(self) -> Operation:
        left = self._operations.until_deadline(self._deadline, self._began)
        if left < math.inf:
            if left <= 0:
                raise DatabaseUnavailable("the deadline of this request is over", silent=True) from TimeoutError()
            left = min(left, self._operations.seconds)
            self._library = pymongo.timeout(left)  # the library's thread ends then too
            self._library.__enter__()
            self._block = OwnLimit(left)()
        elif not self._shared:
            self._block = LimitedBlock(self._operations.limit)
        if self._block is not None:
            self._block.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the time limits, and note how the operation ended. Raises the translated error of a library."""
        if self._library is not None:
            self._library.__exit__(kind, error, trace)
        if self._block is not None:
            try:
                self._block.__exit__(kind, error, trace)
            except TimeoutError as late:
                error = late
        if error is None:
            self._note(self.unanswered)
        elif isinstance(error, Exception):  # a cancellation says nothing about the database
            silent = _is_silence(error)
            self._note(silent)
            if (translated := translate(error)) is not None:
                if isinstance(translated, DatabaseUnavailable):
                    translated.silent = silent
                raise translated from error

    def _note(self, silent: bool) -> None:
        """Set the deadline of the request after a failure, and after a late success while others fail."""
        now, operations, deadline = time.monotonic(), self._operations, self._deadline
        self.took = now - self._began
        if silent:
            operations.last_failure = now
        if deadline is None:
            return
        late = self.took > _PROMPT_SHARE * operations.seconds and operations.last_failure > self._began
        if (silent or late) and now - deadline.at > operations.seconds:
            deadline.at = self._began + _REQUEST_LIMITS * operations.seconds


def _is_silence(error: BaseException) -> bool:
    """Return whether an error means that no server replies, rather than that a server reports a failure."""
    if isinstance(error, DatabaseUnavailable):
        return error.silent
    if isinstance(error, OperationFailure):
        return error.code in SILENT_CODES
    return isinstance(error, (*AWAY, TimeoutError))
