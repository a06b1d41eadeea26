"""Requests that are wrong before their body is looked at: target, method, headers, framing (CONTRACT 2, 13)."""

from urllib.parse import quote

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, expect
from tests.support.probe import AT, WIDGETS_AT
from tests.support.raw_http import connected, exchange, request
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test

NOWHERE = (
    "/",
    "//",
    "///",
    "//api/health",
    "/api//health",
    "/api/health/",
    "/api/health//",
    "/api/./health",
    "/api/../api/health",
    "/api/v1/../../api/health",
    "/API/HEALTH",
    "/api/%2e%2e/api/health",
    "/api/docs/%2e%2e/health",
    "/api/docs/..%2f..%2fhealth",
    "/api%2Fhealth",
    "/api/docs/..%5c..%5cserver.py",
    "/api/docs/....//health",
    "/api/health;x=1",
    "/api/health%20",
    "/api/health%0a",
    "/api/docs/%2fetc%2fpasswd",
    "/api/docs/",
    "/api/docs/swagger-ui.css%2f",
    "/metrics/",
    "/server.py",
    "/.env",
    "/api/health%25",
)
MALFORMED_TARGETS = (
    "/api/docs/%00",
    "/api/docs/a%00b",
    "/api/docs/%ff",
    "/api/docs/%c0%ae%c0%ae",
    "/api/docs/%ed%a0%80",
    "http://127.0.0.1/api/health",
    "api/health",
    "*",
    "?q=1",
)
MALFORMED_QUERIES = ("q=%ff", "q=\xff", "%ff=1", "q=%ed%a0%80", "&".join(f"q{n}=1" for n in range(101)))
NO_HTTP = {
    "words": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no version": b"GET /api/health\r\n\r\n",
    "version 2": b"GET /api/health HTTP/2.0\r\nHost: a\r\n\r\n",
    "version 9": b"GET /api/health HTTP/9.9\r\nHost: a\r\n\r\n",
    "a blank in the target": b"GET /api/health x HTTP/1.1\r\nHost: a\r\n\r\n",
    "NUL in the target": b"GET /api/\x00health HTTP/1.1\r\nHost: a\r\n\r\n",
    "a header without a colon": b"GET /api/health HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n",
    "a blank before the colon": b"GET /api/health HTTP/1.1\r\nHost: a\r\nX-A : b\r\n\r\n",
    "NUL in a header": b"GET /api/health HTTP/1.1\r\nHost: a\r\nX-A: \x00\r\n\r\n",
    "a header without a name": b"GET /api/health HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
    "a length that is none": b"POST /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n",
    "a negative length": b"POST /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "a signed length": b"POST /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na",
    "two lengths": b"POST /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": b"POST /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown encoding": b"POST /api/health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "a chunk of no size": b"POST /api/health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
    "a chunk that is longer": b"POST /api/health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcdef\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("target", NOWHERE)
async def test_a_path_that_is_not_exactly_a_route_is_not_found(probed: Running, target: str) -> None:
    refused(await exchange(probed.url, request(f"GET {target}")), 40400)


@pytest.mark.parametrize("target", MALFORMED_TARGETS)
async def test_a_target_that_is_no_path_is_malformed(probed: Running, target: str) -> None:
    refused(await exchange(probed.url, request(f"GET {target}")), 40000)


@pytest.mark.parametrize("query", MALFORMED_QUERIES)
async def test_a_query_that_is_no_text_is_malformed(probed: Running, query: str) -> None:
    refused(await exchange(probed.url, request(f"GET {AT}/echo?{query}")), 40000)


async def test_a_percent_sign_that_begins_nothing_is_a_character(probed: Running) -> None:
    assert expect(await exchange(probed.url, request(f"GET {AT}/echo?q=100%"))) == "100%"


async def test_chinese_is_sent_percent_encoded(probed: Running) -> None:
    assert expect(await exchange(probed.url, request(f"GET {AT}/echo?q={quote('晨光')}"))) == "晨光"


@pytest.mark.parametrize("target", [f"{AT}/echo?q=晨光", "/api/docs/晨光"])
async def test_chinese_that_is_not_percent_encoded_is_malformed(probed: Running, target: str) -> None:
    refused(await exchange(probed.url, request(f"GET {target.encode().decode('latin-1')}")), 40000)


@pytest.mark.parametrize("sent", NO_HTTP.values(), ids=NO_HTTP)
async def test_what_is_no_http_gets_an_envelope_and_is_closed(probed: Running, sent: bytes) -> None:
    async with connected(probed.url) as wire:
        await wire.send(sent)
        reply = await wire.reply()
        refused(reply, 40000)
        assert reply.headers["Connection"] == "close"
        assert await wire.closed()


async def test_the_server_goes_on_after_what_is_no_http(probed: Running) -> None:
    for sent in NO_HTTP.values():
        await exchange(probed.url, sent)
    assert expect(await Client(probed.url).get("/api/health")) == {"status": "ok"}


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "DELETE", "PATCH"])
async def test_a_method_that_a_path_does_not_have_is_refused_with_those_it_has(probed: Running, method: str) -> None:
    reply = await exchange(probed.url, request(f"{method} /api/health"))
    refused(reply, 40500)
    assert reply.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("method", ["FOO", "get", "G3T"])
