"""A receiver of traces, as a collector is one: OTLP over HTTP, in protobuf."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest, ResponseStartLine
from tornado.netutil import bind_sockets


@dataclass
class TraceReceiver:
    """`spans` are those that have arrived; `services` the names of who sent them."""

    url: str
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    def of_trace(self, trace: str) -> list[Span]:
        """The spans of a trace, by its id in hexadecimal."""
        return [one for one in self.spans if one.trace_id.hex() == trace]

    def take(self, request: HTTPServerRequest) -> None:
        """Keep the spans of an export, and say that it arrived."""
        sound = (request.method, request.path, request.headers["Content-Type"])
        assert sound == ("POST", "/v1/traces", "application/x-protobuf")
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans:
            named = {one.key: one.value.string_value for one in resource.resource.attributes}
            self.services.add(f"{named['service.name']} {named['service.version']}")
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        body = ExportTraceServiceResponse().SerializeToString()
        headers = {"Content-Type": "application/x-protobuf", "Content-Length": str(len(body))}
        assert request.connection is not None
        request.connection.write_headers(ResponseStartLine("HTTP/1.1", 200, "OK"), HTTPHeaders(headers), body)
        request.connection.finish()


@asynccontextmanager
async def receiving_traces() -> AsyncIterator[TraceReceiver]:
    """Receive while the block runs."""
    (socket,) = bind_sockets(0, "127.0.0.1")
    receiver = TraceReceiver(f"http://127.0.0.1:{socket.getsockname()[1]}")
    server = HTTPServer(receiver.take, decompress_request=True)
    server.add_socket(socket)
    try:
        yield receiver
    finally:
        server.stop()
        await server.close_all_connections()
