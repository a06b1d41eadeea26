"""Prepayment invoices of orders over HTTP, and final invoices that take them off."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, Reply, expect
from tests.api.finance.books import AT, Books
from tests.api.finance.test_billed_items import confirm, item_of, owed
from tests.api.finance.test_credit_notes import credit, read
from tests.api.finance.test_invoice_lines import added
from tests.api.finance.test_joint_invoices import of, two_orders
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_lines import sold

pytestmark = pytest.mark.gen_test(timeout=60)
RATES = ("0.07135", "0.037725")  # which no other document has
EARLIER, LATER = "2026-09-30", "2026-10-01"


async def ordered(goods: Goods) -> dict[str, Any]:
    """The open item of an order with two rates of tax and freight, none of whose amounts divides evenly."""
    prices = zip(("33.335", "7.10"), RATES, strict=True)
    lines = [{"quantity": "3", "price": price, "tax_rate": rate} for price, rate in prices]
    return await item_of(goods.client, await sold(goods, *lines, freight="15.01"))


async def draft(client: Client, item: dict[str, Any], kind: str, **further: Any) -> Reply:
    body = {"direction": "out", "open_item_id": item["id"], "kind": kind, **further}
    return await client.post(f"{AT}/invoices", body)


async def made(client: Client, item: dict[str, Any], kind: str, **further: Any) -> dict[str, Any]:
    invoice: dict[str, Any] = expect(await confirm(client, expect(await draft(client, item, kind, **further))))
    return invoice


async def taxes_of(client: Client, day: str) -> dict[str, tuple[str, str]]:
    """Net and tax of the rates of this test in the month of a day."""
    rows = expect(await client.get(f"{AT}/taxes?from={day[:8]}01&direction=out"))["items"]
    return {row["tax_rate"]: (row["net"], row["tax"]) for row in rows if row["tax_rate"] in RATES}


async def test_a_prepayment_is_owed_with_its_tax_and_the_final_invoice_takes_it_off_in_its_month(admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 20), await Books.fresh(admin)
    item = await ordered(goods)
    asked = await made(admin, item, "prepayment", prepayment_rate="0.3", day=EARLIER, due_on=LATER)
    whole = Decimal(item["undelivered"])
    assert Decimal(asked["total"]) == round(whole * Decimal("0.3"), 2)
    assert asked["number"].startswith("PRE-")
    order = {"id": item["resource_id"]}
    item = await item_of(admin, order)
    assert (item["amount"], item["billed_ahead"], item["due_on"]) == (asked["total"], asked["total"], LATER)
    expect(await books.enter("in", item["amount"], (item, item["amount"])))
    assert (await read(admin, asked))["status"] == "paid"
    expect(await goods.deliver(order, lines=[{"line": 1, "quantity": "2"}]))
    part = await made(admin, item, "part", lines=[{"order_line": 1, "quantity": "1"}], day=EARLIER)
    final = await made(admin, item, "final", day=LATER)
    assert [line["quantity"] for line in final["lines"]] == ["2", "3", "1", "-1", "-1", "-1"]
    assert added(final["lines"], "amount") == final["total"]
    order = expect(await admin.get(f"/api/v1/inventory/sales-orders/{order['id']}"))
    of_order = {"amount": order["net_amount"], "tax": order["tax_amount"], "total": order["amount"]}
    assert {name: added([asked, part, final], name) for name in of_order} == of_order
    months = [await taxes_of(admin, day) for day in (EARLIER, LATER)]
    for line, rate in zip(order["lines"], RATES, strict=True):
        assert [str(sum(Decimal(month[rate][at]) for month in months)) for at in (0, 1)] == [line["net"], line["tax"]]
    assert await owed(admin, order) == str(whole - Decimal(asked["total"]))
    assert (await read(admin, final))["status"] == "confirmed"


async def test_a_prepayment_is_taken_off_once_and_stays_while_a_final_invoice_takes_it_off(admin: Client) -> None:
    item = await ordered(await Goods.fresh(admin))
    asked = await made(admin, item, "prepayment", amount="9.00")
    assert asked["amount"] == added(asked["lines"], "net") == "9.00"
    drafts = [expect(await draft(admin, item, "final", lines=[{"order_line": one}])) for one in (1, 2)]
    final = expect(await confirm(admin, drafts[0]))
    assert expect(await confirm(admin, drafts[1]), 40901) is None
    expect(await credit(admin, asked), 40901)
    expect(await admin.post(f"{AT}/invoices/{asked['id']}/void"), 40901)
    whole = expect(await credit(admin, final))
    assert (whole["total"], added(whole["lines"], "amount")) == (final["total"], final["total"])
    expect(await credit(admin, asked, lines=[{"line": 1}]))
    expect(await admin.post(f"{AT}/credit-notes/{whole['id']}/reverse", {}), 40901)
    rest = await made(admin, item, "final")
    assert len([line for line in rest["lines"] if line["prepayment_id"]]) == len(asked["lines"]) - 1
    assert (await item_of(admin, {"id": item["resource_id"]}))["amount"] == item["undelivered"]


async def test_a_final_invoice_of_several_orders_takes_off_what_is_prepaid_of_each(admin: Client) -> None:
    items = await two_orders(await Goods.fresh(admin))
    ids = [item["id"] for item in items]
    body = {"direction": "out", "open_item_ids": ids}
    asked = expect(await admin.post(f"{AT}/invoices", {**body, "kind": "prepayment", "prepayment_rate": "0.5"}))
    late = expect(await admin.post(f"{AT}/invoices", {**body, "kind": "final"}))
    expect(await confirm(admin, asked))
    expect(await confirm(admin, late), 40901)
    wrong = [of(items[0], "3"), {"open_item_id": ids[1], "order_line": 0}]
    short = expect(await admin.post(f"{AT}/invoices", {**body, "kind": "final", "lines": wrong}), 40901)
    assert short == {"open": "15.00", "field": "lines"}
    asked_again = [{name: line[name] for name in ("open_item_id", "order_line")} for line in late["lines"]]
    asked_again.append({"description": "made anew", "quantity": "-1"})
    again = {"lines": asked_again, "version": late["version"]}
    final = expect(await confirm(admin, expect(await admin.patch(f"{AT}/invoices/{late['id']}", again))))
    for item, first, last in zip(items, asked["billed_items"], final["billed_items"], strict=True):
        assert Decimal(first["total"]) + Decimal(last["total"]) == Decimal(item["undelivered"])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "prepayment"}, "prepayment_rate required"),
        ({"kind": "prepayment", "prepayment_rate": "1.0001"}, "prepayment_rate maximum"),
        ({"kind": "prepayment", "prepayment_rate": "0.3", "lines": [{"order_line": 1}]}, "lines invalid"),
        ({"kind": "prepayment", "prepayment_rate": "0.3", "amount": "1.00"}, "amount invalid"),
        ({"kind": "final", "prepayment_rate": "0.3"}, "prepayment_rate invalid"),
        ({"kind": "final", "open_item_id": None, "counterparty": "c"}, "kind invalid"),
        ({"kind": "part", "lines": [{"order_line": 1, "quantity": "-1"}]}, "lines[0].quantity minimum"),
    ],
)
async def test_invoices_of_kinds_that_do_not_fit_are_refused(admin: Client, change: dict[str, Any], fault: str) -> None:
    item = await item_of(admin, await sold(await Goods.fresh(admin), {"quantity": "3", "price": "1.00"}))
    body = {"direction": "out", "open_item_id": item["id"], **change}
    refused = expect(await admin.post(f"{AT}/invoices", body), 40001)
    assert fault in [f"{one['field']} {one['rule']}" for one in refused["errors"]]
