"""The times in which nobody in this process gets a reply from MongoDB, and how much of them a request has spent.

A request runs several operations in sequence, waits for the locks of others, and joins loads that others began. While
MongoDB does not reply, each of these would take its full time limit; and a primary that was frozen, or that steps down,
may reply once and fall silent again. So a request spends in silence no more than the time limit of one operation.
"""

from __future__ import annotations

from collections import deque

_NOTICED_SECONDS = 1.0  # a shorter silence is just a slow operation
_REMEMBERED_LIMITS = 2


class Silence:
    """The silences of one driver, whose operations have a time limit of `seconds`. All times are monotonic.

    A silence lasts from the start of an operation to the next reply to any operation, including the pauses between
    attempts. It is forgotten after twice the time limit: work that takes longer is not a single request.
    `last_failure` is when the latest operation ended without a reply.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._noticed = min(_NOTICED_SECONDS, seconds / 2)
        self._since: float | None = None
        self._failed_at: float | None = None  # the latest operation that ended without a reply
        self._outstanding = 0
        self.last_failure = 0.0
        self._past: deque[tuple[float, float]] = deque()

    @property
    def is_certain(self) -> bool:
        """Whether an operation ended without a reply, and none has had one since."""
        return self._failed_at is not None

    def begin(self, now: float) -> None:
        """Note the start of an operation that normally takes a fraction of a second."""
        self._close_if_nobody_asks(now)
        if self._since is None:
            self._since = now
        self._outstanding += 1

    def end(self) -> None:
        """Note the end of an operation whose start was noted."""
        self._outstanding -= 1

    def note_reply(self, now: float) -> None:
        """Note a reply to any operation."""
        if self._since is not None:
            self._close(now)
        if self._outstanding:
            self._since = now

    def note_failure(self, began: float, now: float) -> None:
        """Note that an operation ended without a reply."""
        self._since = began if self._since is None else min(began, self._since)
        self._failed_at = self.last_failure = now

    def _close_if_nobody_asks(self, now: float) -> None:
        if self._failed_at is not None and not self._outstanding and now - self._failed_at > self._seconds:
            self._close(self._failed_at)

    def _close(self, end: float) -> None:
        if self._since is not None and end - self._since > self._noticed:
            self._past.append((self._since, end))
        self._since = self._failed_at = None

    def within(self, since: float, now: float) -> float:
        """Return the seconds of silence from `since` until `now`."""
        if not self._past and self._failed_at is None and (self._since is None or now - self._since <= self._noticed):
            return 0.0
        self._close_if_nobody_asks(now)
        while self._past and self._past[0][1] <= now - _REMEMBERED_LIMITS * self._seconds:
            self._past.popleft()
        total = sum(max(0.0, end - max(start, since)) for start, end in self._past)
        if self._since is not None and (self._failed_at is not None or now - self._since > self._noticed):
            total += now - max(self._since, since)
        return total
