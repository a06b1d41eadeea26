"""A process that asks for liveness until its standard input ends: `python -m scripts.fault_injection.liveness PORT`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from scripts.fault_injection.clients import Connection

_PAUSE_SECONDS = 0.05
_PROBE_SECONDS = 30.0


class _Echo(asyncio.Protocol):
    """Sends back what it receives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def watch(port: int) -> dict[str, list[object]]:
    """Probe the service and the echo in turn; when each probe began, and how long it took."""
    service: list[object] = []
    echoes: list[object] = []
    failed: list[object] = []
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    echo = await asyncio.get_running_loop().create_server(_Echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", echo.sockets[0].getsockname()[1])
    connection = Connection(port)
    while not ended.done():
        began = time.monotonic()
        reply = await connection.call("GET", "/api/health", seconds=_PROBE_SECONDS)
        service.append((began, time.monotonic() - began))
        if reply.outcome != "0":
            failed.append(reply.outcome)
        began = time.monotonic()
        writer.write(b"x")
        await reader.readexactly(1)
        echoes.append((began, time.monotonic() - began))
        await asyncio.sleep(_PAUSE_SECONDS)
    connection.drop()
    writer.close()
    echo.close()
    return {"service": service, "echo": echoes, "failed": failed}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(watch(int(sys.argv[1])))))
