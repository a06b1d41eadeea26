"""Traces as they arrive: a real service sends them by OTLP to a receiver that only knows the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from config.version import VERSION
from plugins.testing import Client, eventually, expect
from tests.api.files.samples import PDF, upload
from tests.support.s3_stand_in import s3_server
from tests.support.server_process import environment, server_process
from tests.support.trace_receiver import TraceReceiver, receiving_traces

pytestmark = pytest.mark.gen_test(timeout=60)
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CARRIED = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "vendor=1"}
SERVER, CLIENT = Span.SpanKind.SPAN_KIND_SERVER, Span.SpanKind.SPAN_KIND_CLIENT


def below(spans: list[Span], parent: Span) -> list[Span]:
    """The spans within another one, at any depth."""
    children = [one for one in spans if one.parent_span_id == parent.span_id]
    return children + [each for child in children for each in below(spans, child)]


async def arrived(receiver: TraceReceiver, name: str) -> Span:
    """The span of this name, once it has arrived."""

    async def look() -> list[Span]:
        return [one for one in receiver.spans if one.name == name]

    found: list[Span] = await eventually(look, seconds=20)
    return found[-1]


@pytest.mark.parametrize("compression", ["none", "gzip"])
async def test_a_request_a_job_and_calls_of_the_database_and_of_s3_arrive(
    mongodb_uri: str, tmp_path: Path, compression: str
) -> None:
    with s3_server() as s3:
        stored = {name.upper(): value for name, value in s3.buckets().items()}
        given = {"PLUGINS": "auth,rbac,system,files", "TRACES": "true", "IMPORT_RESUME_SECONDS": "0.1", **stored}
        async with receiving_traces() as receiver:
            env = environment(mongodb_uri, tmp_path, **given)
            env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
            env |= {"OTEL_EXPORTER_OTLP_COMPRESSION": compression}
            async with server_process(env, tmp_path / "server") as server:
                admin = await Client(await server.url()).log_in("admin")
                reply = await admin.call("GET", "/api/v1/system/users", headers=CARRIED)
                expect(reply)
                await upload(admin, PDF, "traced.pdf")
                job = await arrived(receiver, "job imports")
                sent = await arrived(receiver, "POST /api/upload")
                assert await server.stop() == 0
                assert server.lines("unhandled error") == []
    assert receiver.services == {f"tradewind {VERSION}"}
    assert job.parent_span_id == b""
    (root,) = [one for one in receiver.of_trace(TRACE) if one.name == "GET /api/v1/system/users"]
    assert (root.parent_span_id.hex(), root.kind, root.trace_state) == (CALLER, SERVER, "vendor=1")
    assert reply.headers["traceparent"] == CARRIED["traceparent"]
    within = below(receiver.of_trace(TRACE), root)
    assert {one.name.partition(" ")[0] for one in within} >= {"handler", "find"}
    assert all(root.start_time_unix_nano <= one.start_time_unix_nano for one in within)
    assert all(one.end_time_unix_nano <= root.end_time_unix_nano for one in within)
    calls = [one for one in below(receiver.of_trace(sent.trace_id.hex()), sent) if one.name.startswith("S3 ")]
    assert calls
    assert {one.kind for one in calls} == {CLIENT}
