"""Traces: what a request does is a tree of spans, within the trace of its caller, and nothing of its values is in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from config.tracing import Tracing, span, trace_headers
from plugins.boot.listen import StartError
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, eventually, expect, serving
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=30)
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CARRIED = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "vendor=1"}
PLUGINS = ("auth", "rbac", "system")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What keeps the spans of every service that starts from now on."""
    kept = InMemorySpanExporter()
    monkeypatch.setattr("plugins.boot.runtime.open_tracing", lambda: Tracing(SimpleSpanProcessor(kept)))
    return kept


@asynccontextmanager
async def traced(uri: str, folder: Path, **settings: Any) -> AsyncIterator[Running]:
    async with serving(uri, folder, load_plugins(PLUGINS), traces=True, **settings) as service:
        yield service


def of_trace(exporter: InMemorySpanExporter, trace: str = TRACE) -> Sequence[ReadableSpan]:
    return [one for one in exporter.get_finished_spans() if f"{one.context.trace_id:032x}" == trace]


def tree(spans: Sequence[ReadableSpan], parent: int, depth: int = 0) -> list[str]:
    """The names of the spans below a span, indented, in the order of their beginnings."""
    found: list[str] = []
    for one in sorted(spans, key=lambda each: each.start_time or 0):
        if one.parent is not None and one.parent.span_id == parent:
            found += [f"{' ' * depth}{one.name}", *tree(spans, one.context.span_id, depth + 1)]
    return found


async def test_a_request_its_handler_and_the_database_are_one_tree(
    mongodb_uri: str, tmp_path: Path, http: str, exporter: InMemorySpanExporter
) -> None:
    async with traced(mongodb_uri, tmp_path, http=http) as service:
        admin = await Client(service.url).log_in("admin")
        exporter.clear()
        expect(await admin.call("GET", "/api/v1/system/users", headers=CARRIED))
    names = tree(of_trace(exporter), int(CALLER, 16))
    assert names[0] == "GET /api/v1/system/users"
    (handler,) = [name for name in names if name.startswith(" handler ")]
    below = names[names.index(handler) + 1 :]
    assert any(name.strip().startswith(("find ", "aggregate ", "count ")) for name in below)
    assert [name for name in names[1:] if not name.startswith(" ")] == []


async def test_a_span_has_no_values_and_says_what_failed(
    mongodb_uri: str, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    async with traced(mongodb_uri, tmp_path) as service:
        body = {"username": "somebody", "password": "a secret"}
        expect(await Client(service.url).call("POST", "/api/v1/auth/login", body, headers=CARRIED), 40010)
        expect(await Client(service.url).call("GET", "/api/none?secret=1", headers=CARRIED), 40400)
    spans = of_trace(exporter)
    told = " ".join(one.to_json() for one in spans)
    assert not [value for value in ("somebody", "a secret", "secret=1", PASSWORD) if value in told]
    (root,) = [one for one in spans if one.name == "POST /api/v1/auth/login"]
    (handler,) = [
        one for one in spans if one.parent and one.parent.span_id == root.context.span_id and "handler" in one.name
    ]
    assert (root.attributes or {})["http.response.status_code"] == 400
    assert (handler.attributes or {})["error.type"] == "ApiError"
    assert root.status.is_unset
    assert handler.status.is_unset


async def test_without_a_caller_s_trace_there_is_one_of_our_own(
    mongodb_uri: str, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    async with traced(mongodb_uri, tmp_path) as service:
        exporter.clear()
        for _ in range(2):
            expect(await Client(service.url).call("GET", "/api/health"))
    roots = [one for one in exporter.get_finished_spans() if one.name == "GET /api/health"]
    assert [one.parent for one in roots] == [None, None]
    assert len({one.context.trace_id for one in roots}) == 2


async def test_what_the_caller_does_not_record_is_not_recorded(
    mongodb_uri: str, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    async with traced(mongodb_uri, tmp_path) as service:
        expect(await Client(service.url).call("GET", "/api/health", headers={"traceparent": f"00-{TRACE}-{CALLER}-00"}))
    assert of_trace(exporter) == []


async def test_a_job_is_a_trace_of_its_own(mongodb_uri: str, tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    async with traced(mongodb_uri, tmp_path, import_resume_seconds=0.1):

        async def jobs() -> list[ReadableSpan]:
            return [one for one in exporter.get_finished_spans() if one.name == "job imports"]

        found: list[ReadableSpan] = await eventually(jobs)
    assert found[0].parent is None


async def test_other_services_are_told_of_the_current_span_and_of_nothing_outside() -> None:
    kept = InMemorySpanExporter()
    tracing = Tracing(SimpleSpanProcessor(kept))
    assert trace_headers() == {}
    with tracing.root("outer", "SERVER", CARRIED), span("S3 get", "CLIENT", rpc_system="aws-api"):
        inside = trace_headers()
    assert trace_headers() == {}
    (call,) = [one for one in kept.get_finished_spans() if one.name == "S3 get"]
    assert inside == {"traceparent": f"00-{TRACE}-{call.context.span_id:016x}-01", "tracestate": "vendor=1"}
    assert dict(call.attributes or {}) == {"rpc.system": "aws-api"}
    with span("nobody asked"):
        pass
    assert len(kept.get_finished_spans()) == 2


async def test_openmetrics_has_exemplars_with_the_trace_of_a_request(
    mongodb_uri: str, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    async with traced(mongodb_uri, tmp_path) as service:
        client = Client(service.url)
        expect(await client.call("GET", "/api/health", headers=CARRIED))
        expect(await client.call("GET", "/api/none"), 40400)
        reply = await client.call("GET", "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        plain = await client.call("GET", "/metrics")
    assert reply.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {one.name: one for one in text_string_to_metric_families(reply.body.decode())}
    shown = [one.exemplar for one in families["tradewind_request_seconds"].samples if one.exemplar]
    assert {"trace_id": TRACE} in [one.labels for one in shown]
    assert families["tradewind_requests"].type == "counter"
    assert plain.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"trace_id" not in plain.body


async def test_log_lines_name_the_trace_that_is_begun_here(mongodb_uri: str, tmp_path: Path) -> None:
    # nobody listens there: spans that cannot be sent disturb neither requests nor the end
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac", TRACES="true")
    env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    async with server_process(env, tmp_path / "server") as server:
        expect(await Client(await server.url()).call("GET", "/api/health"))
        assert await server.stop() == 0
        (line,) = server.lines("request")
        assert len(line["trace_id"]) == 32


async def test_without_opentelemetry_the_start_says_what_to_install(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(StartError, match=r"pip install 'tradewind\[otel\]'"):
        async with traced(mongodb_uri, tmp_path):
            pass


def test_nothing_of_it_is_loaded_where_it_is_off() -> None:
    code = "import plugins.boot.runtime, handlers.http.app, sys; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
