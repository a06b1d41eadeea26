"""A server with a separate `mongod`, either of which can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tornado.httpclient import HTTPClientError

from config.database import Driver, open_driver
from config.embedded import acquire
from plugins.testing import Client, Reply
from tests.support.server_process import ROOT as ROOT, ServerProcess, environment, spawn


@dataclass
class Site:
    """A server in a separate process, which can be killed and started again."""

    env: Mapping[str, str]
    folder: Path
    starts: int = 0
    server: ServerProcess | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.env['TRADEWIND_PORT']}"

    async def start(self) -> None:
        """Start the server and wait until it serves."""
        self.starts += 1
        self.server = spawn(self.env, self.folder / f"server-{self.starts}")
        await self.server.url()

    async def serves(self) -> bool:
        """Whether it responds and has its database."""
        reply = await attempt(Client(self.url).get("/api/health/ready"))
        return reply is not None and reply.status == 200

    def open_driver(self) -> Driver:
        """A connection to its database."""
        return open_driver("pymongo", self.env["TRADEWIND_MONGODB_URI"], self.env["TRADEWIND_MONGODB_DATABASE"], 10_000)

    async def kill_mongod(self) -> None:
        """Kill the database; what has acquired it starts it again."""
        driver = self.open_driver()
        try:
            mongod = int((await driver.command({"serverStatus": 1}))["pid"])
        finally:
            await driver.close()
        assert str(self.folder).encode() in Path(f"/proc/{mongod}/cmdline").read_bytes()
        os.kill(mongod, signal.SIGKILL)

    async def kill(self) -> None:
        """Kill the server."""
        assert self.server is not None
        self.server.process.kill()
        await asyncio.to_thread(self.server.process.wait)


@asynccontextmanager
async def site_at(folder: Path, plugins: str = "", **settings: str) -> AsyncIterator[Site]:
    """A server with these plugins, or all, and with a separate `mongod`."""
    embedded = await asyncio.to_thread(acquire, folder / "mongodb")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    site = Site(environment(embedded.uri, folder, PLUGINS=plugins, PORT=str(port), **settings), folder)
    try:
        await site.start()
        yield site
    finally:
        await site.kill()
        await asyncio.to_thread(embedded.release_and_wait, 15)


async def attempt(request: Awaitable[Reply]) -> Reply | None:
    """The response, or None if the connection failed."""
    try:
        return await request
    except (OSError, HTTPClientError):
        return None
