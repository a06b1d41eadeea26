"""Prometheus metrics of one process (library: prometheus-client).

The counters of requests have a line for each route, status and duration bucket, which is 10,000 lines for 500 routes.
They are formatted here: the library takes 150 ms for that, in which the event loop would serve nobody.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from config.database import DatabaseUnavailable

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BOUNDS = (*map(str, _BUCKETS), "+Inf")
_READ_SECONDS = 0.5
_HEAD = "# HELP {0} {1}\n# TYPE {0} {2}\n"
Read = Callable[[], Awaitable[Mapping[str, float]]]


@dataclass
class _Seen:
    """The requests of one method, route and status: a count for each duration bucket, and their total seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * len(_BOUNDS))
    seconds: float = 0.0


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int], _Seen] = {}
        self._gauges = CollectorRegistry()
        self._read: dict[Gauge, Read] = {}
        self._open = Gauge("tradewind_open_requests", "Requests being served", registry=self._gauges)
        self.operations_waiting = Gauge(
            "tradewind_operation_log_waiting", "Operation-log entries not yet written", registry=self._gauges
        )

    def gauge(self, name: str, description: str, read: Read, label: str = "") -> None:
        """Show what `read` returns, by the values of the label, whenever somebody reads the metrics; by "" without one.

        A `read` that takes longer than half a second, or fails for lack of the database, leaves the values as they were.
        """
        self._read[Gauge(name, description, [label] if label else [], registry=self._gauges)] = read

    async def refresh(self) -> None:
        """Read the gauges of plugins."""
        for gauge, read in self._read.items():
            with suppress(DatabaseUnavailable, TimeoutError):
                async with asyncio.timeout(_READ_SECONDS):
                    values = await read()
                gauge.clear()
                for value, number in values.items():
                    (gauge.labels(value) if value else gauge).set(number)

    def count_open(self, open_requests: Callable[[], float]) -> None:
        """Call `open_requests` whenever somebody reads the metrics."""
        self._open.set_function(open_requests)

    def observe(self, method: str, route: str, status: int, milliseconds: float) -> None:
        """Count one request."""
        key = (method, route, status)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = _Seen()
        seconds = milliseconds / 1000
        seen.counts[bisect_left(_BUCKETS, seconds)] += 1
        seen.seconds += seconds

    def text(self) -> bytes:
        """The metrics in the Prometheus text format."""
        return "".join((*self._counter_lines(), *self._histogram_lines())).encode() + generate_latest(self._gauges)

    def _counter_lines(self) -> Iterator[str]:
        name = "tradewind_requests_total"
        yield _HEAD.format(name, "Requests served", "counter")
        for (method, route, status), seen in self._seen.items():
            yield f'{name}{{{_labels(method, route)},status="{status}"}} {sum(seen.counts)}\n'

    def _histogram_lines(self) -> Iterator[str]:
        name = "tradewind_request_seconds"
        yield _HEAD.format(name, "Time to the response", "histogram")
        for (method, route), seen in self._by_route().items():
            labels = _labels(method, route)
            for bound, count in zip(_BOUNDS, accumulate(seen.counts), strict=True):
                yield f'{name}_bucket{{{labels},le="{bound}"}} {count}\n'
            yield f"{name}_count{{{labels}}} {sum(seen.counts)}\n{name}_sum{{{labels}}} {seen.seconds}\n"

    def _by_route(self) -> dict[tuple[str, str], _Seen]:
        totals: dict[tuple[str, str], _Seen] = {}
        for (method, route, _), seen in self._seen.items():
            total = totals.setdefault((method, route), _Seen())
            total.counts = [one + other for one, other in zip(total.counts, seen.counts, strict=True)]
            total.seconds += seen.seconds
        return totals


def _labels(method: str, route: str) -> str:
    escaped = route.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'method="{method}",route="{escaped}"'
