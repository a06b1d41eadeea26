"""The time limits of operations: each has one, and a request spends no more than one of them without a reply.

A request may wait behind a transaction whose reply is lost, and then lose a reply itself: the first wait counts, too.
`silence.py` records the times without a reply for all operations of the process.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any

import pymongo
from pymongo.errors import OperationFailure

from config.database.errors import AWAY, DatabaseUnavailable, translate
from config.database.silence import Silence
from config.time_limits import LimitedBlock, OwnLimit, TimeLimit

MARGIN_SECONDS = 0.2  # the limit of the library or the server ends first, as its error says more exactly what happened
_NOTICED_SECONDS = 1.0  # a shorter wait does not make a response late
_REPEATED_SECONDS = 0.2  # before PyMongo tries again, it waits for a heartbeat: half a second to a second
_TROUBLED_SECONDS = 10.0  # after an operation without a reply; until then others may have to wait, too
_YOUNG_SECONDS = 0.05  # a younger request cannot have spent enough of its time limit to matter
_REMEMBERED_SECONDS = 30.0  # no request takes longer; work that outlives its request starts to count anew
_LEAST_SECONDS = 1.0  # an operation normally takes a fraction of this
# codes of a server that is not a primary, or makes no progress: src/mongo/base/error_codes.yml
SILENT_CODES = frozenset({6, 7, 50, 64, 89, 91, 189, 202, 216, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436})


class Waiting:
    """The waits of one request: when it began, and since when none of its own operations has had a reply (monotonic).

    `behind` is the number of seconds that it waited, until `behind_at`, for transactions that write the same documents.
    `slow` is the number of seconds that it spent in operations that were slow, but had a reply.
    `found_away`: one of its operations, or a transaction that it waited for, found the database unavailable.
    """

    silent_since: float | None = None
    behind = 0.0
    behind_at = 0.0
    slow = 0.0
    found_away = False

    def __init__(self, operations: Operations | None) -> None:
        self.began = time.monotonic()
        self.operations = operations


_waiting: ContextVar[Waiting | None] = ContextVar("database_waiting", default=None)


def begin_waiting(operations: Operations | None = None) -> None:
    """Make the later operations of this context share their waits: they belong to one request or one task.

    `operations` are those of its driver, which are needed to limit waits for work that requests share.
    """
    _waiting.set(Waiting(operations))


def create_separate_context() -> Context:
    """Return an empty context for work that several requests share.

    It has waits of its own, and neither the log context nor the transaction of the request that happens to come first.
    """
    waiting, context = _waiting.get(), Context()
    context.run(begin_waiting, None if waiting is None else waiting.operations)
    return context


def current_waiting() -> Waiting | None:
    """Return the waits of the current request; None outside a request."""
    return _waiting.get()


def wait_for_shared_work(*, long: bool = False) -> AbstractContextManager[object]:
    """Return a context manager for the wait of the current request for work that it shares with others.

    The wait ends with the time limit of the request, and counts as an operation does; see `Operations.shared`.
    """
    waiting = _waiting.get()
    return nullcontext() if waiting is None or waiting.operations is None else waiting.operations.shared(long=long)


class Behind:
    """The time that a transaction waits for others. Call `note` after each part of the wait."""

    __slots__ = ("_began", "_behind", "_waiting")

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._waiting = waiting = _waiting.get()
        recent = waiting is not None and self._began - waiting.behind_at < _REMEMBERED_SECONDS
        self._behind = waiting.behind if waiting is not None and recent else 0.0

    def note(self) -> None:
        """Count the time since the transaction began. This may shorten the later operations of the request."""
        if self._waiting is not None:
            self._waiting.behind_at = now = time.monotonic()
            self._waiting.behind = self._behind + now - self._began


class Operations:
    """The operations of one driver, each with a time limit of `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds + MARGIN_SECONDS
        self.limit = TimeLimit(self.seconds)
        self.silence = Silence(self.seconds)

    def __call__(self, *, long: bool = False) -> Operation:
        """Return a context manager for one operation, for the task that runs it.

        `long` marks an operation that may take seconds although the database is healthy, such as an aggregation. The
        context manager translates the errors of the libraries and raises `DatabaseUnavailable` when the time limit
        ends.
        """
        return Operation(self, long)

    def shared(self, *, long: bool = False) -> Operation | SharedOperation:
        """Return a context manager for the wait for work that serves several callers under its own limit.

        `long` marks work that may take seconds although the database is healthy.
        """
        began, waiting = time.monotonic(), _waiting.get()
        if waiting is not None and self.spent_seconds(waiting, began):
            return Operation(self, long)  # the rest of this request's limit may end before that of the work
        return SharedOperation(self, waiting, began, long)

    def wait_for_others(self) -> AbstractContextManager[None]:
        """Return a context manager for a wait for what another request does, such as for its lock.

        It raises TimeoutError when the current request has spent one time limit without a reply from the database.
        """
        waiting = _waiting.get()
        return nullcontext() if waiting is None else LimitedBlock(_SilenceLimit(self, waiting))

    def remaining_seconds(self) -> float:
        """Return how much of one time limit the silence of the database has left to the current request."""
        waiting = _waiting.get()
        if waiting is None:
            return self.seconds
        return max(0.0, self.seconds - self.spent_seconds(waiting, time.monotonic()))

    def patience_seconds(self) -> float:
        """Return how long the current request may still try again while others change its documents.

        Such a conflict is a reply, but the time that the request has spent without a reply before counts nevertheless.
        """
        waiting = _waiting.get()
        silent = 0.0 if waiting is None else self.silent_seconds(waiting, time.monotonic())
        return max(0.0, self.seconds - MARGIN_SECONDS - silent)

    def spent_seconds(self, waiting: Waiting, now: float) -> float:
        """Return how much of one time limit the request has spent until `now`: in silence, or waiting behind others.

        The wait behind others counts only while some operation gets no reply.
        """
        if now - waiting.began < _YOUNG_SECONDS:
            return 0.0
        silent = self.silent_seconds(waiting, now)
        if waiting.behind < _NOTICED_SECONDS or now - waiting.behind_at > _REMEMBERED_SECONDS:
            return silent
        if self.limit.longest_seconds() < _NOTICED_SECONDS:
            return silent  # everybody gets replies: it was only a long queue
        own = 0.0 if waiting.silent_since is None else now - waiting.silent_since
        return max(silent, min(waiting.behind, self.seconds - _LEAST_SECONDS) + own)

    def seconds_until_late(self) -> float:
        """Return how much of one time limit the age of the current request leaves, whatever it waited for."""
        waiting = _waiting.get()
        return self.seconds if waiting is None else max(0.0, self.seconds - (time.monotonic() - waiting.began))

    def silent_seconds(self, waiting: Waiting, now: float) -> float:
        """Return how long the request has waited in silence until `now`; its whole age if it found the database away.

        A failing server may reply between two failures, however late; that must not make any request take longer. So
        slow operations count while the database is in trouble, although others have had replies meanwhile.
        """
        age = now - waiting.began
        silent = self.silence.within(waiting.began, now)
        if age < 2 * self.seconds:  # anything older is a task that the request started
            if waiting.found_away:
                return age
            if waiting.slow and self.silence.last_failure > now - _TROUBLED_SECONDS:
                silent = max(silent, min(waiting.slow, age))
        if waiting.silent_since is None:
            return silent
        own = now - waiting.silent_since
        if own > 2 * self.seconds:  # no request takes so long: this is a task that the request started
            waiting.silent_since = None
            return silent
        return max(silent, own)

    def note(self, waiting: Waiting | None, began: float, now: float, silent: bool, long: bool) -> None:
        """Note that an operation of the request ended: with a reply, or `silent`. It was a `long` one or not."""
        if silent:
            self.silence.note_failure(began, now)
        else:
            self.silence.note_reply(now)
        if waiting is None:
            return
        if not silent:
            self.note_success(waiting, began, now, long)
            waiting.silent_since = None
            return
        waiting.found_away = True
        if waiting.silent_since is None:
            waiting.silent_since = began

    def note_success(self, waiting: Waiting, began: float, now: float, long: bool) -> None:
        """Note for the request that an operation succeeded, or work that several share, if that took long.

        If others had no reply meanwhile, a library probably tried it again. A `long` operation may have been slow for
        another reason; while others get no reply, the request is not given more time because of it.
        """
        if now - began <= _REPEATED_SECONDS:
            return
        if self.silence.last_failure > began:
            waiting.found_away = True
        elif not long:
            waiting.slow += now - began


class _SilenceLimit:
    """Cancels a block when its request has spent one time limit in silence."""

    def __init__(self, operations: Operations, waiting: Waiting) -> None:
        self._operations = operations
        self._waiting = waiting
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, block: LimitedBlock) -> None:
        """Start watching the silence."""
        self._check(block)

    def end(self, block: LimitedBlock) -> None:
        """Stop watching the silence."""
        if self._timer is not None:
            self._timer.cancel()

    def _check(self, block: LimitedBlock) -> None:
        left = self._operations.seconds - self._operations.silent_seconds(self._waiting, time.monotonic())
        loop = asyncio.get_running_loop()
        if left > 0:
            self._timer = loop.call_later(left, self._check, block)
        else:
            self._timer = loop.call_later(0, block.expire)


class _Noted:
    """What an operation and the wait for a shared one have in common: their end is noted, and errors are translated."""

    __slots__ = ("_began", "_long", "_operations", "_waiting", "took", "unanswered")

    def __init__(self, operations: Operations, waiting: Waiting | None, began: float, long: bool) -> None:
        self._operations = operations
        self._waiting = waiting
        self._began = began
        self._long = long
        self.took = 0.0
        self.unanswered = False

    def _conclude(self, error: BaseException | None) -> None:
        """Note how it ended. Raises the translated error of a library."""
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
        now = time.monotonic()
        self.took = now - self._began
        self._operations.note(self._waiting, self._began, now, silent, self._long)


class SharedOperation(_Noted):
    """The wait for work that serves several callers, which has a limit of its own and notes its own replies.

    Set `unanswered` if there was no reply and no error either.
    """

    __slots__ = ()

    def __enter__(self) -> SharedOperation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or self.unanswered:
            self._conclude(error)
        elif self._waiting is not None:
            self._operations.note_success(self._waiting, self._began, time.monotonic(), self._long)


class Operation(_Noted):
    """An operation. Set `unanswered` if there was no reply and no error either; `took` has its seconds at its end."""

    __slots__ = ("_block", "_library")

    def __init__(self, operations: Operations, long: bool) -> None:
        super().__init__(operations, _waiting.get(), time.monotonic(), long)
        self._library: Any = None

    def __enter__(self) -> Operation:
        operations, waiting = self._operations, self._waiting
        spent = operations.spent_seconds(waiting, self._began) if waiting is not None else 0.0
        self._block = self._remaining_time(spent) if spent else LimitedBlock(operations.limit)
        self._block.__enter__()
        if not self._long:
            operations.silence.begin(self._began)
        return self

    def _remaining_time(self, spent: float) -> LimitedBlock:
        """Return a block for a request that has spent `spent` seconds of its time limit, limited to the rest of it.

        Raises `DatabaseUnavailable` if nothing is left.
        """
        left = self._operations.seconds - spent
        if left <= 0:
            raise DatabaseUnavailable("no reply to this request within the time limit", silent=True) from TimeoutError()
        self._library = pymongo.timeout(left)  # the library's thread ends then too
        self._library.__enter__()
        return OwnLimit(left)()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the time limits, and note how the operation ended."""
        if not self._long:
            self._operations.silence.end()
        if self._library is not None:
            self._library.__exit__(kind, error, trace)
        try:
            self._block.__exit__(kind, error, trace)
        except TimeoutError as late:
            error = late
        self._conclude(error)


def _is_silence(error: BaseException) -> bool:
    """Return whether an error means that no server replies, rather than that a server reports a failure."""
    if isinstance(error, OperationFailure):
        return error.code in SILENT_CODES
    return isinstance(error, (*AWAY, TimeoutError))
