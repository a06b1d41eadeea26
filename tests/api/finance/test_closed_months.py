"""A closed month does not change: what comes later is booked later, whatever it is and whatever date it bears."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import People, expect, serving
from tests.api.finance.closed_books import CRM, FINANCE, INVENTORY, OPEN_FROM, SECOND, TODAY, ClosedBooks, today

pytestmark = pytest.mark.gen_test(timeout=60)
DAY = SECOND + timedelta(days=4)


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClosedBooks]:
    """On a server of its own, so that nobody else meets its closed months."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("closed"))
    running = io_loop.run_sync(block.__aenter__)
    yield io_loop.run_sync(lambda: ClosedBooks.of(running, random.Random(7)), timeout=60)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_a_contract_signed_in_a_closed_month_is_booked_on_the_first_open_day(company: ClosedBooks) -> None:
    before = await company.figures()
    made = await company.contract(DAY, "submit", "approve")
    assert (made["signed_date"], made["booked_on"]) == (DAY.isoformat(), OPEN_FROM.isoformat())
    items = expect(await company.client.get(f"{FINANCE}/receivables?resource_id={made['id']}"))["items"]
    assert [(one["day"], one["booked_on"]) for one in items] == [(DAY.isoformat(), OPEN_FROM.isoformat())]
    assert await company.figures() == before


async def test_the_due_day_of_a_plan_moves_from_the_first_open_day_on(company: ClosedBooks) -> None:
    plans = expect(await company.client.get(f"{CRM}/payment-plans?page_size=200"))["items"]
    owed = expect(await company.client.get(f"{CRM}/contracts?status=in_force"))["items"]
    counted = {one["id"] for one in owed if one["signed_date"] < OPEN_FROM.isoformat()}
    planned = next(one for one in plans if one["contract_id"] in counted)
    before = await company.figures()
    moved = {"version": planned["version"], "due_date": TODAY.isoformat()}
    assert (
        expect(await company.client.patch(f"{CRM}/payment-plans/{planned['id']}", moved))["due_date"]
        == TODAY.isoformat()
    )
    assert await company.figures() == before


async def test_a_contract_ends_in_the_month_of_its_end(company: ClosedBooks) -> None:
    before, (now, count) = await company.figures(), await _agreed(company)
    listed = expect(await company.client.get(f"{CRM}/contracts?status=in_force&page_size=200"))["items"]
    ended = next(one for one in listed if one["booked_on"] < OPEN_FROM.isoformat())
    done = expect(await company.client.post(f"{CRM}/contracts/{ended['id']}/terminate", {"reason": "x"}))
    assert done["taken_off_on"] == today().isoformat()
    assert await company.figures() == before
    assert await _agreed(company) == (now - 100, max(count - 1, 0))  # no count is below zero


async def _agreed(company: ClosedBooks) -> tuple[Decimal, int]:
    row = expect(await company.client.get("/api/dashboard/contract-trend"))["items"][-1]
    return Decimal(row["amount"]), row["count"]


@pytest.mark.parametrize(
    ("kind", "action"), [("sales-orders", "confirm"), ("purchase-orders", "confirm"), ("purchase-orders", "submit")]
)
async def test_no_order_is_dated_into_a_closed_month(kind: str, action: str, company: ClosedBooks) -> None:
    order = await company.order(kind, DAY)
    refused = await company.client.post(f"{INVENTORY}/{kind}/{order['id']}/{action}")
    assert (refused.code, f"{DAY:%Y-%m}" in refused.json["msg"]) == (40901, True)


