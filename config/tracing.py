"""Tracing with OpenTelemetry: spans, and the W3C trace context that is sent with calls to other services.

Spans belong to a traced request or job; elsewhere `span` and `trace_headers` do nothing. Without TRADEWIND_TRACES,
nothing of OpenTelemetry is loaded.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, TypeAlias

from config.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

Kind: TypeAlias = Literal["INTERNAL", "SERVER", "CLIENT"]
Attribute: TypeAlias = str | int | float | bool
_CLOSE_MS = 3000
_current: ContextVar[Tracing | None] = ContextVar("tracing", default=None)


class TracingMissing(Exception):
    """OpenTelemetry is not installed."""


class Tracing:
    """Creates spans and exports them. `processor` replaces the one that OpenTelemetry's own variables configure."""

    def __init__(self, processor: SpanProcessor | None = None) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError as error:
            raise TracingMissing(str(error)) from error
        name = os.environ.get("OTEL_SERVICE_NAME", "tradewind")
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": name, "service.version": VERSION}), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("tradewind", VERSION)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def root(self, name: str, kind: Kind, headers: Mapping[str, str] | None = None) -> Iterator[Span]:
        """Trace the block as part of the trace that `headers` identify, or else as a new trace."""
        from opentelemetry.context import Context

        parent = self._propagator.extract(headers or {}, Context())
        token = _current.set(self)
        try:
            with self._started(name, kind, parent=parent) as span:
                yield span
        finally:
            _current.reset(token)

    def child(self, name: str, kind: Kind, attributes: Mapping[str, Attribute]) -> AbstractContextManager[Span]:
        """Return a context manager that records a span within the current one."""
        return self._started(name, kind, attributes)

    @contextmanager
    def _started(
        self,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Attribute] | None = None,
        parent: object = None,
    ) -> Iterator[Span]:
        from opentelemetry.trace import SpanKind, StatusCode, use_span

        started = self._tracer.start_span(name, parent, SpanKind[kind], attributes)  # type: ignore[arg-type]
        with use_span(started, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield started
            except BaseException as error:
                # never the message of the error: it may contain values of a record
                started.set_attribute("error.type", type(error).__name__)
                if not getattr(error, "expected", isinstance(error, asyncio.CancelledError)):
                    started.set_status(StatusCode.ERROR)
                raise

    def headers(self) -> dict[str, str]:
        """Return `traceparent` and `tracestate` of the current span."""
        found: dict[str, str] = {}
        self._propagator.inject(found)
        return found

    def close(self) -> None:
        """Send the spans that still wait, and shut down. Blocks."""
        self._provider.force_flush(_CLOSE_MS)
        self._provider.shutdown()


def open_tracing() -> Tracing:
    """Return a `Tracing` that OpenTelemetry's environment variables configure. Raises `TracingMissing`."""
    return Tracing()


def span(name: str, kind: Kind = "INTERNAL", **attributes: Attribute) -> AbstractContextManager[object]:
    """Record the block as a span if the request or job is traced; a `_` in attribute names becomes a dot."""
    tracing = _current.get()
    if tracing is None:
        return nullcontext()
    return tracing.child(name, kind, {key.replace("_", "."): value for key, value in attributes.items()})


def trace_headers() -> dict[str, str]:
    """Return the header fields by which another service joins the current trace; empty if nothing is traced."""
    tracing = _current.get()
    return {} if tracing is None else tracing.headers()
