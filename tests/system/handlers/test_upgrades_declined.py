"""A request that offers to change the protocol, and comes with a body: the body is never read as the next request."""

import asyncio
import re

import pytest

from plugins.boot.runtime import Running
from tests.support.raw_http import connected, exchange, request
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test
HIDDEN = request("GET /api/health", "X-Request-ID: hidden")
NEXT = request("GET /api/health", "X-Request-ID: next", "Connection: close")
OFFERS = {
    "h2c": ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"),
    "a WebSocket": (
        "Connection: upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: eA==",
    ),
    "something": ("Connection: keep-alive, Upgrade", "Upgrade: tls/1.2"),
}
REQUEST_ID = re.compile(rb"(?i)^x-request-id: (\S+)\r$", re.MULTILINE)


def in_chunks(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


async def request_ids(url: str, sent: bytes) -> list[bytes]:
    """The ids of all responses on a connection, until the server closes it."""
    async with connected(url) as wire:
        await wire.send(sent)
        async with asyncio.timeout(10):
            return REQUEST_ID.findall(await wire.reader.read(-1))


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
async def test_a_body_with_a_length_is_no_request(probed: Running, method: str, offer: tuple[str, ...]) -> None:
    first = request(f"{method} /api/health", "X-Request-ID: first", *offer, body=HIDDEN)
    assert await request_ids(probed.url, first + NEXT) == [b"first", b"next"]


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
async def test_a_body_in_chunks_is_no_request(probed: Running, offer: tuple[str, ...]) -> None:
    first = request("POST /api/health", "X-Request-ID: first", *offer, "Transfer-Encoding: chunked")
    assert await request_ids(probed.url, first + in_chunks(HIDDEN) + NEXT) == [b"first", b"next"]


async def test_a_body_that_comes_later_is_no_request(probed: Running) -> None:
    async with connected(probed.url) as wire:
        first = request("GET /api/health", *OFFERS["h2c"], body=HIDDEN)
        await wire.send(first.removesuffix(HIDDEN))
        await asyncio.sleep(0.05)  # so that it is read by itself
        await wire.send(HIDDEN + NEXT)
        assert len(REQUEST_ID.findall(await wire.reader.read(-1))) == 2


async def test_what_is_behind_a_tunnel_that_is_refused_is_no_request(probed: Running) -> None:
    for sent in (
        b"CONNECT /api/health HTTP/1.1\r\nHost: a\r\nX-Request-ID: first\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
        b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\nX-Request-ID: first\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    ):
        assert b"hidden" not in await request_ids(probed.url, sent + HIDDEN + NEXT)


async def test_a_client_that_offers_http_2_is_served_with_its_body(probed: Running) -> None:
    body = b'{"username": "nobody", "password": "wrong-Password-1"}'
    sent = request("POST /api/v1/auth/login", *OFFERS["h2c"], "Content-Type: application/json", body=body)
    refused(await exchange(probed.url, sent), 40010)


async def test_an_offer_in_http_1_0_is_no_offer(probed: Running) -> None:
    sent = b"GET /api/v1/notifications/ws HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with connected(probed.url) as wire:
        await wire.send(sent)
        assert (await wire.reader.readline()).split()[1] != b"101"
