"""Limits how often the same line is logged; repetitions beyond the limit are counted and reported as a number.

This keeps the log short during an attack or while the database is unavailable. The key of a warning is the text of its
log call before arguments are filled in; the key of a refused request is its status.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable

_WINDOW_SECONDS = 10.0
_MOST_WARNINGS = 50  # of one kind in ten seconds
MOST_REFUSED = 1000  # requests refused with the same status in ten seconds, from clients that are not logged in
_MOST_KEYS = 500
_SUMMARY = "tradewind.logs"


class LineLimit:
    """Admits a limited number of lines per key in ten seconds; `tell` then gets each key and how many were omitted."""

    def __init__(self, tell: Callable[[Hashable, int], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._seen: Counter[Hashable] = Counter()
        self._left_out: Counter[Hashable] = Counter()
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def admits(self, key: Hashable, most: int) -> bool:
        """Return whether a line may be logged: `most` per key in ten seconds. A line that may not is counted."""
        with self._lock:
            now = time.monotonic()
            if now - self._began >= _WINDOW_SECONDS:
                self._began = now
                self._seen.clear()
            if key not in self._seen and len(self._seen) >= _MOST_KEYS:
                key = "other"
            self._seen[key] += 1
            if self._seen[key] <= most:
                return True
            self._left_out[key] += 1
            if self._timer is None:
                self._timer = threading.Timer(_WINDOW_SECONDS, self.sum_up)
                self._timer.daemon = True
                self._timer.start()
            return False

    def sum_up(self) -> None:
        """Report how many lines were left out."""
        with self._lock:
            left_out, self._left_out = self._left_out, Counter()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for key, count in left_out.items():
            self._tell(key, count)


class RepeatedWarnings(logging.Filter):
    """Leaves out warnings and errors that repeat too often; refused requests share its `limit`."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = LineLimit(_tell)

    def filter(self, record: logging.LogRecord) -> bool:
        """Logging: return whether the record is logged."""
        if record.levelno < logging.WARNING or record.name == _SUMMARY:
            return True
        return self.limit.admits((record.name, str(record.msg)[:200]), _MOST_WARNINGS)


def _tell(key: Hashable, count: int) -> None:
    origin, line = key if isinstance(key, tuple) else (str(key), "")
    logging.getLogger(_SUMMARY).warning("lines left out", extra={"of": origin, "line": line, "count": count})
