"""Prometheus metrics of one process (library: prometheus-client)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route")
        self._requests = Counter(
            "tradewind_requests", "Requests answered", (*labels, "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "tradewind_request_seconds", "Time to answer", labels, buckets=_BUCKETS, registry=self._registry
        )
        # looking a label set up costs more than counting
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.open_requests = Gauge("tradewind_open_requests", "Requests being served", registry=self._registry)
        self.operations_waiting = Gauge(
            "tradewind_operation_log_waiting", "Operation-log entries not yet written", registry=self._registry
        )

    def observe(self, method: str, route: str, status: int, milliseconds: float) -> None:
        """Count one answered request."""
        key = (method, route, status)
        found = self._known.get(key)
        if found is None:
            found = self._requests.labels(method, route, str(status)), self._seconds.labels(method, route)
            self._known[key] = found
        found[0].inc()
        found[1].observe(milliseconds / 1000)

    def text(self) -> bytes:
        """The Prometheus text format."""
        return generate_latest(self._registry)
