"""Ageing and the dunning list: what is open on any day, also in the past, by how long it is past due."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings, strategies as some
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.finance.entries import mark_settled
from plugins.testing import Client, People, expect
from tests.api.crm.sales import PAYMENTS, PLANS, customer, in_force
from tests.api.finance.accounts_of_parties import BUCKETS, aged, ageing, billed, dunned, new_customer, paid
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=60)
DUE = date(2026, 3, 1)
Invoice = tuple[int, int, int, list[tuple[int, int]]]


@pytest.mark.parametrize(
    ("days", "bucket"),
    [(-1, 0), (0, 0), (1, 1), (30, 1), (31, 2), (60, 2), (61, 3), (90, 3), (91, 4), (3000, 4)],
)
async def test_what_is_open_is_in_the_bucket_of_its_days_past_due(days: int, bucket: int, admin: Client) -> None:
    party = await new_customer(admin)
    await billed(admin, party, "80.00", "2026-01-01", DUE.isoformat())
    expected = ["0.00"] * len(BUCKETS)
    expected[bucket] = "80.00"
    assert await aged(admin, party, (DUE + timedelta(days=days)).isoformat()) == tuple(expected)


async def test_a_past_day_shows_what_was_open_then(admin: Client) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-02-01", "2026-03-01")
    await paid(books, invoice, "30.00", "2026-03-10")
    await paid(books, invoice, "70.00", "2026-04-20")
    assert await ageing(admin, party, "2026-01-31") is None
    assert await aged(admin, party, "2026-03-09") == ("0.00", "100.00", "0.00", "0.00", "0.00")
    assert await aged(admin, party, "2026-03-10") == ("0.00", "70.00", "0.00", "0.00", "0.00")
    assert await aged(admin, party, "2026-04-19") == ("0.00", "0.00", "70.00", "0.00", "0.00")
    assert await ageing(admin, party, "2026-04-20") is None


async def test_a_reversed_payment_is_open_again_from_the_day_of_its_reversal(admin: Client) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-02-01", "2026-03-01")
    await paid(books, invoice, "100.00", "2026-02-10")
    expect(await books.reverse((await books.vouchers())[0], day="2026-02-20"))
    assert await ageing(admin, party, "2026-02-19") is None
    assert await aged(admin, party, "2026-02-20") == ("100.00", "0.00", "0.00", "0.00", "0.00")


async def test_each_part_of_a_contract_is_due_on_its_own_day(admin: Client) -> None:
    made = await in_force(admin, "100.00", signed_date="2026-01-01")
    party = {"customer_id": made["customer_id"]}
    plans = []
    for amount, due in (("60.00", "2026-03-01"), ("30.00", "2026-05-01")):
        body = {"contract_id": made["id"], "amount": amount, "due_date": due}
        plans.append(expect(await admin.post(PLANS, body)))
    assert await aged(admin, party, "2026-05-31") == ("10.00", "30.00", "0.00", "0.00", "60.00")
    body = {"contract_id": made["id"], "plan_id": plans[1]["id"], "amount": "30.00", "paid_at": "2026-04-01T04:00:00Z"}
    expect(await admin.post(PAYMENTS, body))
    assert await aged(admin, party, "2026-05-31") == ("10.00", "0.00", "0.00", "0.00", "60.00")
    assert await aged(admin, party, "2026-03-31") == ("40.00", "60.00", "0.00", "0.00", "0.00")


async def test_a_payment_that_names_no_part_pays_the_earliest(admin: Client) -> None:
    made = await in_force(admin, "100.00", signed_date="2026-01-01")
    for amount, due in (("60.00", "2026-03-01"), ("40.00", "2026-05-01")):
        expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": amount, "due_date": due}))
    body = {"contract_id": made["id"], "amount": "70.00", "paid_at": "2026-02-01T04:00:00Z"}
    expect(await admin.post(PAYMENTS, body))
    party = {"customer_id": made["customer_id"]}
    assert await aged(admin, party, "2026-05-31") == ("0.00", "30.00", "0.00", "0.00", "0.00")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={made['id']}"))["items"]
    assert item["due_on"] == "2026-05-01"


async def test_what_we_owe_suppliers_ages_by_itself(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3, "4.00")
    expect(await goods.receive(order))
    party = {"supplier_id": order["supplier_id"]}
    row = await ageing(admin, party, "2030-01-01", "payable")
    assert row is not None
    assert (row["total"], row["current"], bool(row["supplier_name"])) == ("12.00", "12.00", True)
    assert await ageing(admin, party, "2030-01-01") is None


async def test_the_totals_are_the_sums_of_all_rows(admin: Client) -> None:
    await billed(admin, await new_customer(admin), "80.00", "2026-01-01", "2026-02-01")
    await billed(admin, {}, "5.00", "2026-01-01", "2026-02-01")
    rows, cursor = [], ""
    while cursor is not None:
        query = {"kind": "receivable", "day": "2026-12-31", "page_size": 2, **({"cursor": cursor} if cursor else {})}
        page = expect(await admin.get(f"{AT}/ageing?{urlencode(query)}"))
        rows, cursor = rows + page["items"], page["next_cursor"]
    assert len(rows) == page["total"]
    for name in (*BUCKETS, "total"):
        assert sum(Decimal(row[name]) for row in rows) == Decimal(page["totals"][name])


async def test_a_contact_with_a_mobile_phone_alone_is_called_there(admin: Client) -> None:
    who = await customer(admin, phone="021-5555 0199")
    contact = {"customer_id": who["id"], "name": "Anna", "is_primary": True, "mobile": "13800138000"}
    expect(await admin.post("/api/v1/crm/contacts", contact))
    await billed(admin, {"customer_id": who["id"]}, "80.00", "2026-01-01", "2026-02-01")
    row = await dunned(admin, {"customer_id": who["id"]}, "2026-02-21")
    assert row is not None
    assert (row["contact"]["name"], row["contact"]["phone"]) == ("Anna", "13800138000")


async def test_the_dunning_list_names_what_is_past_due_and_whom_to_call(admin: Client) -> None:
    who = await customer(admin, phone="021-5555 0199")
    party = {"customer_id": who["id"]}
    late = await billed(admin, party, "80.00", "2026-01-01", "2026-02-01")
    later = await billed(admin, party, "20.00", "2026-01-01", "2026-02-11")
    await billed(admin, party, "7.00", "2026-01-01", "2026-12-01")
    row = await dunned(admin, party, "2026-02-21")
    assert row is not None
    shown = (row["amount"], row["oldest_due_on"], row["days_overdue"], row["count"], row["contact"]["phone"])
    assert shown == ("100.00", "2026-02-01", 20, 2, "021-5555 0199")
    assert [(one["number"], one["days_overdue"]) for one in row["items"]] == [
        (late["number"], 20),
        (later["number"], 10),
    ]
    assert await dunned(admin, party, "2026-02-01") is None


async def test_people_see_what_they_can_list(admin: Client, people: People) -> None:
    codes = ["finance:invoice:create", "finance:invoice:confirm", "finance:ageing:read", "finance:statement:read"]
    mine, others = [await people.person(codes, "self") for _ in range(2)]
    await billed(mine, {"counterparty": "only mine"}, "3.00", "2026-01-01", "2026-02-01")
    path = f"{AT}/ageing?kind=receivable&day=2026-02-02"
    assert [row["counterparty"] for row in expect(await mine.get(path))["items"]] == ["only mine"]
    assert expect(await others.get(path))["items"] == []


INVOICES = some.lists(
    some.tuples(
        some.integers(0, 200),
        some.integers(0, 200),
        some.integers(1, 100),
        some.lists(some.tuples(some.integers(0, 200), some.integers(1, 30)), max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def model(invoices: list[Invoice], asked: int) -> dict[str, Decimal]:
    """What is open on a day, in the buckets of their due days."""
    sums = dict.fromkeys(BUCKETS, Decimal(0))
    for arose, due, amount, payments in invoices:
        if arose <= asked:
            days = asked - due
            place = 0 if days <= 0 else min((days - 1) // 30 + 1, 4)
            sums[BUCKETS[place]] += amount - sum(part for day, part in payments if day <= asked)
    return sums


def test_any_day_is_as_a_model_of_ten_lines_says(io_loop: IOLoop, admin: Client, tradewind: Running) -> None:
    start = date(2026, 1, 1)
    books = io_loop.run_sync(lambda: Books.fresh(admin))

    def at(number: int) -> str:
        return (start + timedelta(days=number)).isoformat()

    async def check(invoices: list[Invoice], asked: int) -> None:
        party, kept = await new_customer(admin), []
        for arose, due, amount, payments in invoices:
            invoice = await billed(admin, party, f"{amount}.00", at(arose), at(due))
            taken: list[tuple[int, int]] = []
            for day, part in payments:
                # nothing is paid before it is owed, or beyond it
                if day >= arose and part <= amount - sum(one for _, one in taken):
                    await paid(books, invoice, f"{part}.00", at(day))
                    taken.append((day, part))
            kept.append((arose, due, amount, taken))
        rows = await asyncio.gather(*(ageing(admin, party, at(day)) for day in (asked, 300)))
        for row, day in zip(rows, (asked, 300), strict=True):
            found: dict[str, Any] = row or dict.fromkeys(BUCKETS, "0")
            assert {name: Decimal(found[name]) for name in BUCKETS} == model(kept, day)
        # sums leave out what is marked as settled
        await mark_settled(tradewind.service)
        assert list(await asyncio.gather(*(ageing(admin, party, at(day)) for day in (asked, 300)))) == list(rows)

    @settings(max_examples=15, deadline=None, derandomize=True)
    @given(INVOICES, some.integers(0, 400))
    def example(invoices: list[Invoice], asked: int) -> None:
        io_loop.run_sync(lambda: check(invoices, asked), timeout=30)

    example()
