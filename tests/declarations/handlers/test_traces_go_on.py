"""Calls of other services carry the trace of the request that makes them, and none where nothing is traced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from config.tracing import Tracing
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_client import WecomClient, WecomUnavailable
from plugins.files.s3 import open_s3_storage
from plugins.files.settings import FilesSettings
from tests.support.header_server import keeping_headers

pytestmark = pytest.mark.gen_test(timeout=30)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CARRIED = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


async def call_s3(url: str) -> None:
    options = {"s3_endpoint": url, "s3_access_key": "a", "s3_secret_key": "b"}
    buckets = {"s3_public_bucket": "public", "s3_private_bucket": "private", "s3_addressing": "path"}
    async with open_s3_storage(FilesSettings(storage="s3", _env_file=None, **options, **buckets)) as storage:
        await storage.check()


async def call_wecom(url: str) -> None:
    settings = AuthSettings(wecom_corp_id="ww", wecom_secret="s", wecom_api_base=url, _env_file=None)
    client = WecomClient(settings)
    try:
        with pytest.raises(WecomUnavailable):
            await client.corp_token()
    finally:
        client.close()


@pytest.mark.parametrize(("call", "name"), [(call_s3, "S3 head_bucket"), (call_wecom, "WeCom gettoken")])
async def test_a_call_is_a_span_that_the_other_side_is_told_of(
    call: Callable[[str], Awaitable[None]], name: str
) -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(SimpleSpanProcessor(exporter))
    async with keeping_headers() as server:
        with tracing.root("request", "SERVER", CARRIED):
            await call(server.url)
    spans = [one for one in exporter.get_finished_spans() if one.name == name]
    told = [head.get("traceparent") for head in server.heads]
    assert told == [f"00-{TRACE}-{one.context.span_id:016x}-01" for one in spans] != []


@pytest.mark.parametrize("call", [call_s3, call_wecom])
async def test_without_tracing_no_headers_of_tracing_are_sent(call: Callable[[str], Awaitable[None]]) -> None:
    async with keeping_headers() as server:
        await call(server.url)
    assert [head.get("traceparent") for head in server.heads] == [None] * len(server.heads) != []
