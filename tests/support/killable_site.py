"""A server with a separate `mongod`, either of which can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tornado.httpclient import HTTPClientError

from config.database import Driver, open_driver
from config.embedded import acquire
from plugins.testing import PASSWORD, Client, Reply, eventually

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Site:
    """A server in a separate process, which can be killed and started again."""

    uri: str
    folder: Path
    database: str = field(default_factory=lambda: f"test_{uuid.uuid4().hex[:12]}")
    port: int = 0
    plugins: str = ""
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start the server and wait until it serves."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
        environment |= {
            "TRADEWIND_MONGODB_URI": self.uri,
            "TRADEWIND_MONGODB_DATABASE": self.database,
            "TRADEWIND_DATA_DIR": str(self.folder),
            "TRADEWIND_PORT": str(self.port),
            **({"TRADEWIND_PLUGINS": self.plugins} if self.plugins else {}),
            "TRADEWIND_RATE_LIMITS": "off",
            "TRADEWIND_ADMIN_PASSWORD": PASSWORD,
            "TRADEWIND_BCRYPT_COST": "4",
            "TRADEWIND_JWT_SECRET": "a-key-of-the-tests-with-enough-characters",
        }
        with (self.folder / "server.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, str(ROOT / "server.py"), cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        await eventually(self.serves, seconds=30, every=0.1)

    async def serves(self) -> bool:
        """Whether it responds and has its database."""
        reply = await attempt(Client(self.url).get("/api/health/ready"))
        return reply is not None and reply.status == 200

    def open_driver(self) -> Driver:
        """A connection to its database."""
        return open_driver("pymongo", self.uri, self.database, 10_000)

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
        assert self.process is not None
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def site_at(folder: Path, plugins: str = "") -> AsyncIterator[Site]:
    """A server with these plugins, or all, and with a separate `mongod`."""
    embedded = await asyncio.to_thread(acquire, folder / "mongodb")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    site = Site(embedded.uri, folder, port=port, plugins=plugins)
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
