"""Invoices from lines over HTTP: of orders, of deliveries, and free; and the credit notes of their lines."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.books import AT
from tests.api.finance.test_billed_items import confirm, item_of, owed
from tests.api.finance.test_credit_notes import credit, read
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_lines import shipped, sold
from tests.api.inventory.test_returns import send_back

pytestmark = pytest.mark.gen_test(timeout=60)
SUMS = ("amount", "tax", "total")


async def ordered(admin: Client, goods: Goods) -> dict[str, Any]:
    """The open item of an order whose lines do not divide evenly: three of one product, seven of another price, freight."""
    lines = (
        {"quantity": "3", "price": "33.335", "tax_rate": "0.13"},
        {"quantity": "7", "price": "0.10", "tax_rate": "0.06"},
    )
    return await item_of(admin, await sold(goods, *lines, order_discount="0.50", freight="15.00"))


async def draft(client: Client, item: dict[str, Any], *lines: dict[str, Any], **further: Any) -> Reply:
    body = {"direction": item["direction"], "number": unique("INV"), "open_item_id": item["id"], **further}
    return await client.post(f"{AT}/invoices", {**body, "lines": list(lines)} if lines else body)


async def billed(client: Client, item: dict[str, Any], *lines: dict[str, Any], **further: Any) -> dict[str, Any]:
    """A confirmed invoice of these lines of an order."""
    made: dict[str, Any] = expect(await confirm(client, expect(await draft(client, item, *lines, **further))))
    return made


def added(rows: list[dict[str, Any]], name: str) -> str:
    return str(sum((Decimal(row[name]) for row in rows), Decimal(0)))


async def test_the_sums_of_an_invoice_are_those_of_its_lines_and_the_tax_is_that_of_each_rate(admin: Client) -> None:
    lines = [
        {"description": "assembly", "quantity": "3", "price": "33.333333", "tax_rate": "0.13"},
        {"description": "travel", "quantity": "1", "price": "0.05", "tax_rate": "0.13"},
        {"description": "books", "quantity": "2", "price": "10.00", "tax_rate": "0.06", "discount": "0.05"},
        {"description": "thank you"},
    ]
    body = {"direction": "out", "number": unique("INV"), "counterparty": "c", "lines": lines}
    made = expect(await admin.post(f"{AT}/invoices", body))
    assert [made[name] for name in SUMS] == ["119.05", "14.15", "133.20"]
    assert [(line["line"], line["kind"], line["net"], line["tax"]) for line in made["lines"]] == [
        (1, "service", "100.00", "13.00"),
        (2, "service", "0.05", "0.01"),
        (3, "service", "19.00", "1.14"),
        (4, "text", "0.00", "0.00"),
    ]
    changed = expect(await admin.patch(f"{AT}/invoices/{made['id']}", {"lines": lines[2:], "version": made["version"]}))
    assert [changed[name] for name in SUMS] == ["19.00", "1.14", "20.14"]
    assert expect(await admin.patch(f"{AT}/invoices/{made['id']}", {"remark": "r", "version": changed["version"]}))


async def test_an_invoice_that_is_not_kept_comes_to_what_its_creation_would(admin: Client) -> None:
    item = await ordered(admin, await Goods.stocked(admin, 20))
    free = {"direction": "out", "counterparty": "c"}, {"description": "assembly", "quantity": "3", "price": "9.99"}
    of_order = {"direction": "out", "open_item_id": item["id"]}, {"order_line": 1, "quantity": "2"}
    for body, line in (free, of_order):
        made = expect(await admin.post(f"{AT}/invoices", {**body, "lines": [line]}))
        asked = {**body, "lines": [line]}
        asked.pop("counterparty", None)
        counted = expect(await admin.post(f"{AT}/invoices/amounts", asked))
        assert [counted[name] for name in SUMS] == [made[name] for name in SUMS]


async def test_a_line_without_units_or_price_comes_to_nothing_yet(admin: Client) -> None:
    lines = [{"description": "wire", "quantity": "2"}, {"description": "assembly", "quantity": "3", "price": "9.99"}]
    counted = expect(await admin.post(f"{AT}/invoices/amounts", {"direction": "out", "lines": lines}))
    assert [line["amount"] for line in counted["lines"]] == ["0.00", "29.97"]
    assert counted["total"] == "29.97"


async def test_invoices_of_parts_of_an_order_add_up_to_it_whichever_was_entered_first(admin: Client) -> None:
    goods = await Goods.stocked(admin, 20)
    item = await ordered(admin, goods)
    parts = [expect(await draft(admin, item, {"order_line": 1, "quantity": "1"})) for _ in range(3)]
    parts.append(expect(await draft(admin, item, {"order_line": 2}, {"order_line": 0})))
    made = [expect(await confirm(admin, part)) for part in reversed(parts)]
    order = expect(await admin.get(f"/api/v1/inventory/sales-orders/{item['resource_id']}"))
    whole = {"amount": order["net_amount"], "tax": order["tax_amount"], "total": order["amount"]}
    assert {name: added(made, name) for name in SUMS} == whole
    for invoice in made:
        nets, taxes = added(invoice["lines"], "net"), added(invoice["lines"], "tax")
        assert (nets, taxes) == (invoice["amount"], invoice["tax"])
    assert (await item_of(admin, order))["billed_ahead"] == order["amount"]
    refused = expect(await draft(admin, item), 40901)
    assert refused["open"] == "0.00"


async def test_more_units_than_are_open_of_a_line_are_refused_also_when_another_was_faster(admin: Client) -> None:
    item = await ordered(admin, await Goods.stocked(admin, 20))
    drafts = [expect(await draft(admin, item, {"order_line": 1, "quantity": "2"})) for _ in range(2)]
    more = expect(await draft(admin, item, {"order_line": 1, "quantity": "3.5"}), 40901)
    assert more == {"open": "3", "field": "lines[0].quantity"}
    expect(await confirm(admin, drafts[0]))
    assert expect(await confirm(admin, drafts[1]), 40901) == {"open": "1", "field": "lines[0].quantity"}


async def test_one_invoice_bills_several_deliveries_of_an_order_with_its_freight_for_what_they_come_to(
    admin: Client,
) -> None:
    goods = await Goods.stocked(admin, 20)
    order = await sold(goods, {"quantity": "7", "price": "3.333", "tax_rate": "0.13"}, freight="9.00")
    for count in (2, 3):
        expect(await goods.deliver(order, count))
    shipments = expect(await admin.get(f"/api/v1/inventory/deliveries?order_id={order['id']}"))["items"]
    item = await item_of(admin, order)
    ids = [one["id"] for one in shipments]
    made = await billed(admin, item, shipment_ids=ids)
    assert made["total"] == added(shipments, "amount") == await owed(admin, order)
    (first,) = [one["id"] for one in shipments if Decimal(one["freight"])]
    assert Counter(line["shipment_id"] for line in made["lines"]) == Counter([*ids, first])
    again = expect(await draft(admin, item, {"order_line": 1, "shipment_id": ids[0]}), 40901)
    assert again["field"] == "lines[0].quantity"


async def test_the_invoice_of_what_stayed_after_a_return_comes_to_the_cent_that_is_owed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 20)
    # half of 1.13 is rounded up for the unit that comes back, so the other one comes to a cent less
    order = await sold(goods, {"quantity": "2", "price": "0.50", "tax_rate": "0.13"})
    expect(await goods.deliver(order))
    (delivery,) = await shipped(goods, order)
    returned = expect(await send_back(goods, delivery, 1))
    made = await billed(admin, await item_of(admin, order))
    assert (returned["amount"], made["total"], await owed(admin, order)) == ("0.57", "0.56", "0.56")


async def test_a_credit_note_of_some_units_leaves_the_others_and_its_reversal_bills_them_again(admin: Client) -> None:
    item = await ordered(admin, await Goods.stocked(admin, 20))
    invoice = await billed(admin, item)
    note = expect(await credit(admin, invoice, lines=[{"line": 1, "quantity": "1"}], reason="broken"))
    assert [note[name] for name in ("amount", "tax")] == [note["lines"][0][name] for name in ("net", "tax")]
    after = await read(admin, invoice)
    assert (after["credited"], after["lines"][0]["credited_quantity"]) == (note["total"], "1")
    assert expect(await credit(admin, invoice, lines=[{"line": 1, "quantity": "3"}]), 40901)["open"] == "2"
    again = expect(await draft(admin, item))
    assert [line["quantity"] for line in again["lines"]] == ["1"]
    expect(await confirm(admin, again))
    expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}), 40901)
    expect(await admin.post(f"{AT}/invoices/{again['id']}/void"))
    expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}))
    rest = expect(await credit(admin, invoice))
    assert rest["total"] == invoice["total"] == added(rest["lines"], "amount")
    assert (await read(admin, invoice))["status"] == "credited"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"lines": [{"description": "s", "quantity": "1", "price": "9"}]}, "lines[0].order_line required"),
        ({"lines": [{"order_line": 9}]}, "lines[0].order_line reference"),
        ({"lines": [{"order_line": 1}, {"order_line": 1}]}, "lines[1].order_line duplicate"),
        ({"lines": [{"order_line": 1, "price": "1.00"}]}, "lines[0].price invalid"),
        ({"lines": [{"order_line": 1}], "amount": "1.00"}, "amount invalid"),
        ({"shipment_ids": ["6563f0000000000000000000"]}, "shipment_ids[0] reference"),
        ({"open_item_id": None, "counterparty": "c"}, "amount required"),
        ({"open_item_id": None, "counterparty": "c", "lines": [{"order_line": 1}]}, "lines[0].order_line invalid"),
        ({"open_item_id": None, "counterparty": "c", "lines": [{"description": "w"}]}, "lines required"),
    ],
)
async def test_lines_that_contradict_their_order_or_the_sums_are_refused(
    admin: Client, change: dict[str, Any], fault: str
) -> None:
    item = await ordered(admin, await Goods.fresh(admin))
    refused = expect(await draft(admin, item, **change), 40001)
    assert fault in [f"{one['field']} {one['rule']}" for one in refused["errors"]]
