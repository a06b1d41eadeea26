"""Prometheus metrics of one process (library: prometheus-client)."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from config.database import DatabaseUnavailable

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_READ_SECONDS = 0.5
Read = Callable[[], Awaitable[Mapping[str, float]]]


@dataclass
class _Seen:
    """The requests of one method, route and status: a count for each duration bucket, and their total seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS) + 1))
    seconds: float = 0.0


class _Requests(Collector):
    """Counters and histogram of requests. A request costs one addition; `collect` builds the metrics from the sums."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str, int], _Seen] = {}

    def collect(self) -> Iterator[Metric]:
        """prometheus-client: the metrics as they are now."""
        labels = ("method", "route")
        requests = CounterMetricFamily("tradewind_requests", "Requests served", labels=(*labels, "status"))
        totals: dict[tuple[str, str], _Seen] = {}
        for (method, route, status), seen in list(self.seen.items()):
            requests.add_metric((method, route, str(status)), sum(seen.counts))
            total = totals.setdefault((method, route), _Seen())
            total.counts = [one + other for one, other in zip(total.counts, seen.counts, strict=True)]
            total.seconds += seen.seconds
        yield requests
        durations = HistogramMetricFamily("tradewind_request_seconds", "Time to the response", labels=labels)
        for place, seen in totals.items():
            durations.add_metric(place, _cumulate(seen.counts), seen.seconds)
        yield durations


def _cumulate(counts: list[int]) -> list[tuple[str, float]]:
    total, buckets = 0, []
    for bound, count in zip((*map(str, _BUCKETS), "+Inf"), counts, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = _Requests()
        self._registry.register(self._requests)
        self._read: dict[Gauge, Read] = {}
        self._open = Gauge("tradewind_open_requests", "Requests being served", registry=self._registry)
        self.operations_waiting = Gauge(
            "tradewind_operation_log_waiting", "Operation-log entries not yet written", registry=self._registry
        )

    def gauge(self, name: str, description: str, read: Read, label: str = "") -> None:
        """Show what `read` returns, by the values of the label, whenever somebody reads the metrics; by "" without one.

        A `read` that takes longer than half a second, or fails for lack of the database, leaves the values as they were.
        """
        self._read[Gauge(name, description, [label] if label else [], registry=self._registry)] = read

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
        seen = self._requests.seen.get(key)
        if seen is None:
            seen = self._requests.seen[key] = _Seen()
        seconds = milliseconds / 1000
        seen.counts[bisect_left(_BUCKETS, seconds)] += 1
        seen.seconds += seconds

    def text(self) -> bytes:
        """The metrics in the Prometheus text format."""
        return generate_latest(self._registry)
