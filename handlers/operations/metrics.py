"""Prometheus metrics of one process, and their text (exposition format 0.0.4, and OpenMetrics 1.0 for exemplars).

Requests have a line for each route, status and duration bucket: 10,000 lines for 500 routes. The lines are formatted in
pieces, between which the event loop does other work.
"""

from __future__ import annotations

import asyncio
import math
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from prometheus_client import ProcessCollector

from config.database import DatabaseUnavailable

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BOUNDS = (*map(str, _BUCKETS), "+Inf")
_NO_EXEMPLARS: Mapping[int, str] = {}
_READ_SECONDS = 0.5
_PIECE = 50  # lines, or histograms, that are formatted before the event loop does other work
PROCESS = "process"  # the label that distinguishes the processes of a port
Kind = Literal["counter", "gauge", "histogram"]
Read = Callable[[], Awaitable[Mapping[str, float]]]
Count = Callable[[], Mapping[str, float]]


class Family(NamedTuple):
    """A metric: its name, description and kind, and its lines."""

    name: str
    help: str
    kind: Kind
    lines: str


@dataclass
class Durations:
    """A histogram: a count for each duration bucket, and the total in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * len(_BOUNDS))
    seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(_BUCKETS, seconds)] += 1
        self.seconds += seconds

    def lines(self, name: str, labels: str, exemplars: Mapping[int, str] = _NO_EXEMPLARS) -> str:
        """Return its lines with `labels`, which are already formatted, and with exemplars by index of the bucket."""
        lead = f"{labels}," if labels else ""
        buckets = zip(_BOUNDS, accumulate(self.counts), strict=True)
        shown = (f'{name}_bucket{{{lead}le="{bound}"}} {count}' for bound, count in buckets)
        return "".join(
            (
                *(f"{line}{exemplars.get(at, '')}\n" for at, line in enumerate(shown)),
                f"{name}_count{{{labels}}} {sum(self.counts)}\n{name}_sum{{{labels}}} {self.seconds}\n",
            )
        )


@dataclass
class Counter:
    """A number that only grows, for each value of its label."""

    values: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, value: str = "", amount: float = 1.0) -> None:
        """Add `amount` for this value of the label; `value` is "" if there is no label."""
        self.values[value] += amount


class _Figure(NamedTuple):
    """A metric of this process with at most one label, and how to read it."""

    name: str
    help: str
    kind: Kind
    label: str
    read: Count


class _Shared(NamedTuple):
    """A metric of the whole service, which is read from the database."""

    name: str
    help: str
    label: str
    read: Read


class Metrics:
    """The metrics that this process can report."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int], Durations] = {}
        self._figures: list[_Figure] = []
        self._shared: dict[_Shared, Mapping[str, float]] = {}
        self._histograms: list[tuple[str, str, Durations]] = []
        self._exemplars: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        self._system = ProcessCollector(registry=None)

    def observe(self, method: str, route: str, status: int, milliseconds: float) -> None:
        """Count one request."""
        key = (method, route, status)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = Durations()
        seconds = milliseconds / 1000  # inlined from `Durations.observe`: a further call would be a tenth of the cost
        seen.counts[bisect_left(_BUCKETS, seconds)] += 1
        seen.seconds += seconds

    def keep_exemplar(self, method: str, route: str, seconds: float, trace_id: str) -> None:
        """Show the trace of a request beside the bucket of its duration, in OpenMetrics only."""
        shown = f' # {{trace_id="{trace_id}"}} {seconds:.6f} {time.time():.3f}'
        self._exemplars[method, route][bisect_left(_BUCKETS, seconds)] = shown

    def figure(self, name: str, help: str, read: Count, label: str = "", kind: Kind = "gauge") -> None:
        """Show what `read` returns about this process by label value, or by "" without a label. It must not block."""
        self._figures.append(_Figure(name, help, kind, label, read))

    def counter(self, name: str, help: str, label: str = "", values: Sequence[str] = ()) -> Counter:
        """Show a counter of this process and return it; these `values` of the label are shown as 0 from the start."""
        counter = Counter()
        counter.values.update(dict.fromkeys(values, 0.0))
        self.figure(name, help, lambda: counter.values, label, "counter")
        return counter

    def histogram(self, name: str, help: str) -> Durations:
        """Show a histogram of this process and return it."""
        durations = Durations()
        self._histograms.append((name, help, durations))
        return durations

    def gauge(self, name: str, description: str, read: Read, label: str = "") -> None:
        """Show what `read` returns about the whole service by label value, or by "" without a label.

        It is called in one process whenever somebody reads the metrics. If it takes longer than half a second, or the
        database is unavailable, the values stay as they were.
        """
        self._shared[_Shared(name, description, label, read)] = {}

    async def shared(self) -> list[Family]:
        """Return the metrics of the whole service."""

        async def refresh(one: _Shared) -> None:
            with suppress(DatabaseUnavailable, TimeoutError):
                async with asyncio.timeout(_READ_SECONDS):
                    self._shared[one] = await one.read()

        await asyncio.gather(*map(refresh, self._shared))
        return [
            Family(one.name, one.help, "gauge", "".join(_lines(one.name, one.label, "", values)))
            for one, values in self._shared.items()
        ]

    async def families(self, process: str = "", exemplars: bool = False) -> list[Family]:
        """Return the metrics of this process, with `process` as a label unless it is empty, and perhaps exemplars."""
        found = []
        for name, help, kind, lines in self._sources(process, exemplars):
            parts: list[str] = []
            for line in lines:
                parts.append(line)
                if len(parts) % _PIECE == 0:
                    await asyncio.sleep(0)
            found.append(Family(name, help, kind, "".join(parts)))
        return found

    def text(self) -> bytes:
        """Return the metrics of this process alone as text, formatted without a pause for other work."""
        return exposition(Family(name, help, kind, "".join(lines)) for name, help, kind, lines in self._sources(""))

    def _sources(self, process: str, exemplars: bool = False) -> Iterator[tuple[str, str, Kind, Iterable[str]]]:
        own = f'{PROCESS}="{process}"' if process else ""
        lead = f"{own}," if own else ""
        seen, kept = list(self._seen.items()), self._exemplars if exemplars else {}
        yield "tradewind_requests_total", "Requests served", "counter", _request_lines(seen, lead)
        yield "tradewind_request_seconds", "Time to the response", "histogram", _duration_lines(seen, lead, kept)
        for name, help, durations in self._histograms:
            yield name, help, "histogram", (durations.lines(name, own),)
        for name, help, kind, label, read in self._figures:
            yield name, help, kind, _lines(name, label, own, read())
        for metric in self._system.collect():
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            kind = "counter" if metric.type == "counter" else "gauge"
            yield name, metric.documentation, kind, _lines(name, "", own, {"": metric.samples[0].value})


