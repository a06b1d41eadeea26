"""`mongod` itself is frozen, or killed: the service responds in time, loses nothing, and goes on."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from plugins.testing import Client, Reply, eventually, expect, unique
from tests.experiments.faults.conftest import TIMEOUT_MS, Site, back
from tests.support.probe import WIDGETS_AT
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test(timeout=40)
FROZEN_SECONDS = 3
LIMIT_SECONDS = TIMEOUT_MS / 1000 + 1


async def mongod_of(site: Site, folder: Path) -> int:
    """The process that keeps its data in `folder`, and no other."""
    pid = int((await site.beside.service.database.driver.command({"serverStatus": 1}))["pid"])
    assert str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return pid


@asynccontextmanager
async def frozen(pid: int) -> AsyncIterator[None]:
    """The process stands still while the block runs, and for `FROZEN_SECONDS` at least."""
    os.kill(pid, signal.SIGSTOP)
    thawing = asyncio.create_task(asyncio.sleep(FROZEN_SECONDS))
    try:
        yield
        await thawing
    finally:
        os.kill(pid, signal.SIGCONT)


async def is_unready(client: Client) -> bool:
    return (await client.get("/api/health/ready")).code == 50300


async def write(client: Client, batch: str, n: int) -> Reply:
    key = {"Idempotency-Key": f"{batch}-{n}"}
    return await client.post(WIDGETS_AT, {"name": f"{n}", "batch": batch}, headers=key)


async def test_frozen_for_three_seconds_it_costs_errors_and_no_writes(site: Site, own_folder: Path) -> None:
    batch, waits = unique("batch"), []
    async with frozen(await mongod_of(site, own_folder)):
        started = time.monotonic()
        replies = await asyncio.gather(*(write(site.admin, batch, n) for n in range(10)))
        waits.append(time.monotonic() - started)
        for reply in replies:
            refused(reply, 50300)
        expect(await site.admin.get("/api/health"))
        await eventually(partial(is_unready, site.admin), seconds=2)  # the previous state is cached for a second
    assert waits[0] < LIMIT_SECONDS, f"ten writes got responses after {waits[0]:.2f} s"
    await back(site)

    async def all_written() -> bool:
        return all([(await write(site.admin, batch, n)).code == 0 for n in range(10)])

    await eventually(all_written, seconds=10)
    rows = expect(await site.admin.get(f"{WIDGETS_AT}?batch={batch}&sort=name"))["items"]
    assert [row["name"] for row in rows] == [str(n) for n in range(10)]


async def test_killed_it_loses_nothing_that_was_acknowledged(site: Site, own_folder: Path) -> None:
    batch, acknowledged = unique("batch"), set()
    pid = await mongod_of(site, own_folder)
    killed = asyncio.Event()

    async def writer(name: str) -> None:
        for n in range(10_000):
            reply = await site.admin.post(WIDGETS_AT, {"name": f"{name}-{n}", "batch": batch})
            if reply.code:
                refused(reply, 50300)
                return
            acknowledged.add(reply.data["id"])
            if len(acknowledged) > 50 and not killed.is_set():
                os.kill(pid, signal.SIGKILL)
                killed.set()

    await asyncio.gather(*(writer(name) for name in "abcd"))
    await back(site)
    found: set[str] = set()
    page = expect(await site.admin.get(f"{WIDGETS_AT}?batch={batch}&page_size=200"))
    found |= {row["id"] for row in page["items"]}
    while page["next_cursor"]:
        page = expect(await site.admin.get(f"{WIDGETS_AT}?batch={batch}&page_size=200&cursor={page['next_cursor']}"))
        found |= {row["id"] for row in page["items"]}
    assert len(acknowledged) > 50
    assert acknowledged <= found


async def test_after_it_was_killed_changes_are_heard_of_again(site: Site, own_folder: Path) -> None:
    role = await site.people.role(["probe:widget:list"])
    person = await Client(site.behind.url).log_in((await site.people.account([role]))["username"])
    os.kill(await mongod_of(site, own_folder), signal.SIGKILL)
    await back(site)
    expect(await person.get(WIDGETS_AT))

    async def taken_away() -> bool:
        return (await site.admin_beside.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": []})).code == 0

    async def is_gone() -> bool:
        return (await person.get(WIDGETS_AT)).code == 40300

    await eventually(taken_away, seconds=10)
    await eventually(is_gone, seconds=2)
