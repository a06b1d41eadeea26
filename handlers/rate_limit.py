"""Rate limits by a key such as a user or an address, counted in each process (library: limits)."""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import TYPE_CHECKING

from handlers.schema.errors import RATE_LIMITED, ApiError

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import RateLimiter


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
