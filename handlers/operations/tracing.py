"""Spans of requests and of their handlers, by OpenTelemetry's conventions for HTTP servers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import wraps
from typing import Any

from config.tracing import Tracing, span
from handlers.lifecycle import Response, respond
from handlers.operations.metrics import Metrics
from handlers.request import Request
from handlers.route import Route

_CARRIED = ("traceparent", "tracestate")


async def respond_traced(request: Request) -> Response:
    """Respond as `lifecycle.respond` does, but within a span; log lines have the id of its trace."""
    carried = {name: value for name in _CARRIED if (value := request.headers.get(name))}
    with request.part(Tracing).root(request.method, "SERVER", carried) as root:
        request.trace_id = f"{root.get_span_context().trace_id:032x}"
        began = time.perf_counter()
        response = await respond(request)
        if root.is_recording():
            _describe(root, request, response.status, time.perf_counter() - began)
        return response


def _describe(root: Any, request: Request, status: int, seconds: float) -> None:
    route = request.route if isinstance(request.route, Route) else None
    attributes: dict[str, str | int] = {
        "http.request.method": request.method,
        "url.path": request.target[:500],
        "http.response.status_code": status,
        "client.address": request.remote_ip,
        "tradewind.request_id": request.id,
    }
    if route is not None:
        attributes["http.route"] = route.path
        root.update_name(f"{request.method} {route.path}")
        request.part(Metrics).keep_exemplar(request.method, route.path, seconds, str(request.trace_id))
    root.set_attributes(attributes)
    if status >= 500:
        from opentelemetry.trace import StatusCode

        root.set_status(StatusCode.ERROR)


def traced_routes(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Return the routes with a span around each of their handlers."""
    return tuple(replace(route, handler=_traced(route)) for route in routes)


def _traced(route: Route) -> Any:
    handler = route.handler

    @wraps(handler, updated=())
    async def handle(request: Request) -> object:
        with span(f"handler {route.name}", http_route=route.path):
            return await handler(request)

    return handle
