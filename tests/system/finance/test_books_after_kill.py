"""`kill -9` of the server, then of `mongod`, amid a thousand transactions: the ledgers agree, no write is lost."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from plugins.testing import Client, Reply, eventually, expect
from scripts.diagnosis.ledgers import differences
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.killable_site import attempt, site_at

pytestmark = pytest.mark.gen_test(timeout=120)
WRITERS, EACH = 8, 125
KILL_SERVER_AFTER, KILL_MONGOD_AFTER = 300, 600
Write = Callable[[int], Awaitable[Reply]]
Begin = Callable[[Client], Awaitable[Write]]
_months = itertools.count()


async def test_after_kills_the_ledgers_agree_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    async with site_at(tmp_path, "auth,rbac,inventory,finance") as site:
        admin = await Client(site.url).log_in("admin")
        driver = site.open_driver()

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
            await site.kill_mongod()

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
