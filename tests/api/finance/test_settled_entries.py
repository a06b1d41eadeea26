"""Marks of settled entries: sums leave these entries out, and are the same on every day as with them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from plugins.api.business import Books as KeptBooks
from plugins.api.data import new_id
from plugins.boot.runtime import Running
from plugins.finance.entries import ENTRIES, mark_settled
from plugins.testing import Client, expect
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.accounts_of_parties import aged, ageing, billed, dunned, new_customer, paid
from tests.api.finance.books import AT, Books
from tests.support.query_plans import profiled

pytestmark = pytest.mark.gen_test(timeout=60)
Mark = tuple[str, str, str | None]


def of_customer(party: dict[str, Any]) -> dict[str, Any]:
    return {"customer_id": ENTRIES.parse_id(party["customer_id"])}


async def marks(running: Running, party: dict[str, Any]) -> list[Mark]:
    """The entries of a customer after a run of the job: kind, day, and the day on which they were settled."""
    await mark_settled(running.service)
    rows = await running.service.database.store(ENTRIES).find(of_customer(party), sort="day,id")
    assert {row["settles"] for row in rows} == {False}
    for key in {(row["open_item_id"], row["resource_id"], row["due_on"]) for row in rows}:
        group = [row for row in rows if (row["open_item_id"], row["resource_id"], row["due_on"]) == key]
        rests = [row["rest"].to_decimal() for row in group]
        assert (sum(rests), sum(map(bool, rests)) <= 1) == (sum(row["amount"].to_decimal() for row in group), True)
    return [(row["kind"], row["day"], row["settled_on"]) for row in rows]


async def test_entries_are_settled_by_the_last_of_those_that_add_up_to_zero(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-01-10", "2026-02-01")
    await paid(books, invoice, "30.00", "2026-02-15")
    assert await marks(tradewind, party) == [("owed", "2026-01-10", None), ("paid", "2026-02-15", None)]
    await paid(books, invoice, "70.00", "2026-03-20")
    assert [settled for _, _, settled in await marks(tradewind, party)] == ["2026-03-20"] * 3
    assert await aged(admin, party, "2026-03-19") == ("0.00", "0.00", "70.00", "0.00", "0.00")
    assert await ageing(admin, party, "2026-03-20") is None
    assert await dunned(admin, party, "2026-03-20") is None
    overdue = await dunned(admin, party, "2026-02-14")
    assert overdue is not None
    assert overdue["amount"] == "100.00"


async def test_ageing_reads_the_entries_as_they_are_at_one_moment(admin: Client, tradewind: Running) -> None:
    party = await new_customer(admin)
    async with profiled(tradewind.service.database) as reads:
        await ageing(admin, party, "2026-02-15")
    (sent,) = (read["command"] for read in reads if ENTRIES.name in read["ns"])
    assert sent["startTransaction"]


async def test_what_is_open_again_after_a_reversal_is_so_on_every_day(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-02-01", "2026-03-01")
    await paid(books, invoice, "100.00", "2026-02-10")
    await marks(tradewind, party)
    expect(await books.reverse((await books.vouchers())[0], day="2026-02-20"))
    days = ("2026-01-31", "2026-02-01", "2026-02-09", "2026-02-10", "2026-02-12", "2026-02-19", "2026-02-20")
    open_then = [(await aged(admin, party, day))[0] for day in days]
    assert open_then == ["0.00", "100.00", "100.00", "0.00", "0.00", "0.00", "100.00"]
    assert {settled for _, _, settled in await marks(tradewind, party)} == {"2026-02-10", None}
    await paid(books, invoice, "100.00", "2026-02-12")  # dated before the reversal
    open_then = [(await aged(admin, party, day))[0] for day in days]
    assert {settled for _, _, settled in await marks(tradewind, party)} == {"2026-02-10", "2026-02-20"}
    assert [(await aged(admin, party, day))[0] for day in days] == open_then


async def test_each_part_of_a_contract_is_settled_by_itself(admin: Client, tradewind: Running) -> None:
    made = await in_force(admin, "90.00", signed_date="2026-01-01")
    party = {"customer_id": made["customer_id"]}
    for amount, due in (("60.00", "2026-03-01"), ("30.00", "2026-05-01")):
        expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": amount, "due_date": due}))
    body = {"contract_id": made["id"], "amount": "60.00", "paid_at": "2026-04-01T04:00:00Z"}
    expect(await admin.post(PAYMENTS, body))
    settled = [day for _, _, day in await marks(tradewind, party)]
    assert ("2026-04-01" in settled, None in settled) == (True, True)
    assert await aged(admin, party, "2026-06-10") == ("0.00", "0.00", "30.00", "0.00", "0.00")


async def test_an_advance_is_settled_when_all_of_it_is_allocated(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    body = {"direction": "in", "account_id": books.account_id, "amount": "50.00", "day": "2026-01-05", **party}
    advance = expect(await admin.post(f"{AT}/payments", body))
    assert await marks(tradewind, party) == [("advance", "2026-01-05", None)]
    invoice = await billed(admin, party, "50.00", "2026-01-10", "2026-02-01")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={invoice['id']}"))["items"]
    allocation = {"allocations": [{"open_item_id": item["id"], "amount": "50.00"}], "day": "2026-01-20"}
    expect(await admin.post(f"{AT}/payments/{advance['id']}/allocations", allocation))
    assert {settled for _, _, settled in await marks(tradewind, party)} == {"2026-01-20"}


async def test_what_a_customer_owes_is_the_same_without_the_settled_entries(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    await paid(books, await billed(admin, party, "100.00", "2026-01-10", "2026-02-01"), "100.00", "2026-02-15")
    await paid(books, await billed(admin, party, "80.00", "2026-01-10", "2026-02-01"), "30.00", "2026-02-15")
    body = {"direction": "in", "account_id": books.account_id, "amount": "5.00", "day": "2026-01-05", **party}
    expect(await admin.post(f"{AT}/payments", body))

    async def owed() -> Decimal:
        return await tradewind.service.part(KeptBooks).find_owed(of_customer(party)["customer_id"])

    assert await owed() == Decimal(45)
    assert len([day for _, _, day in await marks(tradewind, party) if day is not None]) == 2
    assert await owed() == Decimal(45)


async def test_entries_of_an_older_version_are_marked_too(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    await paid(books, await billed(admin, party, "100.00", "2026-01-10", None), "100.00", "2026-02-15")
    unset = {"$unset": {"settles": "", "settled_on": "", "rest": ""}}
    await tradewind.service.database.driver.update_many(ENTRIES.name, of_customer(party), unset)
    assert (await aged(admin, party, "2026-02-14"), await ageing(admin, party, "2026-02-15")) == (
        ("100.00", "0.00", "0.00", "0.00", "0.00"),
        None,
    )
    assert {settled for _, _, settled in await marks(tradewind, party)} == {"2026-02-15"}


async def test_the_entries_of_documents_are_read_by_the_index_of_these(admin: Client, tradewind: Running) -> None:
    party, database = await new_customer(admin), tradewind.service.database
    await billed(admin, party, "100.00", "2026-01-10", None)
    await mark_settled(tradewind.service)
    one = await database.driver.find_one(ENTRIES.name, of_customer(party))
    assert one is not None
    # an older version wrote them all, so those that are found first lie together in other indexes too
    copies = [{**one, "_id": new_id(), "open_item_id": new_id(), "settles": None, "rest": None} for _ in range(300)]
    await database.driver.insert(ENTRIES.name, copies)
    try:
        async with profiled(database) as reads:
            await mark_settled(tradewind.service)
        of_documents = [read for read in reads if ENTRIES.name in read["ns"] and "aggregate" in read["command"]]
        assert len(of_documents) >= 3
        items, advances = (f"IXSCAN {{ deleted: 1, {name}: 1, _id: 1 }}" for name in ("open_item_id", "resource_id"))
        # there are no advances among them, and a server may know that
        assert {items} <= {read["planSummary"] for read in of_documents} <= {items, advances, "EOF"}
    finally:
        await database.driver.delete_many(ENTRIES.name, {"_id": {"$in": [copy["_id"] for copy in copies]}})
