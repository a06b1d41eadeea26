"""Limits by a key such as a user or an address, counted in each process: calls a minute (library: limits), and at once."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from handlers.schema.errors import RATE_LIMITED, ApiError
from handlers.schema.messages import TOO_MANY_OF_YOURS

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import RateLimiter


_RETRY_SECONDS = 5


def too_many_of_yours() -> ApiError:
    """Return the 42900 for a person who does too much of one kind at once."""
    return ApiError(RATE_LIMITED, TOO_MANY_OF_YOURS, headers={"Retry-After": str(_RETRY_SECONDS)})


class AtOnce:
    """Allows each person `most` of something at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of_person: Counter[int] = Counter()

    def refuse_more(self, person: int) -> None:
        """Raise 42900 if the person has as many as are allowed."""
        if self._of_person[person] >= self._most:
            raise too_many_of_yours()

    @contextmanager
    def counted(self, person: int) -> Iterator[None]:
        """Count one more while the block runs. Raises as `refuse_more` does."""
        self.refuse_more(person)
        self._of_person[person] += 1
        try:
            yield
        finally:
            self._of_person[person] -= 1
            self._of_person += Counter()  # drops the people whose count is zero


class RateLimit:
    """Allows `per_minute` calls of `take` a minute for each key, or any number if `on` is False."""

    def __init__(self, per_minute: int, on: bool = True) -> None:
        self._on = on
        self._per_minute = per_minute

    @cached_property
    def _limit(self) -> tuple[RateLimitItem, RateLimiter]:
        from limits import RateLimitItemPerMinute  # imported late, so that a start does not wait for it
        from limits.storage import MemoryStorage
        from limits.strategies import FixedWindowRateLimiter

        return RateLimitItemPerMinute(self._per_minute), FixedWindowRateLimiter(MemoryStorage())

    def take(self, key: str) -> None:
        """Count one call for `key`. Raises 42900, with `Retry-After` in seconds, above the limit."""
        if not self._on:
            return
        item, limiter = self._limit
        if not limiter.hit(item, key):
            wait = limiter.get_window_stats(item, key).reset_time - time.time()
            raise ApiError(RATE_LIMITED, headers={"Retry-After": str(max(1, math.ceil(wait)))})
