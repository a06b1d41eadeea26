"""The audit of the ledgers: what it finds, whom it tells, and that neither writers nor kills confuse it."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from tornado.ioloop import IOLoop

from config.database import Driver, open_driver
from handlers.data.database import utc_now
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.finance.audits import audits_of
from plugins.testing import Client, People, eventually, expect, serving
from tests.api.crm.sales import PAYMENTS, in_force
from tests.api.finance.audit_runs import AUDIT, Damage, audited, every_damage, found_in, undo
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.server_process import environment, server_process, spawn

pytestmark = pytest.mark.gen_test(timeout=60)
WRITERS, EACH = 50, 3
MANY = 4000


@dataclass
class Site:
    """A server of its own, because other tests change stored records by hand."""

    running: Running
    admin: Client
    people: People

    @property
    def driver(self) -> Driver:
        """The driver of its database."""
        return self.running.service.database.driver


@pytest.fixture(scope="module")
def site(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An empty company."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("audit"))
    running = io_loop.run_sync(block.__aenter__)
    admin: Client = io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    yield Site(running, admin, People(admin))
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_payments_without_an_account_are_information_and_no_difference(site: Site) -> None:
    contract = await in_force(site.admin)
    before = (await audited(site.admin))["informations"]
    expect(await site.admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": "1.25"}))
    (information,) = (await audited(site.admin))["informations"]
    counted = next((one["count"] for one in before), 0)
    assert (information["check"], information["count"]) == ("crm-payments", counted + 1)


@dataclass
class Damaged:
    """What the audit says before every damage is done, with it done, and with all of it undone."""

    done: dict[str, Damage]
    before: dict[str, Any]
    result: dict[str, Any]
    after: dict[str, Any]


@pytest.fixture(scope="module")
def damaged(io_loop: IOLoop, site: Site) -> Damaged:
    """Do every damage, let the audit run, and undo it."""

    async def run() -> Damaged:
        done = await every_damage(site.admin)
        clean = await audited(site.admin)
        before = [(one.collection, await one.do(site.driver)) for one in done.values()]
        try:
            result = await audited(site.admin)
        finally:
            for collection, record in reversed(before):
                await undo(site.driver, collection, record)
        return Damaged(done, clean, result, await audited(site.admin))

    made: Damaged = io_loop.run_sync(run, timeout=60)
    return made


def test_a_clean_company_has_no_differences(damaged: Damaged, site: Site) -> None:
    result = damaged.before
    assert (result["total"], result["differences"]) == (0, [])
    assert result["records"] > 50
    assert [one["check"] for one in result["checks"]] == [one.name for one in audits_of(site.running.catalogue)]


def test_each_of_forty_damages_is_found_with_its_document(damaged: Damaged) -> None:
    assert len(damaged.done) >= 40
    found = found_in(damaged.result)
    assert {name: one.found - found for name, one in damaged.done.items() if one.found - found} == {}


def test_nothing_else_is_found(damaged: Damaged) -> None:
    expected = frozenset[Any]().union(*(one.found for one in damaged.done.values()))
    assert found_in(damaged.result) - expected == set()


def test_what_was_repaired_is_found_no_more(damaged: Damaged) -> None:
    assert damaged.after["differences"] == []


def test_a_difference_is_described_in_words_and_amounts(damaged: Damaged) -> None:
    balance = next(one for one in damaged.result["differences"] if one["check"] == "finance-accounts")
    assert balance["collection"] == "finance_accounts"
    assert balance["number"].startswith("ACC-")
    assert balance["found"] != balance["expected"]
    assert balance["number"] in balance["message"]


async def test_an_audit_is_for_those_with_the_permission(site: Site) -> None:
    reader, other = await site.people.person(["finance:audit:read"]), await site.people.person(["finance:account:list"])
    expect(await reader.get(AUDIT))
    expect(await reader.post(f"{AUDIT}/run"), 40300)
    expect(await other.get(AUDIT), 40300)


async def notices(client: Client) -> int:
    """How many notices of differences the inbox has."""
    query = "/api/v1/notifications?kind=ledger_difference&page_size=200"
    return len(expect(await client.get(query))["items"])


async def test_new_differences_are_reported_once_to_those_who_can_read_them(site: Site) -> None:
    reader, other = await site.people.person(["finance:audit:read"]), await site.people.person(["finance:account:list"])
    books = [await Books.fresh(site.admin) for _ in range(2)]
    told = []
    for book in books:
        await site.driver.update_one(
            "finance_accounts", {"_id": ObjectId(book.account_id)}, {"$set": {"balance": Decimal128("1.00")}}
        )
        for _ in range(2):
            await audited(site.admin)
            told.append(await notices(reader))
    for book in books:
        await site.driver.update_one(
            "finance_accounts", {"_id": ObjectId(book.account_id)}, {"$set": {"balance": Decimal128("0.00")}}
        )
    await audited(site.admin)
    assert (told, await notices(reader), await notices(other)) == ([1, 1, 2, 2], 2, 0)


async def test_monitoring_reads_the_differences_and_the_age_of_the_last_run(site: Site) -> None:
    await audited(site.admin)
    text = (await Client(site.running.url).get("/metrics")).body.decode()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("tradewind_ledger"))
    assert lines['tradewind_ledger_differences{check="finance-accounts"}'] == "0.0"
    assert float(lines["tradewind_ledger_audit_age_seconds"]) < 30


async def test_what_is_booked_meanwhile_is_no_difference(site: Site) -> None:
    books, goods = await Books.fresh(site.admin), await Goods.stocked(site.admin, 1000)
    other, contract = await goods.warehouse(), await in_force(site.admin, "1000000.00")
    writing, runs = True, []

    async def write(number: int) -> None:
        for _ in range(EACH):
            if number % 4 == 0:
                expect(await books.book("income", "1.00"))
            elif number % 4 == 1:
                expect(await goods.transfer(other, 1))
            elif number % 4 == 2:
                expect(await site.admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": "1.00"}))
            else:
                expect(await books.pay_invoice(await books.invoice()))

    async def watch() -> None:
        while writing:
            runs.append(await audited(site.admin, seconds=120))

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(write(number) for number in range(WRITERS)))
    writing = False
    await watching
    assert [one["differences"] for one in runs] == [[]] * len(runs)


async def test_many_differences_are_counted_listed_in_part_and_take_little_memory(site: Site) -> None:
    now = utc_now()
    common = {
        "deleted": False,
        "contract_id": ObjectId(),
        "plan_id": None,
        "amount": Decimal128("1.00"),
        "created_at": now,
    }
    rows = [{"_id": ObjectId(), "remark": "x" * 500, **common} for _ in range(MANY)]
    ids = [row["_id"] for row in rows]
    await site.driver.insert("crm_payments", rows)
    del rows
    tracemalloc.start()
    try:
        result = await audited(site.admin, seconds=120)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        await site.driver.delete_many("crm_payments", {"_id": {"$in": ids}})
    assert (result["total"], len(result["differences"])) == (MANY, 100)
    assert peak < 12 << 20


async def test_a_run_goes_on_after_a_kill_and_counts_nothing_twice(mongodb_uri: str, tmp_path: Path) -> None:
    quick = {"PLUGINS": "auth,rbac,finance", "FINANCE_AUDIT_RESUME_SECONDS": "0.5"}
    env = environment(mongodb_uri, tmp_path / "data", **quick)
    driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 5000)
    killed = spawn(env, tmp_path / "first")
    try:
        admin = await Client(await killed.url()).log_in("admin")
        drafts = [{"_id": ObjectId(), "deleted": False, "number": f"EX-{number}"} for number in range(MANY // 2)]
        await driver.insert("finance_expense_claims", drafts)
        whole = await audited(admin)
        expect(await admin.post(f"{AUDIT}/run"))

        async def halfway() -> bool:
            return ((await driver.find_one("finance_audits", {"_id": "run"})) or {})["records"] > 0

        await eventually(halfway, every=0.002)
    finally:
        killed.process.kill()
        killed.process.wait()
    left = await driver.find_one("finance_audits", {"_id": "run"})
    await driver.close()
    assert left is not None
    assert 0 < left["records"] < whole["records"]
    async with server_process(env, tmp_path / "second") as server:
        admin = await Client(await server.url()).log_in("admin")

        async def ended() -> dict[str, Any] | None:
            result: dict[str, Any] = expect(await admin.get(AUDIT))
            return result if result["checked_at"] != whole["checked_at"] else None

        after = await eventually(ended, seconds=20)
        assert (after["records"], after["differences"]) == (whole["records"], [])


async def test_an_audit_runs_by_itself(mongodb_uri: str, tmp_path: Path) -> None:
    often = {"finance_audit_seconds": 0.1, "finance_audit_resume_seconds": 0.2}
    async with serving(mongodb_uri, tmp_path, load_plugins(("auth", "rbac", "finance")), **often) as running:
        admin = await Client(running.url).log_in("admin")

        async def ran() -> bool:
            return expect(await admin.get(AUDIT))["checked_at"] is not None

        await eventually(ran, seconds=10)
