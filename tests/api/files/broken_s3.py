"""An S3 that refuses every request with the same error: denied, full, overloaded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REFUSALS = {
    "denying": (403, "AccessDenied", "Access Denied."),
    "full": (507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."),
    "overloaded": (503, "SlowDown", "Please reduce your request rate."),
    "broken": (500, "InternalError", "We encountered an internal error."),
    "without its bucket": (404, "NoSuchBucket", "The specified bucket does not exist."),
}


@asynccontextmanager
async def refusing_s3(status: int, code: str, message: str) -> AsyncIterator[str]:
    """Serve while the block runs; yields the address."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if b"100-continue" in head.lower():
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
                await reader.readexactly(int(length.group(1)) if length else 0)
                body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
                content = b"" if head.startswith(b"HEAD ") else body
                writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (EOFError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
