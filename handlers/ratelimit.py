"""Limits on how often: by user, by address. Counted in each process (library: limits)."""

from __future__ import annotations

import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from handlers.errors import RATE_LIMITED, ApiError


class RateLimit:
    """At most `per_minute` takes a minute for each key; `on` False lets everything pass."""

    def __init__(self, per_minute: int, on: bool = True) -> None:
        self._on = on
        self._item = RateLimitItemPerMinute(per_minute)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def take(self, key: str) -> None:
        """Count one for `key`; raises 42900 with `Retry-After` in seconds."""
        if self._on and not self._limiter.hit(self._item, key):
            wait = self._limiter.get_window_stats(self._item, key).reset_time - time.time()
            raise ApiError(RATE_LIMITED, headers={"Retry-After": str(max(1, math.ceil(wait)))})
