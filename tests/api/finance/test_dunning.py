"""The dunning list: as a plain sum over all entries says, for whatever parties there are."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest

from plugins.boot.runtime import Running
from plugins.finance import dunning
from plugins.finance.entries import ENTRIES, FOREIGN, mark_settled
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.testing import Client, expect, unique
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.accounts_of_parties import billed, new_customer, paid
from tests.api.finance.books import AT, Books
from tests.support.query_plans import profiled

pytestmark = pytest.mark.gen_test(timeout=60)
Record = dict[str, Any]
# nothing is entered after the last two
DAYS = ("2026-01-31", "2026-02-02", "2026-03-02", "2026-06-01", "2031-01-01", "2031-01-02")


async def planned(admin: Client) -> None:
    """A contract of three parts, of which the first is paid and two fall due on one day."""
    made = await in_force(admin, "90.00", signed_date="2026-01-01")
    for amount, due in (("40.00", "2026-02-01"), ("30.00", "2026-03-01"), ("20.00", "2026-03-01")):
        expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": amount, "due_date": due}))
    paid_part = {"contract_id": made["id"], "amount": "40.00", "paid_at": "2026-02-20T04:00:00Z"}
    expect(await admin.post(PAYMENTS, paid_part))


async def some_of_each(admin: Client) -> Record:
    """Parties with and without a customer; that which has paid too much of one invoice and nothing of others."""
    books = await Books.fresh(admin)
    both = await new_customer(admin)
    for amount, due in (("100.00", "2026-02-01"), ("20.00", "2026-01-15"), ("7.00", None), ("5.00", "2026-05-01")):
        await billed(admin, both, amount, "2026-01-02", due)
    credited = await billed(admin, both, "50.00", "2026-01-02", "2026-01-20")
    await paid(books, credited, "50.00", "2026-01-25")
    note = {"amount": "30.00", "day": "2026-02-01"}
    expect(await admin.post(f"{AT}/invoices/{credited['id']}/credit-notes", note))
    only_credit = await new_customer(admin)
    credited = await billed(admin, only_credit, "50.00", "2026-01-02", "2026-01-20")
    await paid(books, credited, "50.00", "2026-01-25")
    expect(await admin.post(f"{AT}/invoices/{credited['id']}/credit-notes", note))
    for name in (unique("晨光"), unique("远望")):
        for due in ("2026-01-20", "2026-02-20"):
            await paid(
                books, await billed(admin, {"counterparty": name}, "9.00", "2026-01-02", due), "2.00", "2026-03-01"
            )
    await planned(admin)
    return both


def model(rows: list[Record], on: str) -> dict[tuple[Any, ...], Record]:
    """What is past due by party, from all entries: amount, oldest due day, and what is past due of each item."""
    sums: dict[tuple[Any, ...], dict[Any, dict[str, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        due, item = row["due_on"], row["open_item_id"]
        if row["direction"] == "out" and row["day"] <= on and due is not None and due < on:
            nameless = row["customer_id"] is None and row["supplier_id"] is None
            party = (row["customer_id"], row["supplier_id"], row["counterparty"] if nameless else None)
            days = sums[party][item]
            days[due] = days.get(due, Decimal(0)) + row["amount"].to_decimal()
    found: dict[tuple[Any, ...], Record] = {}
    for party, items in sums.items():
        late = {item: {due: left for due, left in days.items() if left > 0} for item, days in items.items()}
        late = {item: days for item, days in late.items() if days}
        if late:
            found[party] = {
                "oldest": min(min(days) for days in late.values()),
                "amount": sum(sum(days.values()) for days in late.values()),
                "items": sorted((min(days), str(item), sum(days.values())) for item, days in late.items()),
            }
    return found


async def listed(admin: Client, on: str, size: int) -> tuple[list[Record], Record]:
    """All rows of the list of a day, read in pages, and the last page."""
    rows: list[Record] = []
    page: Record = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        query = {"day": on, "page_size": size, **({"cursor": page["next_cursor"]} if page["next_cursor"] else {})}
        page = expect(await admin.get(f"{AT}/dunning?{urlencode(query)}"))
        rows += page["items"]
    return rows, page


async def pay_a_part(admin: Client, party: Record, on: str) -> None:
    """Pay one cent of each open invoice of a customer."""
    books = await Books.fresh(admin)
    for item in expect(await admin.get(f"{AT}/receivables?{urlencode(party)}&biz_type=INVOICE"))["items"]:
        await paid(books, {"id": item["resource_id"]}, "0.01", on)


async def test_the_list_of_any_day_is_as_a_plain_sum_over_all_entries(
    admin: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, database = await some_of_each(admin), tradewind.service.database
    for step in (
        "entered",
        "marked",
        "paid in part",
        "marked again",
        "paid and marked by an older version",
        "many are not",
    ):
        if step.startswith("marked"):
            await mark_settled(tradewind.service)
        elif step.startswith("paid"):
            await pay_a_part(admin, both, "2026-03-01")
        if step.endswith("version"):
            await database.driver.update_many(ENTRIES.name, {"rest": None}, {"$set": {"settles": False}})
        if step == "many are not":
            monkeypatch.setattr(dunning, "_MOST_UNSUMMED", 0)
        entries = await tradewind.service.database.store(ENTRIES).find({})
        for on in DAYS:
            expected = model(entries, on)
            rows, page = await listed(admin, on, size=3)
            assert (page["total"], Decimal(page["amount"])) == (
                len(expected),
                sum((one["amount"] for one in expected.values()), Decimal(0)),
            )
            assert [row["oldest_due_on"] for row in rows] == sorted(one["oldest"] for one in expected.values())
            seen = sorted(
                (row["oldest_due_on"], row["days_overdue"], Decimal(row["amount"]), row["count"], shown_items(row))
                for row in rows
            )
            assert seen == sorted(
                (
                    one["oldest"],
                    (date.fromisoformat(on) - date.fromisoformat(one["oldest"])).days,
                    one["amount"],
                    len(one["items"]),
                    one["items"],
                )
                for one in expected.values()
            )
            assert {row["customer_id"] for row in rows} == {str(party[0]) if party[0] else None for party in expected}
            assert {row["counterparty"] for row in rows if row["customer_id"] is None} >= {
                party[2] for party in expected if party[2]
            }


def shown_items(row: Record) -> list[tuple[str, str, Decimal]]:
    return [(one["oldest_due_on"], one["open_item_id"], Decimal(one["amount"])) for one in row["items"]]


async def test_where_all_is_added_up_one_entry_of_each_document_is_read_by_an_index(
    admin: Client, tradewind: Running
) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-01-10", "2026-02-01")
    await paid(books, invoice, "30.00", "2026-02-15")
    await mark_settled(tradewind.service)
    database = tradewind.service.database
    async with profiled(database) as reads:
        page = expect(await admin.get(f"{AT}/dunning?day=2031-01-01&page_size=200"))
    sums = [read for read in reads if ENTRIES.name in read["ns"] and "aggregate" in read["command"]]
    foreign = [read for read in sums if "'currency': {'$gte'" in str(read["command"]["pipeline"])]
    assert [read["docsExamined"] <= await database.store(ENTRIES).count(FOREIGN) for read in foreign] == [True]
    sums = [read for read in sums if read not in foreign]
    assert len(sums) > 1
    assert all("'rest': {'$gt'" in str(read["command"]["pipeline"]) for read in sums)
    assert sums[0]["docsExamined"] == 0, (sums[0]["planSummary"], sums[0])
    assert [row["amount"] for row in page["items"] if row["customer_id"] == party["customer_id"]] == ["70.00"]


async def test_the_items_of_a_page_are_read_once_and_named(admin: Client, tradewind: Running) -> None:
    party = await new_customer(admin)
    numbers = [
        (await billed(admin, party, "9.00", "2026-01-02", due))["number"] for due in ("2026-01-20", "2026-01-21")
    ]
    async with profiled(tradewind.service.database) as reads:
        page = expect(await admin.get(f"{AT}/dunning?{urlencode({'day': '2031-01-01', **party})}"))
    (row,) = page["items"]
    assert [(item["number"], item["open_item_name"]) for item in row["items"]] == [(one, one) for one in numbers]
    assert len([read for read in reads if read["ns"].endswith(f".{OPEN_ITEMS.name}")]) == 1
