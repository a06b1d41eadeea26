"""Invoices that bill several orders and contracts of one party over HTTP, each line with its source."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.crm.sales import in_force
from tests.api.finance.books import AT, Books
from tests.api.finance.test_billed_items import confirm, item_of, owed
from tests.api.finance.test_credit_notes import credit, read
from tests.api.finance.test_invoice_lines import added
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_lines import sold

pytestmark = pytest.mark.gen_test(timeout=60)
Items = list[dict[str, Any]]


async def two_orders(goods: Goods, **terms: Any) -> Items:
    """The open items of two orders of one customer, whose lines do not divide evenly; three of the goods are ordered of each."""
    line = {"quantity": "3", "price": "33.335", "tax_rate": "0.13"}
    orders = [await sold(goods, line, **terms, order_discount="0.50", freight="15.00") for _ in range(2)]
    return [await item_of(goods.client, order) for order in orders]


async def draft(client: Client, items: Items, **further: Any) -> Reply:
    body = {"direction": items[0]["direction"], "number": unique("INV"), **further}
    return await client.post(f"{AT}/invoices", body if "lines" in body else {"open_item_ids": ids_of(items), **body})


def ids_of(items: Items) -> list[str]:
    return [item["id"] for item in items]


def of(item: dict[str, Any], quantity: str, **line: Any) -> dict[str, Any]:
    return {"open_item_id": item["id"], "order_line": 1, "quantity": quantity, **line}


async def billed(client: Client, items: Items, **further: Any) -> dict[str, Any]:
    made: dict[str, Any] = expect(await confirm(client, expect(await draft(client, items, **further))))
    return made


async def renewed(client: Client, items: Items, what: str = "receivables") -> Items:
    return [await item_of(client, {"id": item["resource_id"]}, what) for item in items]


async def test_one_invoice_bills_all_that_is_open_of_several_orders_and_is_paid_with_them(admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 20), await Books.fresh(admin)
    items = await two_orders(goods)
    single = {"direction": "out", "open_item_id": items[0]["id"], "lines": [{"order_line": 1, "quantity": "1"}]}
    first = expect(await confirm(admin, expect(await admin.post(f"{AT}/invoices", single))))
    joint = await billed(admin, items)
    assert [line["quantity"] for line in joint["lines"]] == ["2", "1", "3", "1"]
    items = await renewed(admin, items)
    assert added([first, joint], "total") == added(items, "invoiced") == added(items, "billed_ahead")
    shares = {share["open_item_id"]: share["total"] for share in joint["billed_items"]}
    assert shares[items[1]["id"]] == items[1]["invoiced"]
    assert expect(await draft(admin, items), 40901) == {"open": "0.00", "field": "lines"}
    for item, status in zip(items, ("partly_paid", "paid"), strict=True):
        expect(await books.enter("in", item["amount"], (item, item["amount"])))
        assert (await read(admin, joint))["status"] == status
    after = await read(admin, joint)
    assert (after["paid"], added(after["billed_items"], "paid")) == (joint["total"], joint["total"])


async def test_of_joint_invoices_of_the_same_last_piece_one_is_confirmed_and_the_other_changes_nothing(
    admin: Client,
) -> None:
    items = await two_orders(await Goods.fresh(admin))
    drafts = [
        expect(await draft(admin, items, lines=[of(one, "3"), of(other, "1")]))
        for one, other in (items, [*reversed(items)])
    ]
    replies = await asyncio.gather(*(confirm(admin, one) for one in drafts))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 1}
    (made,) = (reply.data for reply in replies if not reply.code)
    (refused,) = (reply.data for reply in replies if reply.code)
    assert refused["open"] in ("0", "2")
    assert added(await renewed(admin, items), "invoiced") == made["total"]
    expect(await admin.post(f"{AT}/invoices/{made['id']}/void"))
    left = next(one for one in drafts if one["id"] != made["id"])
    assert expect(await confirm(admin, left))["total"] == left["total"]


async def test_a_joint_invoice_of_receipts_bills_a_supplier_and_notes_give_back_what_they_credit(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    supplier_id = await goods.supplier()
    line = {"product_id": goods.product_id, "quantity": "3", "price": "3.335", "tax_rate": "0.13"}
    body = {"supplier_id": supplier_id, "warehouse_id": goods.warehouse_id, "lines": [line]}
    items = []
    for _ in range(2):
        order = expect(await admin.post("/api/v1/inventory/purchase-orders", body))
        expect(await admin.post(f"/api/v1/inventory/purchase-orders/{order['id']}/confirm"))
        expect(await goods.receive(order, 2))
        items.append(await item_of(admin, order, "payables"))
    receipts = expect(await admin.get(f"/api/v1/inventory/receipts?warehouse_id={goods.warehouse_id}"))["items"]
    joint = await billed(admin, items, shipment_ids=[one["id"] for one in receipts])
    assert joint["total"] == added(receipts, "amount")
    rebate = expect(await credit(admin, joint, amount="1.01", tax="0.13", reason="rebate"))
    assert (added(rebate["billed_items"], "amount"), added(rebate["billed_items"], "tax")) == ("1.01", "0.13")
    units = expect(await credit(admin, joint, lines=[{"line": 1, "quantity": "1"}]))
    rest = expect(await credit(admin, joint))
    assert added([rebate, units, rest], "total") == joint["total"]
    assert (await read(admin, joint))["status"] == "credited"
    assert added(await renewed(admin, items, "payables"), "amount") == "0.00"
    for note in (rest, units, rebate):
        expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}))
    after = await read(admin, joint)
    assert (after["credited"], [line["credited"] for line in after["lines"]]) == ("0.00", ["0.00", "0.00"])
    assert [one["amount"] for one in await renewed(admin, items, "payables")] == [one["amount"] for one in items]
    assert expect(await draft(admin, items, lines=[of(items[0], "2")]), 40901)["open"] == "1"


async def test_an_order_and_a_contract_of_one_customer_share_an_invoice(admin: Client) -> None:
    contract = await in_force(admin, "100.00")
    goods = await Goods.fresh(admin)
    order = await sold(
        goods, {"quantity": "1", "price": "50.00", "tax_rate": "0.13"}, customer_id=contract["customer_id"]
    )
    items = [await item_of(admin, one) for one in (contract, order)]
    service = {"open_item_id": items[0]["id"], "description": "assembly", "quantity": "1", "tax_rate": "0.06"}
    wrong = expect(
        await draft(admin, items, lines=[of(items[1], "1"), service | {"price": "9.00", "order_line": 1}]), 40001
    )
    assert [one["field"] for one in wrong["errors"]] == ["lines[1].order_line"]
    lacking = expect(await draft(admin, items, lines=[of(items[1], "1"), service]), 40001)
    assert [one["field"] for one in lacking["errors"]] == ["lines[1].price"]
    more = expect(await draft(admin, items, lines=[of(items[1], "1"), service | {"price": "100.00"}]))
    assert expect(await confirm(admin, more), 40901) == {"open": "100.00", "field": "amount"}
    made = await billed(admin, items, lines=[of(items[1], "1"), service | {"price": "90.00"}])
    assert [share["total"] for share in made["billed_items"]] == ["56.50", "95.40"]
    assert (await owed(admin, order), (await item_of(admin, contract))["invoiced"]) == ("56.50", "95.40")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"lines": [{"order_line": 1}], "open_item_ids": []}, "lines[0].order_line invalid"),
        ({"lines": ["own", {"order_line": 1}]}, "lines[1].open_item_id required"),
        (
            {"lines": ["own", {"order_line": 1, "open_item_id": "6563f0000000000000000000"}]},
            "lines[1].open_item_id reference",
        ),
        ({"open_item_ids": ["own", "stranger"]}, "open_item_ids[1] invalid"),
        ({"open_item_ids": ["own"], "open_item_id": "stranger"}, "open_item_ids[0] invalid"),
        ({"open_item_ids": ["own"], "amount": "1.00"}, "amount invalid"),
    ],
)
async def test_a_joint_invoice_names_items_of_one_party_line_by_line(
    admin: Client, change: dict[str, Any], fault: str
) -> None:
    goods = await Goods.fresh(admin)
    own = await item_of(admin, await sold(goods, {"quantity": "3", "price": "1.00"}))
    stranger = await item_of(admin, await sold(goods, {"quantity": "3", "price": "1.00"}, customer_name="stranger"))
    ids = {"own": own["id"], "stranger": stranger["id"]}
    body = {name: ids.get(value, value) if isinstance(value, str) else value for name, value in change.items()}
    if "open_item_ids" in body:
        body["open_item_ids"] = [ids.get(id, id) for id in body["open_item_ids"]]
    if "lines" in body:
        body["lines"] = [of(own, "1") if line == "own" else line for line in body["lines"]]
    refused = expect(await admin.post(f"{AT}/invoices", {"direction": "out", "counterparty": "c", **body}), 40001)
    assert fault in [f"{one['field']} {one['rule']}" for one in refused["errors"]]


async def test_the_lines_of_a_joint_draft_are_changed_and_its_shares_follow(admin: Client) -> None:
    items = await two_orders(await Goods.fresh(admin))
    made = expect(await draft(admin, items))
    at = f"{AT}/invoices/{made['id']}"
    noted = expect(await admin.patch(at, {"remark": "r", "version": made["version"]}))
    assert noted["billed_items"] == made["billed_items"]
    asked = [{name: line[name] for name in ("open_item_id", "order_line", "quantity")} for line in noted["lines"]]
    lines = [line for line in asked if line["open_item_id"] == items[1]["id"]]
    fewer = expect(await admin.patch(at, {"lines": lines, "version": noted["version"]}))
    assert [share["open_item_id"] for share in fewer["billed_items"]] == [items[1]["id"]]
    assert Decimal(fewer["total"]) == Decimal(items[1]["undelivered"])
