"""Two servers on one database sweep like one: every file once, under a lease that the other takes over.

On a local disk, as the lease is the same; in S3: tests/experiments/files/test_sweeping_in_s3.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from config.database import open_driver
from plugins.api import utc_now
from plugins.files.records import OBJECTS
from plugins.testing import Client, eventually, expect
from tests.api.files.samples import attach, customer, note
from tests.support.server_process import ServerProcess, environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
MANY = 24
PERIOD = "0.5"  # a lease runs out, and another server takes over, within so many seconds


@dataclass
class Pair:
    """Two server processes that share a database and a storage; `driver` looks at the database from outside."""

    servers: list[ServerProcess]
    clients: list[Client]
    driver: Any

    async def unattached(self, count: int) -> list[dict[str, Any]]:
        """New files, half of them through either server."""
        return [await note(client) for client in self.clients for _ in range(count // 2)]

    async def age(self, files: list[dict[str, Any]]) -> None:
        """Make files more than a day old, all at once."""
        keys = {"_id": {"$in": [file["objectKey"] for file in files]}}
        await self.driver.update_many(OBJECTS.name, keys, {"$set": {"created_at": utc_now() - timedelta(hours=25)}})

    async def are_gone(self, files: list[dict[str, Any]]) -> None:
        """Wait until none of them is left."""
        keys = {"_id": {"$in": [file["objectKey"] for file in files]}}

        async def gone() -> bool:
            return not await self.driver.find(OBJECTS.name, keys, limit=1)

        await eventually(gone, seconds=30)

    def removed(self) -> list[int]:
        """How many files each server has removed, by its log."""
        return [sum(line["removed"] for line in server.lines("files swept")) for server in self.servers]

    async def have_removed(self, count: int) -> None:
        """Wait until the servers have logged the removal of that many files, and no more."""

        async def said() -> bool:
            return sum(self.removed()) >= count

        await eventually(said, seconds=30)
        assert sum(self.removed()) == count


@pytest.fixture(scope="module")
def buckets() -> dict[str, str]:
    """Settings of the storage: that on the local disk."""
    return {}


@pytest.fixture(scope="module")
def pair(
    io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory, buckets: dict[str, str]
) -> Iterator[Pair]:
    """Two servers, one of which the last test kills."""
    block = _pair(mongodb_uri, tmp_path_factory.mktemp("pair"), buckets)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@asynccontextmanager
async def _pair(uri: str, folder: Path, buckets: dict[str, str]) -> AsyncIterator[Pair]:
    env = environment(uri, folder / "data", PLUGINS="auth,rbac,crm,files", SWEEP_SECONDS=PERIOD, **buckets)
    async with AsyncExitStack() as stack:
        driver = open_driver("pymongo", uri, env["TRADEWIND_MONGODB_DATABASE"], 5000)
        stack.push_async_callback(driver.close)
        servers = [await stack.enter_async_context(server_process(env, folder / name)) for name in ("one", "two")]
        clients = [await Client(await server.url()).log_in("admin") for server in servers]
        yield Pair(servers, clients, driver)


async def test_each_file_is_swept_once_unless_it_is_attached_meanwhile(pair: Pair) -> None:
    first, second = pair.clients
    record = await customer(first)
    old, attached, raced = await pair.unattached(MANY), await note(second), await pair.unattached(MANY)
    expect(await attach(first, record, attached))
    await pair.age([*old, attached, *raced])
    await pair.are_gone(old[:5])  # one of them is sweeping
    replies = await asyncio.gather(*(attach(pair.clients[at % 2], record, file) for at, file in enumerate(raced)))
    codes = {file["objectKey"]: reply.code for file, reply in zip(raced, replies, strict=True)}
    assert set(codes.values()) <= {0, 40400}
    lost = [file for file in raced if codes[file["objectKey"]]]
    kept = {attached["objectKey"], *codes} - {file["objectKey"] for file in lost}
    await pair.are_gone([*old, *lost])
    last = await pair.unattached(2)  # any other sweeper has logged by then
    await pair.age(last)
    await pair.are_gone(last)
    await pair.have_removed(len(old) + len(lost) + len(last))
    page = expect(await second.get(f"/api/attachments?biz_type=CUSTOMER&resource_id={record['id']}&page_size=200"))
    assert {row["object_key"] for row in page["items"]} == kept
    for key in kept:
        assert (await first.get(f"/api/file/dl?object_key={key}")).status == 200


async def test_the_other_server_continues_when_the_sweeping_one_is_killed(pair: Pair) -> None:
    some = await pair.unattached(2)
    earlier = pair.removed()
    await pair.age(some)
    await pair.have_removed(sum(earlier) + len(some))
    killed, left = (0, 1) if pair.removed()[0] > earlier[0] else (1, 0)
    more = [await note(pair.clients[left]) for _ in range(10)]
    pair.servers[killed].process.send_signal(SIGKILL)
    await pair.servers[killed].ended()
    before = pair.removed()[killed]
    await pair.age(more)
    await pair.are_gone(more)
    await pair.have_removed(sum(earlier) + len(some) + len(more))
    assert pair.removed()[killed] == before
