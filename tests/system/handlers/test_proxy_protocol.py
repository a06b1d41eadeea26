"""The PROXY header: whoever sends it is believed whom it connects for, where it is trusted, and nobody else is."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tornado.ioloop import IOLoop

from handlers.http.proxy_protocol import NoHeader, ProxyHeader
from plugins.boot.runtime import Running
from tests.support.certificates import Authority
from tests.support.edge import SHAKE, WHISPER, address_on, edge, wire
from tests.support.raw_http import request

pytestmark = pytest.mark.gen_test(timeout=30)
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def binary(kind: int, family: int, addresses: bytes) -> bytes:
    return SIGNATURE + struct.pack("!BBH", kind, family, len(addresses)) + addresses


def packed(client: str, server: str = "192.0.2.1") -> bytes:
    family = socket.AF_INET6 if ":" in client else socket.AF_INET
    server = "2001:db8::1" if ":" in client else server
    ports = struct.pack("!HH", 40000, 443)
    return socket.inet_pton(family, client) + socket.inet_pton(family, server) + ports


SOUND = {
    "text, IPv4": (b"PROXY TCP4 203.0.113.9 192.0.2.1 40000 443\r\n", "203.0.113.9"),
    "text, IPv6": (b"PROXY TCP6 2001:db8::9 2001:db8::1 40000 443\r\n", "2001:db8::9"),
    "text, unknown": (b"PROXY UNKNOWN\r\n", ""),
    "text, unknown with more": (b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", ""),
    "binary, IPv4": (binary(0x21, 0x11, packed("203.0.113.9")), "203.0.113.9"),
    "binary, IPv6": (binary(0x21, 0x21, packed("2001:db8::9")), "2001:db8::9"),
    "binary, IPv4 in IPv6": (binary(0x21, 0x21, packed("::ffff:203.0.113.9")), "203.0.113.9"),
    "binary, with further fields": (
        binary(0x21, 0x11, packed("203.0.113.9") + b"\x04\0\x10" + bytes(16)),
        "203.0.113.9",
    ),
    "binary, the proxy itself": (binary(0x20, 0x00, b""), ""),
    "binary, a Unix socket": (binary(0x21, 0x31, bytes(216)), ""),
}
BAD = {
    "a request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a hello of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    "no address": b"PROXY TCP4 nobody 192.0.2.1 1 2\r\n",
    "an address of the other version": b"PROXY TCP4 2001:db8::9 192.0.2.1 1 2\r\n",
    "too few words": b"PROXY TCP4 203.0.113.9\r\n",
    "a line without an end": b"PROXY TCP4 " + b"1" * 200,
    "no carriage return": b"PROXY TCP4 203.0.113.9 192.0.2.1 1 2\n",
    "another version": binary(0x31, 0x11, packed("203.0.113.9")),
    "another command": binary(0x22, 0x11, packed("203.0.113.9")),
    "addresses that are too short": binary(0x21, 0x11, bytes(11)),
    "more than there may be": binary(0x21, 0x11, bytes(5000)),
}


def read(stream: bytes, cuts: list[int]) -> tuple[str, int]:
    """The client of the header that a stream begins with, which arrives in pieces, and how long the header is."""
    header, at = ProxyHeader(), 0
    for end in [*sorted(cut % len(stream) for cut in cuts), len(stream)]:
        while at < end:
            count, ended = header.feed(stream[at:end])
            assert count > 0
            at += count
            if ended:
                return header.client, at
    raise NoHeader


@given(name=st.sampled_from(sorted(SOUND)), rest=st.binary(max_size=40), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_a_sound_header_is_read_however_it_is_cut_and_nothing_behind_it(
    name: str, rest: bytes, cuts: list[int]
) -> None:
    header, client = SOUND[name]
    assert read(header + rest, cuts) == (client, len(header))


@given(name=st.sampled_from(sorted(BAD)), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_anything_else_is_none(name: str, cuts: list[int]) -> None:
    with pytest.raises(NoHeader):
        read(BAD[name], cuts)


@given(stream=st.binary(min_size=1, max_size=200))
def test_no_bytes_break_it(stream: bytes) -> None:
    try:
        _, length = read(stream, [])
    except NoHeader:
        return
    assert length <= len(stream)


@pytest.fixture(scope="module")
def announced(
    http: str, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server that wants the header from this machine."""
    settings = {"proxy_protocol": True, "trusted_proxies": ("127.0.0.1",)}
    block = edge(mongodb_uri, tmp_path_factory.mktemp("announced"), http, **settings)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_requests_come_from_whom_the_proxy_names(announced: Running) -> None:
    for header, client in SOUND.values():
        async with wire(announced, first=header) as at:
            assert [await address_on(at), await address_on(at)] == [client or "127.0.0.1"] * 2