def exposition(families: Iterable[Family], open_metrics: bool = False) -> bytes:
    """Return metrics as text, grouped by name across processes; with `open_metrics` as OpenMetrics 1.0."""
    parts: dict[str, list[str]] = {}
    for name, help, kind, lines in families:
        if name not in parts:
            family = name.removesuffix("_total") if open_metrics and kind == "counter" else name
            parts[name] = [f"# HELP {family} {help}\n# TYPE {family} {kind}\n"]
        parts[name].append(lines)
    text = "".join(text for of_name in parts.values() for text in of_name)
    return f"{text}# EOF\n".encode() if open_metrics else text.encode()


def _request_lines(seen: Iterable[tuple[tuple[str, str, int], Durations]], lead: str) -> Iterator[str]:
    for (method, route, status), durations in seen:
        labels = f'{lead}{_route_labels(method, route)},status="{status}"'
        yield f"tradewind_requests_total{{{labels}}} {sum(durations.counts)}\n"


def _duration_lines(
    seen: Iterable[tuple[tuple[str, str, int], Durations]],
    lead: str,
    exemplars: Mapping[tuple[str, str], Mapping[int, str]],
) -> Iterator[str]:
    by_route: dict[tuple[str, str], list[Durations]] = defaultdict(list)
    for (method, route, _), durations in seen:
        by_route[method, route].append(durations)
    for (method, route), of_statuses in by_route.items():
        counts = [sum(column) for column in zip(*(one.counts for one in of_statuses), strict=True)]
        total = Durations(counts, sum(one.seconds for one in of_statuses))
        shown = exemplars.get((method, route), _NO_EXEMPLARS)
        yield total.lines("tradewind_request_seconds", lead + _route_labels(method, route), shown)


def _lines(name: str, label: str, own: str, values: Mapping[str, float]) -> Iterator[str]:
    for value, number in values.items():
        labels = ",".join(filter(None, (own, f'{label}="{_escaped(value)}"' if label else "")))
        yield f"{name}{{{labels}}} {_number(number)}\n" if labels else f"{name} {_number(number)}\n"


def _route_labels(method: str, route: str) -> str:
    return f'method="{method}",route="{_escaped(route)}"'


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """Return a value as the Prometheus library writes it: `2.0`."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))
