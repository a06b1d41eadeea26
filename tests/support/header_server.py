"""A server that keeps the heads of the requests it gets, and answers all of them alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tornado.httputil import HTTPHeaders


@dataclass
class HeaderServer:
    """`heads` are the header fields of its requests so far."""

    url: str
    heads: list[HTTPHeaders] = field(default_factory=list)


@asynccontextmanager
async def keeping_headers(body: bytes = b"{}") -> AsyncIterator[HeaderServer]:
    """Serve while the block runs."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                kept.heads.append(HTTPHeaders.parse(head.partition("\r\n")[2]))
                content = b"" if head.startswith("HEAD ") else body
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (EOFError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    kept = HeaderServer(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield kept
    finally:
        server.close()