async def test_garbage_in_its_place_closes_the_connection(announced: Running) -> None:
    for bad in BAD.values():
        async with wire(announced, first=bad) as at:
            assert await at.closed()


async def test_one_that_does_not_come_closes_the_connection_while_others_are_served(
    announced: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.http.proxy_protocol.SECONDS", 0.5)
    async with (
        wire(announced) as silent,
        wire(announced, first=b"PROXY TC") as slow,
    ):
        async with wire(announced, first=SOUND["text, IPv4"][0]) as at:
            assert await address_on(at) == "203.0.113.9"
        assert await silent.closed()
        assert await slow.closed()


async def test_who_is_not_trusted_sends_none_and_is_believed_none(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    settings = {"proxy_protocol": True, "trusted_proxies": ("10.0.0.0/8",)}
    async with edge(mongodb_uri, tmp_path, http, **settings) as service:
        async with wire(service) as at:
            assert await address_on(at) == "127.0.0.1"
        async with wire(service, first=SOUND["text, IPv4"][0]) as at:
            await at.send(request("GET /api/health"))
            assert (await at.reply()).status == 400


async def test_it_comes_before_tls(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    authority = Authority(tmp_path)
    settings = {"proxy_protocol": True, "trusted_proxies": ("127.0.0.1",), **authority.issue().settings}
    async with (
        edge(mongodb_uri, tmp_path, http, **settings) as service,
        wire(service, authority.client_context, first=SOUND["binary, IPv6"][0]) as at,
    ):
        assert await address_on(at) == "2001:db8::9"


async def test_connections_that_end_before_their_handshake_hold_nothing_up(
    mongodb_uri: str, tmp_path: Path, http: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"proxy_protocol": True, "trusted_proxies": ("127.0.0.1",), **Authority(tmp_path).issue().settings}
    async with edge(mongodb_uri, tmp_path, http, **settings) as service:
        for _ in range(20):
            async with wire(service, first=SOUND["text, IPv4"][0]):
                pass
    assert "requests were still open when the time to drain was over" not in caplog.text


async def test_it_comes_on_a_unix_socket_too(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    path = tmp_path / "http.sock"
    settings = {"proxy_protocol": True, "trusted_proxies": ("unix",), "unix_socket": str(path)}
    async with (
        edge(mongodb_uri, tmp_path, http, **settings) as service,
        wire(service, path=path, first=SOUND["binary, IPv4"][0]) as at,
    ):
        assert await address_on(at) == "203.0.113.9"


async def test_a_websocket_comes_from_whom_the_proxy_names(announced: Running) -> None:
    async with wire(announced, first=SOUND["text, IPv4"][0]) as at:
        await at.send(request(f"GET {WHISPER}", *SHAKE))
        assert (await at.reply()).status == 401
        assert await address_on(at) == "203.0.113.9"  # Tornado goes on with this connection


async def test_many_at_once_are_read(announced: Running) -> None:

    async def ask(number: int) -> bool:
        address = f"203.0.113.{number}"
        async with wire(announced, first=binary(0x21, 0x11, packed(address))) as at:
            return await address_on(at) == address

    assert all(await asyncio.gather(*map(ask, range(40))))
