"""`kill -9` of the server, then of `mongod`, amid a thousand transactions: the ledgers agree, no write is lost."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from config.database import open_driver
from config.embedded import acquire
from plugins.testing import PASSWORD, Client, Reply, eventually, expect
from scripts.diagnosis.ledgers import differences
from tests.plugins.finance.books import Books
from tests.plugins.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=120)
ROOT = Path(__file__).resolve().parents[3]
WRITERS, EACH = 8, 125
KILL_SERVER_AFTER, KILL_MONGOD_AFTER = 300, 600
Write = Callable[[int], Awaitable[Reply]]
Begin = Callable[[Client], Awaitable[Write]]
_months = itertools.count()


@dataclass
class Site:
    """A server in a separate process, which can be killed and started again."""

    uri: str
    folder: Path
    database: str = field(default_factory=lambda: f"test_{uuid.uuid4().hex[:12]}")
    port: int = 0
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
            "TRADEWIND_PLUGINS": "auth,rbac,inventory,finance",
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

    async def kill(self) -> None:
        """Kill the server."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def site_at(folder: Path) -> AsyncIterator[Site]:
    """A server with a separate `mongod`."""
    embedded = await asyncio.to_thread(acquire, folder / "mongodb")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    site = Site(embedded.uri, folder, port=port)
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


async def test_after_kills_the_ledgers_agree_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    async with site_at(tmp_path) as site:
        admin = await Client(site.url).log_in("admin")
        driver = open_driver("pymongo", site.uri, site.database, 10_000)
        mongod = int((await driver.command({"serverStatus": 1}))["pid"])
        assert str(tmp_path).encode() in Path(f"/proc/{mongod}/cmdline").read_bytes()

        async def writer(begin: Begin) -> None:
            write = await begin(admin)
            for number in range(EACH):
                reply = await attempt(write(number))
                if reply is not None and reply.code == 0:
                    acknowledged.add(reply.data["id"])
                else:
                    await eventually(site.serves, seconds=30, every=0.1)
                    # records that a killed server was changing stay locked until the database ends its transaction
                    write = await begin(admin)

        async def killer() -> None:
            await wait_for(KILL_SERVER_AFTER)
            await site.kill()
            await site.start()
            await wait_for(KILL_MONGOD_AFTER)
            os.kill(mongod, signal.SIGKILL)

        async def wait_for(count: int) -> None:
            async def enough() -> bool:
                return len(acknowledged) >= count

            await eventually(enough, seconds=60)

        await asyncio.gather(killer(), *(writer((payer, carrier)[number % 2]) for number in range(WRITERS)))
        await eventually(site.serves, seconds=30, every=0.1)
        assert await differences(driver) == []
        stored = {
            str(row["_id"])
            for name in ("finance_vouchers", "inventory_transfers")
            for row in await driver.find(name, {}, fields=["_id"])
        }
        assert len(acknowledged) > KILL_MONGOD_AFTER
        assert acknowledged <= stored
        await driver.close()


async def payer(admin: Client) -> Write:
    """Books payments into a separate month."""
    books = await Books.fresh(admin)
    years, month = divmod(next(_months), 12)

    async def pay(number: int) -> Reply:
        kind = "income" if number % 3 else "expense"
        return await books.book(kind, f"0.{number % 99 + 1:02}", day=f"{2026 + years}-{month + 1:02}-15")

    return pay


async def carrier(admin: Client) -> Write:
    """Moves goods back and forth."""
    here = await Goods.stocked(admin, 100)
    there = Goods(admin, here.product_id, await here.warehouse())
    expect(await here.transfer(there.warehouse_id, 50))

    async def carry(number: int) -> Reply:
        source, target = (here, there) if number % 2 else (there, here)
        return await source.transfer(target.warehouse_id, "0.5")

    return carry