@pytest.mark.parametrize("kind", ["sales-orders", "purchase-orders"])
@pytest.mark.parametrize("action", ["return", "cancel", "close", "revise"])
async def test_what_becomes_less_of_an_order_is_less_in_the_month_of_that(
    kind: str, action: str, company: ClosedBooks
) -> None:
    before, traded = await company.figures(), await _traded(company)
    shipped = {
        "sales-orders": ("deliveries", "partly_delivered", "confirmed"),
        "purchase-orders": ("receipts", "partly_received", "ordered"),
    }
    at, partly, whole = shipped[kind]
    order = await _ordered(company, kind, whole if action == "cancel" else partly)
    if action == "return":
        shipment = expect(await company.client.get(f"{INVENTORY}/{at}?order_id={order['id']}"))["items"][0]
        expect(await company.client.post(f"{INVENTORY}/{at}/{shipment['id']}/returns"))
    elif action == "revise":
        lines = [{"line": line["line"], "quantity": "5"} for line in order["lines"]]
        body = {"version": order["version"], "reason": "less", "lines": lines, "terms_days": 77}
        made = expect(await company.client.post(f"{INVENTORY}/{kind}/{order['id']}/revise", body))
        if made.get("status") == "draft":  # other terms of a purchase are approved
            expect(await company.client.post(f"{INVENTORY}/purchase-order-revisions/{made['id']}/confirm"))
    else:
        expect(await company.client.post(f"{INVENTORY}/{kind}/{order['id']}/{action}"))
    assert await company.figures() == before
    less = {"return": 40, "cancel": 100, "revise": 50, "close": 60}[action]
    name = "sales" if kind == "sales-orders" else "purchase"
    after = await _traded(company)
    assert {one: traded[one] - after[one] for one in after} == {"sales": 0, "purchase": 0, name: less}
    if action == "cancel":
        expect(await company.client.delete(f"{INVENTORY}/{kind}/{order['id']}"), 40901)


async def _ordered(company: ClosedBooks, kind: str, status: str) -> dict[str, Any]:
    """An order of the closed months of which nothing came back."""
    found = expect(await company.client.get(f"{INVENTORY}/{kind}?status={status}&page_size=200"))["items"]
    return next(
        one
        for one in found
        if one["ordered_on"] < OPEN_FROM.isoformat() and not Decimal(one["returned_amount"] or 0) and not one["on_hold"]
    )


async def _traded(company: ClosedBooks) -> dict[str, Decimal]:
    row = expect(await company.client.get("/api/dashboard/sales-vs-purchase"))["items"][-1]
    return {name: Decimal(row[name]) for name in ("sales", "purchase")}


async def test_whoever_closes_a_month_sees_what_is_left_in_it_and_each_count_leads_to_its_rows(
    company: ClosedBooks,
) -> None:
    at = f"{FINANCE}/periods/{SECOND:%Y-%m}/close"
    claim = await company.books.claim()
    advance = {"direction": "in", "account_id": company.books.account_id, "amount": "7.00"}
    expect(await company.client.post(f"{FINANCE}/payments", {**advance, "customer_id": company.parties["customer_id"]}))
    english = {"Accept-Language": "en"}
    left = {one["list"]: one for one in expect(await company.client.get(at, headers=english))["left"]}
    drafts = {"finance.invoices", "inventory.sales-orders", "inventory.purchase-orders", "crm.contracts"}
    assert {*left} == {*drafts, "finance.unbilled"}  # the claim and the payment are of this month
    for one in left.values():
        found = expect(await company.client.get(f"{one['path']}&page_size=200"))
        assert (found["total"], one["count"] > 0) == (one["count"], True)
        assert {row.get("status") for row in found["items"]} <= {"draft", "pending", None}
    assert left["crm.contracts"]["title"] == "Contracts: Draft, Pending approval"
    assert (left["crm.contracts"]["count"], left["crm.contracts"]["amount"]) == (2, "200.00")
    now = expect(await company.client.get(f"{FINANCE}/periods/{TODAY:%Y-%m}/close"))["left"]
    counts = {one["list"]: (one["count"], one["amount"]) for one in now}
    assert (counts["finance.expense-claims"], counts["finance.payments"]) == ((1, claim["amount"]), (1, "7.00"))


async def test_nobody_is_told_of_lists_that_they_may_not_see(company: ClosedBooks) -> None:
    closer = await People(company.client).person(["finance:period:close", "finance:invoice:list"], scope="all")
    left = expect(await closer.get(f"{FINANCE}/periods/{SECOND:%Y-%m}/close"))["left"]
    assert {one["list"] for one in left} == {"finance.invoices"}
    expect(await closer.get(f"{FINANCE}/periods/2026-13/close"), 40400)


async def test_no_write_changes_a_figure_of_a_closed_month(company: ClosedBooks) -> None:
    # the last test here: it leaves little for others
    before = await company.figures()
    done: set[str] = set()
    for _ in range(300):
        route, reply = await company.write()
        assert reply.code < 50000, (route.path, reply.code)
        done |= {f"{route.method} {route.path}"} if reply.code == 0 else set()
    after = await company.figures()
    assert [path for path in before if after[path] != before[path]] == []
    # most are refused, but not all
    assert len(done) > 30, done
