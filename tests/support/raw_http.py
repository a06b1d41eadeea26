"""Raw HTTP: sends bytes and reads responses, for requests that no HTTP client would send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tornado.httputil import HTTPHeaders

from plugins.testing import Reply


@dataclass
class Wire:
    """One TCP connection to a server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, *, head: bool = False) -> Reply:
        """Read the next response. Raises EOFError if the server closed the connection."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = HTTPHeaders.parse("\n".join(lines[1:]))
        body = b"" if head else await self.reader.readexactly(int(headers["Content-Length"]))
        return Reply(int(lines[0].split()[1]), headers, body)

    async def closed(self) -> bool:
        """Whether the server has closed; waits until it does or sends something."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Wire]:
    """A connection to the server at `url`."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


async def exchange(url: str, request: bytes, *, head: bool = False) -> Reply:
    """The response to a request that is given as bytes."""
    async with connected(url) as wire:
        await wire.send(request)
        return await wire.reply(head=head)


def request(line: str, *headers: str, body: bytes = b"") -> bytes:
    """A request: `request("GET /api/health")`; a body brings its Content-Length."""
    length = (f"Content-Length: {len(body)}",) if body else ()
    return "\r\n".join((f"{line} HTTP/1.1", "Host: test", *headers, *length, "", "")).encode("latin-1") + body
