"""TLS of the service's own: with WebSockets, slow handshakes, and certificates that are renewed."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from handlers.http.sockets import OVERLOADED
from plugins.boot.runtime import Running
from plugins.testing import Client, eventually
from tests.support.certificates import DAY, Authority, Files, end_of, serial_of
from tests.support.edge import ADDRESS, SHAKE, TALK, WHISPER, address_on, edge, wire
from tests.support.raw_http import Wire, request

pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def secured(
    http: str, authority: Authority, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server with a certificate that stays."""
    stays = authority.issue("stays").settings
    block = edge(mongodb_uri, tmp_path_factory.mktemp("secured"), http, tls_minimum="1.3", **stays)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


def served_certificate(at: Wire) -> int:
    """The serial number of the certificate that a server has shown."""
    return int(at.writer.get_extra_info("peercert")["serialNumber"], 16)


async def shown(service: Running, authority: Authority) -> int:
    """The serial number of the certificate that new connections see."""
    async with wire(service, authority.client_context) as at:
        return served_certificate(at)


async def answer(at: Wire) -> bytes:
    """Everything that comes until the connection is closed."""
    try:
        return await at.reader.read()
    except ConnectionError:
        return b""


async def figure(service: Running, authority: Authority, name: str) -> float:
    """A metric of a server with TLS."""
    async with wire(service, authority.client_context) as at:
        await at.send(request("GET /metrics"))
        text = (await at.reply()).body.decode()
    return float(next(line for line in text.splitlines() if line.startswith(name)).split()[1])


async def test_requests_are_served_one_after_the_other(secured: Running, authority: Authority) -> None:
    assert secured.url == f"https://127.0.0.1:{secured.port}"
    async with wire(secured, authority.client_context) as at:
        assert at.writer.get_extra_info("ssl_object").version() == "TLSv1.3"
        for _ in range(3):
            assert await address_on(at) == "127.0.0.1"


async def test_large_responses_and_pipelined_requests_arrive_whole(secured: Running, authority: Authority) -> None:
    async with wire(secured, authority.client_context) as at:
        await at.send(request(f"GET {ADDRESS}", "X-Rest: 3000000") * 3)
        sizes = [len((await at.reply()).json["data"]["rest"]) for _ in range(3)]
    assert sizes == [3_000_000] * 3


async def test_a_websocket_talks(secured: Running, authority: Authority) -> None:
    address = f"wss://localhost:{secured.port}{TALK}"
    talk: Any = await websocket_connect(HTTPRequest(address, ca_certs=str(authority.certificate)))
    for said in ("one", "x" * 60_000, "two"):
        await talk.write_message(f'"{said}"')
        assert await talk.read_message() == f'{{"said":"{said}"}}'
    talk.close()
    assert await talk.read_message() is None


async def test_a_websocket_that_does_not_read_is_held_back_and_then_closed(
    secured: Running, authority: Authority
) -> None:
    address = f"wss://localhost:{secured.port}{TALK}"
    talk: Any = await websocket_connect(HTTPRequest(address, ca_certs=str(authority.certificate)))
    for _ in range(400):  # more than the buffers of the system and the waiting messages hold
        await talk.write_message(f'"{"x" * 60_000}"')
    while await talk.read_message() is not None:
        pass
    assert talk.close_code == OVERLOADED


async def test_the_end_of_the_server_closes_a_websocket_with_its_code(
    mongodb_uri: str, tmp_path: Path, http: str, authority: Authority
) -> None:
    async with edge(mongodb_uri, tmp_path, http, **authority.issue().settings) as service:
        address = f"wss://localhost:{service.port}{TALK}"
        talk: Any = await websocket_connect(HTTPRequest(address, ca_certs=str(authority.certificate)))
        await talk.write_message("1")
        assert await talk.read_message() == '{"said":1}'
        ending = asyncio.ensure_future(talk.read_message())
    assert await ending is None
    assert talk.close_code == 1001


async def test_a_refused_handshake_of_a_websocket_leaves_the_connection_open(
    secured: Running, authority: Authority
) -> None:
    async with wire(secured, authority.client_context) as at:
        await at.send(request(f"GET {WHISPER}", *SHAKE))
        assert (await at.reply()).status == 401
        assert await address_on(at) == "127.0.0.1"


async def test_plain_http_and_old_versions_are_refused(secured: Running, authority: Authority) -> None:
    async with wire(secured) as at:
        await at.send(request("GET /api/health"))
        assert not (await answer(at)).startswith(b"HTTP")
    old = authority.client_context
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        async with wire(secured, old):
            pass
    async with wire(secured, authority.client_context) as at:
        assert await address_on(at) == "127.0.0.1"


async def test_a_handshake_that_does_not_end_is_closed_while_others_are_served(
    mongodb_uri: str, tmp_path: Path, http: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.http.fast_server.HANDSHAKE_SECONDS", 0.5)
    monkeypatch.setattr("handlers.http.tornado_server.HANDSHAKE_SECONDS", 0.5)
    async with (
        edge(mongodb_uri, tmp_path, http, **authority.issue().settings) as service,
        wire(service) as silent,
        wire(service) as slow,
        wire(service, authority.client_context) as at,
    ):
        await slow.send(b"\x16\x03\x01\x02\x00")  # the beginning of a record that never comes
        assert await address_on(at) == "127.0.0.1"
        assert await silent.closed()
        assert await slow.closed()
        assert await address_on(at) == "127.0.0.1"


async def test_a_new_certificate_is_for_new_connections_and_open_ones_go_on(
    mongodb_uri: str, tmp_path: Path, http: str, authority: Authority
) -> None:
    used, new = authority.issue(), authority.issue("new", ends=20 * DAY)
    async with edge(mongodb_uri, tmp_path, http, tls_look_seconds=0.05, **used.settings) as service:
        before = serial_of(used)
        async with wire(service, authority.client_context) as at:
            assert served_certificate(at) == before
            put(new, used)

            async def taken() -> bool:
                return await shown(service, authority) == serial_of(new)

            await eventually(taken)
            assert await address_on(at) == "127.0.0.1"
        ends = await figure(service, authority, "tradewind_tls_certificate_expiry_timestamp_seconds")
        assert ends == end_of(new)


async def test_a_bad_certificate_is_not_taken_and_monitoring_hears_of_it(
    mongodb_uri: str, tmp_path: Path, http: str, authority: Authority
) -> None:
    used, ended = authority.issue(), authority.issue("ended", ends=-DAY / 2)
    serial = serial_of(used)
    async with edge(mongodb_uri, tmp_path, http, tls_look_seconds=0.05, **used.settings) as service:

        async def refused() -> float:
            return await figure(service, authority, "tradewind_tls_certificate_refused")

        assert await refused() == 0
        put(ended, used)

        async def is_refused() -> bool:
            return await refused() == 1

        await eventually(is_refused)
        assert await shown(service, authority) == serial
        put(authority.issue("good"), used)

        async def is_mended() -> bool:
            return await refused() == 0

        await eventually(is_mended)
        assert await shown(service, authority) != serial


async def test_without_tls_monitoring_says_nothing_of_certificates(anonymous: Client) -> None:
    text = (await anonymous.get("/metrics")).body.decode()
    assert [line for line in text.splitlines() if line.startswith("tradewind_tls")] == []


def put(new: Files, place: Files) -> None:
    """Put a certificate in the place of another one."""
    shutil.copy(new.certificate, place.certificate)
    shutil.copy(new.key, place.key)