async def test_a_method_that_nobody_has_is_refused(probed: Running, method: str) -> None:
    # llhttp knows every method by name and takes others for no HTTP
    code = 40500 if probed.service.settings.http == "tornado" else 40000
    refused(await exchange(probed.url, request(f"{method} /api/health")), code)


async def test_a_tunnel_is_refused(probed: Running) -> None:
    refused(await exchange(probed.url, request("CONNECT 127.0.0.1:27017")), 40000)


async def test_headers_over_16_kib_are_too_large(probed: Running) -> None:
    refused(await exchange(probed.url, request("GET /api/health", f"X-Padding: {'a' * 16_384}")), 43100)


async def test_many_small_headers_are_too_large_together(probed: Running) -> None:
    many = [f"X-{n}: a" for n in range(2000)]
    refused(await exchange(probed.url, request("GET /api/health", *many)), 43100)


async def test_a_target_over_16_kib_is_too_large(probed: Running) -> None:
    refused(await exchange(probed.url, request(f"GET /api/health?{'a' * 16_384}")), 43100)


async def test_headers_of_15_kib_are_read(probed: Running) -> None:
    expect(await exchange(probed.url, request("GET /api/health", f"X-Padding: {'a' * 15_000}")))


async def test_headers_without_end_are_cut_off(probed: Running) -> None:
    async with connected(probed.url) as wire:
        with pytest.raises(ConnectionError):
            await wire.send(b"GET /api/health HTTP/1.1\r\nX-A: " + b"a" * 100_000_000)
    assert expect(await Client(probed.url).get("/api/health")) == {"status": "ok"}


@pytest.mark.parametrize("key", ["", " ", "a b", "ключ", "a" * 256])
async def test_an_idempotency_key_that_is_none_is_malformed(probed: Running, probe_admin: Client, key: str) -> None:
    body = b'{"name": "a"}'
    sent = request(
        f"POST {WIDGETS_AT}",
        f"Authorization: Bearer {probe_admin.token}",
        "Content-Type: application/json",
        f"Idempotency-Key: {key.encode().decode('latin-1')}",
        body=body,
    )
    async with nothing_written(probed):
        refused(await exchange(probed.url, sent), 40000)


async def two(probed: Running, probe_admin: Client, body: bytes, length: int) -> tuple[Reply, Reply]:
    head = request(
        f"POST {WIDGETS_AT}",
        f"Authorization: Bearer {probe_admin.token}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    async with connected(probed.url) as wire:
        await wire.send(head + body)
        return await wire.reply(), await wire.reply()


async def test_what_follows_a_body_is_another_request(probed: Running, probe_admin: Client) -> None:
    body = b'{"name": "framed"}'
    first, second = await two(probed, probe_admin, body + b"trailing nonsense\r\n\r\n", len(body))
    expect(first)
    refused(second, 40000)


async def test_a_body_shorter_than_it_says_is_never_served(probed: Running, probe_admin: Client) -> None:
    head = request(
        f"POST {WIDGETS_AT}",
        f"Authorization: Bearer {probe_admin.token}",
        "Content-Type: application/json",
        "Content-Length: 50",
    )
    async with nothing_written(probed):
        async with connected(probed.url) as wire:
            await wire.send(head + b'{"name": "a"}')
            wire.writer.write_eof()
            assert await wire.closed()
        assert await probed.front.idle(1)


async def test_pipelined_requests_get_responses_in_order(probed: Running) -> None:
    async with connected(probed.url) as wire:
        await wire.send(b"".join(request(f"GET {AT}/echo?q={n}") for n in range(5)))
        assert [expect(await wire.reply()) for _ in range(5)] == list("01234")


async def test_a_response_to_http_1_0_closes(probed: Running) -> None:
    async with connected(probed.url) as wire:
        await wire.send(b"GET /api/health HTTP/1.0\r\n\r\n")
        expect(await wire.reply())
        assert await wire.closed()


async def test_a_client_that_waits_for_100_continue_gets_the_interim_response(
    probed: Running, probe_admin: Client
) -> None:
    body = b'{"name": "expected"}'
    head = request(
        f"POST {WIDGETS_AT}",
        f"Authorization: Bearer {probe_admin.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Expect: 100-continue",
    )
    async with connected(probed.url) as wire:
        await wire.send(head)
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        await wire.send(body)
        assert expect(await wire.reply())["name"] == "expected"
