"""Revisions of confirmed orders over HTTP: what may change, what is settled, what follows, and the versions that stay."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect, unique
from tests.api.approval.flows import EVERYTHING, INSTANCES, act, define, node, read as follow, several
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
SALES, PURCHASES, REVISIONS = f"{AT}/sales-orders", f"{AT}/purchase-orders", f"{AT}/purchase-order-revisions"
FINANCE = "/api/v1/finance"
SIDES = pytest.mark.parametrize("at", [SALES, PURCHASES], ids=["sale", "purchase"])


async def ordered(goods: Goods, *lines: dict[str, Any], at: str = SALES, **terms: Any) -> dict[str, Any]:
    """A confirmed order with these lines of the goods."""
    party = {"customer_name": "somebody"} if at == SALES else {"supplier_id": await goods.supplier()}
    made = [{"product_id": goods.product_id, "quantity": "10", "price": "3.00", **line} for line in lines or ({},)]
    body = {"warehouse_id": goods.warehouse_id, "lines": made, **party, **terms}
    draft = expect(await goods.client.post(at, body))
    confirmed: dict[str, Any] = expect(await goods.client.post(f"{at}/{draft['id']}/confirm"))
    return confirmed


async def revise(client: Client, order: dict[str, Any], *lines: dict[str, Any], **terms: Any) -> Reply:
    """Revise an order: with these lines, or only its terms."""
    at = SALES if "customer_name" in order else PURCHASES
    body = {"version": order["version"], "reason": "the customer asked", **terms}
    return await client.post(f"{at}/{order['id']}/revise", body | ({"lines": [*lines]} if lines else {}))


async def read(client: Client, order: dict[str, Any]) -> dict[str, Any]:
    at = SALES if "customer_name" in order else PURCHASES
    found: dict[str, Any] = expect(await client.get(f"{at}/{order['id']}"))
    return found


async def ship(goods: Goods, order: dict[str, Any], *lines: dict[str, Any]) -> dict[str, Any]:
    at, action = (SALES, "deliver") if "customer_name" in order else (PURCHASES, "receive")
    body = {"lines": [*lines]} if lines else {}
    shipped: dict[str, Any] = expect(await goods.client.post(f"{at}/{order['id']}/{action}", body))
    return shipped


async def item_of(client: Client, order: dict[str, Any]) -> dict[str, Any]:
    """What is owed for an order, and still to come."""
    kind = "receivables" if "customer_name" in order else "payables"
    listed = f"{FINANCE}/{kind}?resource_id={order['id']}&status=planned,open,partly_paid,paid"
    (item,) = expect(await client.get(listed))["items"]
    return dict(item)


async def test_a_revision_changes_lines_and_terms_and_keeps_the_version_before(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await ordered(goods, {"tax_rate": "0.13"}, {"quantity": "1"}, terms_days=30, freight="5.00")
    assert order["revision"] is None
    lines = ({"line": 1, "quantity": "8", "price": "2.50"}, {"product_id": goods.product_id, "quantity": "4"})
    made = expect(await revise(admin, order, *lines, expected_on="2099-01-31", terms_days=10, reference="PO 7"))
    assert (made["revision"], made["number"], made["reason"]) == (2, f"{order['number']}-1", "the customer asked")
    after = await read(admin, order)
    assert [(line["line"], line["quantity"], line["price"]) for line in after["lines"]] == [
        (1, "8", "2.50"),
        (3, "4", "9.90"),
    ]
    assert (after["revision"], after["status"], after["amount"]) == (2, "confirmed", "67.20")
    assert (after["expected_on"], after["terms_days"], after["reference"]) == ("2099-01-31", 10, "PO 7")
    assert (await item_of(admin, order))["undelivered"] == after["amount"]
    versions = expect(await admin.get(f"{SALES}/{order['id']}/versions"))
    first, second = versions["items"]
    assert (first["revision"], first["amount"], first["terms_days"]) == (1, order["amount"], 30)
    assert [line["quantity"] for line in first["lines"]] == ["10", "1"]
    assert (second["revision"], second["revision_id"], second["to"]) == (2, made["id"], None)
    days = [first[name] for name in ("from", "to", "replaced_on")]
    assert days == [None, None, second["from"]], "in force on no day"
    changes = {(one["line"], one["field"]): (one["before"], one["after"]) for one in versions["changes"]}
    assert changes[None, "terms_days"] == ("30", "10")
    assert changes[1, "quantity"] == ("10", "8")
    assert (changes[2, "quantity"], changes[3, "quantity"]) == (("1", None), (None, "4"))
    on = f"{SALES}/{order['id']}/versions?day={second['from']}"
    assert [one["revision"] for one in expect(await admin.get(on))["items"]] == [2]
    again = await revise(admin, after, *({"line": line["line"]} for line in after["lines"]))
    assert again.code == 40901, "nothing would change"


@SIDES
async def test_what_was_shipped_of_a_line_stays_as_it_was(at: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 100)
    order = await ordered(goods, {}, {"price": "5.00"}, at=at, freight="8.00")
    order = await ship(goods, order, {"line": 1, "quantity": "4"})
    other = {"line": 2}
    for line, field in (
        ({"price": "2.99"}, "price"),
        ({"discount": "0.1"}, "discount"),
        ({"tax_rate": "0.13"}, "tax_rate"),
        ({"product_id": (await Goods.fresh(admin)).product_id, "quantity": "5"}, "product_id"),
    ):
        refused = await revise(admin, order, {"line": 1, **line}, other)
        assert (refused.code, refused.data) == (40901, {"field": f"lines[0].{field}"})
    less = await revise(admin, order, other, {"line": 1, "quantity": "3.9"})
    assert (less.code, less.data) == (40901, {"field": "lines[1].quantity", "least": "4"})
    dropped = await revise(admin, order, other)
    assert (dropped.code, dropped.data) == (40901, {"field": "lines"})
    assert (await revise(admin, order, freight="9.00")).data == {"field": "freight"}
    unknown = await revise(admin, order, {"line": 1}, {"line": 7}, {"line": 1})
    assert unknown.fields == {"lines[1].line", "lines[2].line"}
    bad = await revise(admin, order, {"line": 1}, {"product_id": goods.product_id, "quantity": "1", "unit": "none"})
    assert bad.fields == {"lines[1].unit"}
    bad = await revise(admin, order, {"line": 1}, {"line": 2, "discount_amount": "51"})
    assert bad.fields == {"lines[1].discount_amount"}
    assert (await revise(admin, order, {"line": 1, "quantity": "0"}, other)).fields == {"lines[0].quantity"}
    assert (await read(admin, order))["version"] == order["version"]


@SIDES
async def test_an_order_without_what_is_still_to_come_is_complete(at: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 100)
    order = await ordered(goods, {}, {"price": "5.00"}, at=at)
    order = await ship(goods, order, {"line": 1, "quantity": "4"})
    expect(await revise(admin, order, {"line": 1, "quantity": "4"}))
    after = await read(admin, order)
    assert (after["status"], after["amount"]) == ("delivered" if at == SALES else "received", "12.00")
    item = await item_of(admin, order)
    assert (item["amount"], item["undelivered"]) == ("12.00", "0.00")


@SIDES
async def test_units_of_a_revised_line_cost_what_they_did_to_the_cent(at: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 100)
    line = {"quantity": "7", "price": "1.0335", "discount_amount": "0.11", "tax_rate": "0.13"}
    order = await ordered(goods, line, {"quantity": "3", "price": "9.99"}, at=at, order_discount="2.00")
    order = await ship(goods, order, {"line": 1, "quantity": "2"})
    shipped = Decimal(order["shipped_amount"])
    more = expect(await revise(admin, order, {"line": 1, "quantity": "19"}, {"line": 2, "price": "8.00"}))
    if at == PURCHASES:
        expect(await admin.post(f"{REVISIONS}/{more['id']}/confirm"))
    order = await read(admin, order)
    expect(await revise(admin, order, {"line": 1, "quantity": "3"}, {"line": 2}))
    order = await read(admin, order)
    for name in ("net", "tax", "amount"):
        whole = order["amount"] if name == "amount" else order[f"{name}_amount"]
        assert sum(Decimal(one[name]) for one in order["lines"]) == Decimal(whole)
    assert order["shipped_amount"] == f"{shipped:.2f}"
    done = await ship(goods, order)
    assert (done["shipped_amount"], done["shipped_difference"]) == (order["amount"], None)
    assert (await item_of(admin, order))["amount"] == order["amount"]


async def test_what_invoices_and_their_drafts_bill_stays_as_it_was(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await ordered(goods, {}, {"quantity": "5"})
    item = await item_of(admin, order)
    body = {"direction": "out", "number": unique("INV"), "open_item_id": item["id"]}
    made = expect(await admin.post(f"{FINANCE}/invoices", {**body, "lines": [{"order_line": 1, "quantity": "6"}]}))
    less = await revise(admin, order, {"line": 1, "quantity": "5"}, {"line": 2})
    assert (less.code, less.data) == (40901, {"field": "lines[0].quantity", "least": "6"})
    expect(await admin.post(f"{FINANCE}/invoices/{made['id']}/confirm"))
    assert (await revise(admin, order, {"line": 1, "price": "1.00"}, {"line": 2})).code == 40901
    expect(await revise(admin, order, {"line": 1, "quantity": "6"}))
    assert (await read(admin, order))["amount"] == made["total"] == "18.00"
    whole = expect(await admin.post(f"{FINANCE}/invoices", {**body, "number": unique("INV")}), 40901)
    assert whole["open"] == "0.00"


async def test_an_order_does_not_come_to_less_than_was_invoiced_without_lines(admin: Client) -> None:
    order = await ordered(await Goods.fresh(admin))
    body = {"direction": "out", "number": unique("INV"), "open_item_id": (await item_of(admin, order))["id"]}
    made = expect(await admin.post(f"{FINANCE}/invoices", {**body, "kind": "prepayment", "amount": "20.00"}))
    expect(await admin.post(f"{FINANCE}/invoices/{made['id']}/confirm"))
    refused = await revise(admin, order, {"line": 1, "quantity": "6"})
    assert (refused.code, refused.data) == (40901, {"field": "lines", "least": "20.00"})
    expect(await revise(admin, order, {"line": 1, "quantity": "7"}))


async def test_a_purchase_that_comes_to_more_waits_for_somebody_else(admin: Client, people: People) -> None:
    goods = await Goods.fresh(admin)
    order = await ordered(goods, at=PURCHASES)
    rights = ("inventory:purchase-order:read", "inventory:purchase-order:revise")
    decides = ("inventory:purchase-order-revision:confirm", "inventory:purchase-order-revision:submit")
    buyer = await people.person((*rights, *decides), "all")
    chief = await people.person(decides, "all")
    made = expect(await revise(buyer, order, {"line": 1, "quantity": "12"}))
    assert (made["status"], made["revision"], made["change"]) == ("draft", None, "6.00")
    changes = expect(await admin.get(f"{REVISIONS}/{made['id']}/changes"))["changes"]
    assert ("quantity", "10", "12") in [(one["field"], one["before"], one["after"]) for one in changes]
    order = await read(admin, order)
    assert (order["amount"], order["revision"]) == ("30.00", None)
    assert (await revise(buyer, order, {"line": 1, "quantity": "9"})).code == 40901, "one at a time"
    expect(await goods.receive(order, 4))
    assert (await buyer.post(f"{REVISIONS}/{made['id']}/confirm")).code == 40901, "not by who asks for it"
    confirmed = expect(await chief.post(f"{REVISIONS}/{made['id']}/confirm"))
    assert (confirmed["status"], confirmed["revision"]) == ("in_force", 2)
    after = await read(admin, order)
    assert (after["amount"], after["status"], after["lines"][0]["received"]) == ("36.00", "partly_received", "4")
    assert (await item_of(admin, order))["undelivered"] == "24.00"
    again = expect(await revise(buyer, after, {"line": 1, "quantity": "11"}))
    assert (again["status"], again["revision"]) == ("in_force", 3), "less needs no approval"


async def test_a_purchase_that_becomes_something_else_or_dearer_waits_though_its_sum_does_not_grow(
    admin: Client,
) -> None:
    goods = await Goods.fresh(admin)
    other = {"product_id": (await Goods.fresh(admin)).product_id, "quantity": "2", "price": "3.00"}
    order = await ordered(goods, {}, {"quantity": "5"}, at=PURCHASES, freight="2.00")
    for lines, terms in (
        (({"line": 1}, other), {}),
        (({"line": 1}, {"line": 2, **other}), {}),
        (({"line": 1, "quantity": "11"}, {"line": 2, "quantity": "1"}), {}),
        (({"line": 1, "quantity": "5", "price": "6.00"}, {"line": 2}), {}),
        (({"line": 1, "quantity": "9", "tolerance": "0.5"}, {"line": 2}), {}),
        (({"line": 1},), {"freight": "2.01"}),
    ):
        made = expect(await revise(admin, order, *lines, **terms))
        assert made["status"] == "draft", (lines, terms)
        assert Decimal(made["change"]) <= 0
        expect(await admin.post(f"{REVISIONS}/{made['id']}/cancel"))
        order = await read(admin, order)
    less = ({"line": 2, "quantity": "4", "price": "2.99"}, {"description": "in two boxes"})
    assert expect(await revise(admin, order, *less, freight="1.00"))["status"] == "in_force"


@pytest.mark.parametrize(
    "terms",
    [
        {"terms_days": 10},
        {"terms_from": "month_end"},
        {"instalments": [{"percent": "100", "days": 0}]},
        {"discount_percent": "1"},
        {"delivery_address": "another yard"},
    ],
    ids=lambda terms: next(iter(terms)),
)
async def test_a_purchase_with_other_terms_or_another_address_waits_for_somebody_else(
    terms: dict[str, Any], admin: Client
) -> None:
    agreed = {"terms_days": 30, "discount_percent": "2.5", "discount_days": 7}
    order = await ordered(await Goods.fresh(admin), at=PURCHASES, **agreed)
    made = expect(await revise(admin, order, **terms))
    assert (made["status"], (await read(admin, order))["revision"]) == ("draft", None)
    expect(await admin.post(f"{REVISIONS}/{made['id']}/confirm"))
    after = await read(admin, order)
    again = await revise(admin, after, **terms, reference="PO 7", remark="by lorry", expected_on="2099-01-31")
    assert expect(again)["status"] == "in_force", "nothing that was decided changes"


async def test_a_purchase_of_the_same_sum_with_less_tax_in_it_waits_for_somebody_else(admin: Client) -> None:
    order = await ordered(await Goods.fresh(admin), {"tax_rate": "0.13"}, at=PURCHASES, prices_include_tax=True)
    made = expect(await revise(admin, order, {"line": 1, "tax_rate": "0.03"}))
    assert (made["change"], made["status"]) == ("0.00", "draft")


async def test_a_revision_that_would_come_to_more_than_was_decided_is_not_put_in_force(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await ordered(goods, {}, {"quantity": "5"}, at=PURCHASES, order_discount="9.00")
    made = expect(await revise(admin, order, {"line": 1, "quantity": "5"}, {"line": 2, "quantity": "9"}))
    assert made["amount"] == "33.00"
    await ship(goods, order, {"line": 1, "quantity": "4"})  # units that were received keep their share of the discount
    expect(await admin.post(f"{REVISIONS}/{made['id']}/confirm"), 40901)
    expect(await admin.post(f"{REVISIONS}/{made['id']}/cancel"))
    again = await revise(admin, await read(admin, order), {"line": 1, "quantity": "5"}, {"line": 2, "quantity": "9"})
    assert (expect(again)["status"], again.data["amount"]) == ("draft", "36.00")


@pytest.mark.parametrize("ends", ["cancel", "close"])
async def test_what_waits_of_an_order_that_ends_is_cancelled_with_its_approval(
    ends: str, admin: Client, people: People
) -> None:
    (boss,) = await several(people, 1, EVERYTHING)
    goods, reason = await Goods.fresh(admin), unique("more is needed")
    asked = [{"field": "reason", "op": "eq", "value": reason}]
    await define(admin, node("boss", boss), biz_type="PURCHASE_ORDER_REVISION", priority=1, conditions=asked)
    order = await ordered(goods, at=PURCHASES)
    made = expect(await revise(admin, order, {"line": 1, "quantity": "12"}, reason=reason))
    expect(await admin.post(f"{REVISIONS}/{made['id']}/submit"))
    (approval,) = expect(await boss.get(f"{INSTANCES}?resource_id={made['id']}"))["items"]
    assert (await follow(boss, approval))["record"]["lines"][0]["product"] is not None
    if ends == "close":
        expect(await goods.receive(order, 4))
    expect(await admin.post(f"{PURCHASES}/{order['id']}/{ends}"))
    assert expect(await admin.get(f"{REVISIONS}/{made['id']}"))["status"] == "cancelled"
    assert (await follow(boss, approval))["status"] == "withdrawn"


async def test_a_flow_approves_what_a_purchase_comes_to_more(admin: Client, people: People) -> None:
    (boss,) = await several(people, 1, EVERYTHING)
    goods, reason = await Goods.fresh(admin), unique("more is needed")
    asked = [{"field": "reason", "op": "eq", "value": reason}, {"field": "change", "op": "gte", "value": "6.00"}]
    await define(admin, node("boss", boss), biz_type="PURCHASE_ORDER_REVISION", priority=1, conditions=asked)
    order = await ordered(goods, at=PURCHASES)
    made = expect(await revise(admin, order, {"line": 1, "quantity": "12"}, reason=reason))
    assert expect(await admin.post(f"{REVISIONS}/{made['id']}/submit"))["approval"] is not None
    (approval,) = expect(await boss.get(f"{INSTANCES}?resource_id={made['id']}"))["items"]
    shown = (await follow(boss, approval))["record"]
    assert (shown["amount_before"], shown["amount"]) == ("30.00", "36.00")
    at = f"{PURCHASES}/{order['id']}"
    expect(await admin.post(f"{at}/hold", {"reason": "price is disputed"}))
    expect(await act(boss, approval, "agree"), 40901)
    expect(await admin.post(f"{at}/release"))
    expect(await act(boss, approval, "agree"))
    assert ((await read(admin, order))["revision"], (await read(admin, order))["amount"]) == (2, "36.00")


async def test_a_sale_beyond_the_credit_limit_says_so_when_it_is_revised(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    body = {"name": unique("customer"), "credit_limit": "40.00"}
    customer = expect(await admin.post("/api/v1/crm/customers", body))
    order = await ordered(goods, customer_id=customer["id"])
    assert order["credit_excess"] is None
    expect(await revise(admin, order, {"line": 1, "quantity": "15"}))
    assert (await read(admin, order))["credit_excess"] == "5.00"


async def test_an_order_of_a_quotation_is_revised_within_what_was_quoted(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "10", "price": "3.00"}
    quotation = expect(await admin.post(f"{AT}/quotations", {"customer_name": "somebody", "lines": [line]}))
    at = f"{AT}/quotations/{quotation['id']}"
    expect(await admin.post(f"{at}/send"))
    draft = expect(await admin.post(f"{at}/order"))
    order = expect(await admin.post(f"{SALES}/{draft['id']}/confirm"))
    more = await revise(admin, order, {"line": 1, "quantity": "11"})
    assert (more.code, more.data) == (40901, {"open": "10", "field": "lines[0].quantity"})
    expect(await revise(admin, order, {"line": 1, "quantity": "7", "price": "2.00"}))
    found = expect(await admin.get(at))
    assert (found["status"], found["lines"][0]["ordered_quantity"]) == ("partly_ordered", "7")


async def test_what_is_reserved_follows_a_revision(admin: Client) -> None:
    goods = await Goods.stocked(admin, 12)
    order = await ordered(goods)
    expect(await revise(admin, order, {"line": 1, "quantity": "15"}))
    row = expect(await admin.get(f"{AT}/stock?product_id={goods.product_id}"))["items"][0]
    assert (row["reserved"], row["available"]) == ("15", "-3")
    assert (await read(admin, order))["lines"][0]["backordered"] == "3"


async def test_of_a_revision_and_a_delivery_or_an_invoice_at_once_one_wins(admin: Client) -> None:
    goods = await Goods.stocked(admin, 100)
    order = await ordered(goods)
    replies = await asyncio.gather(
        *(revise(admin, order, {"line": 1, "quantity": quantity}) for quantity in ("11", "12")),
        goods.deliver(order, 10, version=order["version"]),
    )
    assert Counter(reply.code for reply in replies) == {0: 1, 40902: 2}
    other = await ordered(goods)
    body = {"direction": "out", "number": unique("INV"), "open_item_id": (await item_of(admin, other))["id"]}

    async def bill() -> Reply:
        draft = await admin.post(f"{FINANCE}/invoices", {**body, "lines": [{"order_line": 1, "quantity": "10"}]})
        return draft if draft.code else await admin.post(f"{FINANCE}/invoices/{draft.data['id']}/confirm")

    replies = await asyncio.gather(bill(), revise(admin, other, {"line": 1, "quantity": "4"}))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 1}
    after, item = await read(admin, other), await item_of(admin, other)
    assert Decimal(item["amount"]) <= Decimal(after["amount"]) == Decimal(item["undelivered"])
