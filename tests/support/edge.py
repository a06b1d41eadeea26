"""A plugin that says who asks, and connections to a server that has it: with TLS, and on a Unix socket."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plugins.api import PUBLIC, SIGNED_IN, Message, Plugin, Request, anything, route
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import serving
from tests.support.raw_http import Wire, request

ADDRESS, TALK = "/api/v1/edge/address", "/api/v1/edge/talk"
WHISPER = "/api/v1/edge/whisper"
SHAKE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


async def tell_address(req: Request) -> dict[str, Any]:
    """Who asks, and enough of a response for several records of TLS."""
    return {"address": req.remote_ip, "rest": "x" * int(req.headers.get("X-Rest", "0"))}


async def talk(req: Request) -> None:
    """Say everything again."""
    async for message in req.socket:
        await req.socket.send({"said": message})


EDGE = Plugin(
    name="edge",
    title=Message("边界", "Edge"),
    requires=("auth",),
    routes=(
        route(f"GET {ADDRESS}", tell_address, summary="Address", access=PUBLIC, tag="edge", returns=anything()),
        route(f"GET {WHISPER}", talk, summary="Whisper", access=SIGNED_IN, tag="edge", socket=True),
        route(f"GET {TALK}", talk, summary="Talk", access=PUBLIC, tag="edge", socket=True),
    ),
)


@asynccontextmanager
async def edge(uri: str, folder: Path, http: str, **settings: Any) -> AsyncIterator[Running]:
    """A server with the plugin on the connection `http`."""
    plugins = [*load_plugins(("auth", "rbac")), EDGE]
    async with serving(uri, folder, plugins, http=http, **settings) as service:
        yield service


@asynccontextmanager
async def wire(service: Running, tls: ssl.SSLContext | None = None, path: Path | None = None) -> AsyncIterator[Wire]:
    """A connection to its port, or to the Unix socket at `path`."""
    if path is not None:
        reader, writer = await asyncio.open_unix_connection(str(path))
    else:
        reader, writer = await asyncio.open_connection(
            service.host, service.port, ssl=tls, server_hostname="localhost" if tls else None
        )
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


async def address_on(at: Wire, *headers: str) -> str:
    """Whom the server takes the other end of a connection for."""
    await at.send(request(f"GET {ADDRESS}", *headers))
    return str((await at.reply()).json["data"]["address"])
