"""The PROXY header, with which a proxy says for which client it connects, before anything else on a connection.

https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, versions 1 (text) and 2 (binary).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket

SECONDS = 5.0  # until the header must have arrived: proxies send it at once
_MOST_TEXT = 107
_MOST_BINARY = 4096  # with what a proxy adds about its TLS, its names and itself
_SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
_FIXED = 16
_LOCAL, _PROXIED = 0x20, 0x21  # version 2: the proxy's own connection, or that of a client
_SIZES = {0x11: 4, 0x21: 16}  # bytes of an address, for TCP over IPv4 and over IPv6
_TEXT = re.compile(rb"PROXY (?:UNKNOWN[^\r\n]*|TCP([46]) ([0-9a-fA-F:.]+) [0-9a-fA-F:.]+ [0-9]{1,5} [0-9]{1,5})\r\n")


class NoHeader(Exception):
    """What arrives is not a PROXY header, or is one that cannot be read."""


class ProxyHeader:
    """Reads a header from the bytes that arrive, and takes none after its end."""

    def __init__(self) -> None:
        self._read = b""

    def feed(self, waiting: bytes) -> tuple[int, bool]:
        """Return how many of the waiting bytes belong to the header, and whether it ends with them.

        Raises `NoHeader`.
        """
        data = self._read + waiting
        signed = data[: len(_SIGNATURE)] == _SIGNATURE[: len(data)]
        end = _end_of_binary(data) if signed else _end_of_text(data)
        taken = min(end, len(data))
        count = taken - len(self._read)
        self._read = data[:taken]
        return count, taken == end

    @property
    def client(self) -> str:
        """The address of the client, empty if the proxy connects for itself or names none. Raises `NoHeader`."""
        return _binary_client(self._read) if self._read.startswith(_SIGNATURE) else _text_client(self._read)


def _end_of_text(data: bytes) -> int:
    """Return where a header in text ends, or a place beyond `data` if its end has not arrived."""
    if data[:6] != b"PROXY "[: len(data)]:
        raise NoHeader
    end = data.find(b"\n", 0, _MOST_TEXT) + 1
    if not end and len(data) >= _MOST_TEXT:
        raise NoHeader
    return end or len(data) + 1


def _end_of_binary(data: bytes) -> int:
    if len(data) < _FIXED:
        return _FIXED + 1  # not known yet: even a header with a length of 0 has 16 bytes
    end = _FIXED + int.from_bytes(data[14:16], "big")
    if end > _MOST_BINARY:
        raise NoHeader
    return end


def _text_client(header: bytes) -> str:
    found = _TEXT.fullmatch(header)
    if found is None:
        raise NoHeader
    return "" if found[1] is None else _address(found[2].decode(), int(found[1]))


def _binary_client(header: bytes) -> str:
    kind, family = header[12], header[13]
    if kind == _LOCAL:
        return ""
    if kind != _PROXIED:
        raise NoHeader
    size = _SIZES.get(family)
    if size is None:
        return ""  # a Unix socket, or an address family that our connections cannot have
    if len(header) < _FIXED + 2 * size + 4:
        raise NoHeader
    return str(_plain(ipaddress.ip_address(header[_FIXED : _FIXED + size])))


def _address(text: str, version: int) -> str:
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError as error:
        raise NoHeader from error
    if parsed.version != version:
        raise NoHeader
    return str(_plain(parsed))


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the IPv4 address of an IPv4-mapped IPv6 address, and any other address as it is."""
    return getattr(address, "ipv4_mapped", None) or address


async def read_client(connection: socket.socket) -> str:
    """Read the header of a connection, leave the bytes after it, and return the client as `ProxyHeader.client` has it.

    Raises `NoHeader`, `OSError`, and `TimeoutError` after `SECONDS`.
    """
    header, ended = ProxyHeader(), False
    async with asyncio.timeout(SECONDS):
        while not ended:
            await _wait_for_bytes(connection)
            waiting = connection.recv(_MOST_BINARY, socket.MSG_PEEK)
            if not waiting:
                raise NoHeader
            count, ended = header.feed(waiting)
            connection.recv(count)
    return header.client


async def _wait_for_bytes(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(connection, _note, readable)
    try:
        await readable
    finally:
        loop.remove_reader(connection)


def _note(readable: asyncio.Future[None]) -> None:
    if not readable.done():
        readable.set_result(None)
