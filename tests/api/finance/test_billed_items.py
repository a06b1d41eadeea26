"""Invoices that bill a contract or an order, and what is owed for it, are one."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from bson import Decimal128

from handlers.operations.migrations import MIGRATIONS
from plugins.boot.runtime import Running
from plugins.finance.entries import ENTRIES
from plugins.finance.migrations import BILLS
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.testing import Client, Reply, expect, unique
from tests.api.crm.sales import CUSTOMERS, customer, in_force
from tests.api.finance.books import AT, Books
from tests.api.finance.filled import fill
from tests.api.finance.test_credit_notes import credit
from tests.api.inventory.goods import AT as INVENTORY, Goods
from tests.api.inventory.test_returns import delivered, send_back

pytestmark = pytest.mark.gen_test(timeout=60)
ORDERS = "2026-11-items-of-open-orders"  # the migration
STATES = "status=planned,open,partly_paid,paid,void"


async def item_of(client: Client, record: dict[str, Any], what: str = "receivables") -> dict[str, Any]:
    (item,) = expect(await client.get(f"{AT}/{what}?resource_id={record['id']}&{STATES}"))["items"]
    return dict(item)


async def owed(client: Client, record: dict[str, Any], what: str = "receivables") -> str:
    """What is owed for a record, as its entries add up."""
    item = await item_of(client, record, what)
    said: str = expect(await client.get(f"{AT}/statements?open_item_id={item['id']}"))["closing_balance"]
    return said


async def draft_of(client: Client, item: dict[str, Any], amount: str, tax: str = "0.00", **further: Any) -> Reply:
    body = {"direction": item["direction"], "number": unique("INV"), "counterparty": "s", "amount": amount, "tax": tax}
    return await client.post(f"{AT}/invoices", {**body, "open_item_id": item["id"], **further})


async def confirm(client: Client, draft: dict[str, Any]) -> Reply:
    return await client.post(f"{AT}/invoices/{draft['id']}/confirm")


async def billed(
    client: Client, item: dict[str, Any], amount: str, tax: str = "0.00", **further: Any
) -> dict[str, Any]:
    """A confirmed invoice that bills an item."""
    draft = expect(await draft_of(client, item, amount, tax, **further))
    invoice: dict[str, Any] = expect(await confirm(client, draft))
    return invoice


async def test_a_credit_note_lowers_what_is_owed_for_a_contract_until_it_is_reversed(admin: Client) -> None:
    contract = await in_force(admin, "100.00")
    invoice = await billed(admin, await item_of(admin, contract), "100.00")
    note = expect(await credit(admin, invoice, amount="30.00", reason="price"))
    item = await item_of(admin, contract)
    named = ("amount", "document_amount", "invoiced", "credited", "status")
    assert [item[name] for name in named] == ["70.00", "100.00", "100.00", "30.00", "open"]
    assert await owed(admin, contract) == "70.00"
    expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}))
    assert await owed(admin, contract) == "100.00"


async def test_an_order_whose_invoice_is_credited_completely_is_not_owed_any_more(admin: Client) -> None:
    order, _ = await delivered(await Goods.stocked(admin, 5), 2, "50.00")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    expect(await credit(admin, invoice))
    assert (await item_of(admin, order))["status"] == "void"
    assert await owed(admin, order) == "0.00"


@pytest.mark.parametrize("first", ["goods", "note"])
async def test_a_credit_note_for_goods_that_came_back_lowers_what_is_owed_once(first: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 5, "20.00")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    steps = [lambda: send_back(goods, delivery, 1), lambda: credit(admin, invoice, amount="20.00")]
    for step in steps if first == "goods" else reversed(steps):
        expect(await step())
    assert await owed(admin, order) == "80.00"
    expect(await credit(admin, invoice, amount="5.00", reason="rebate"))
    assert await owed(admin, order) == "75.00"


@pytest.mark.parametrize("first", ["goods", "note"])
async def test_goods_that_came_back_are_not_owed_once_while_a_part_of_the_order_is_not_invoiced(
    first: str, admin: Client
) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 5, "20.00")
    invoice = await billed(admin, await item_of(admin, order), "60.00")
    steps = [lambda: send_back(goods, delivery, 1), lambda: credit(admin, invoice, amount="20.00")]
    for step in steps if first == "goods" else reversed(steps):
        expect(await step())
    assert await owed(admin, order) == "80.00"
    await billed(admin, await item_of(admin, order), "40.00")
    assert await owed(admin, order) == "80.00"


async def test_a_credit_note_says_that_it_is_for_no_goods_that_came_back(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 5, "20.00")
    invoice = await billed(admin, await item_of(admin, order), "60.00")
    expect(await send_back(goods, delivery, 1))
    expect(await credit(admin, invoice, amount="20.00", for_return=False))
    assert await owed(admin, order) == "60.00"


async def test_a_credit_note_is_reversed_even_after_its_goods_came_back(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 5, "20.00")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    note = expect(await credit(admin, invoice, amount="20.00"))
    expect(await send_back(goods, delivery, 1))
    expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}))
    assert await owed(admin, order) == "80.00"


async def test_what_is_paid_of_a_credited_order_pays_its_invoice(admin: Client) -> None:
    books = await Books.fresh(admin)
    order, _ = await delivered(await Goods.stocked(admin, 5), 1, "100.00")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    expect(await credit(admin, invoice, amount="10.00"))
    item = await item_of(admin, order)
    expect(await books.enter("in", "90.00", (item, "90.00")))
    assert (await item_of(admin, order))["status"] == "paid"
    assert expect(await admin.get(f"{AT}/invoices/{invoice['id']}"))["status"] == "paid"


async def test_no_more_is_invoiced_than_is_open(admin: Client) -> None:
    order, _ = await delivered(await Goods.stocked(admin, 5), 1, "100.00")
    item = await item_of(admin, order)
    drafts = [expect(await draft_of(admin, item, "40.00")) for _ in range(5)]
    replies = await asyncio.gather(*(confirm(admin, draft) for draft in drafts))
    assert Counter(reply.code for reply in replies) == {0: 2, 40901: 3}
    assert [reply.data for reply in replies if reply.code] == [{"open": "20.00", "field": "amount"}] * 3
    confirmed = next(draft for draft, reply in zip(drafts, replies, strict=True) if not reply.code)
    expect(await admin.post(f"{AT}/invoices/{confirmed['id']}/void"))
    await billed(admin, await item_of(admin, order), "60.00")


@pytest.mark.parametrize(("amount", "tax", "field"), [("20.00", "99.00", "tax"), ("119.00", "0.00", "amount")])
async def test_the_tax_of_an_order_is_invoiced_as_it_is(amount: str, tax: str, field: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await goods.sale(1, "100.00", tax_rate="0.19")
    expect(await goods.deliver(order))
    item = await item_of(admin, order)
    assert (item["amount"], item["net"], item["tax"]) == ("119.00", "100.00", "19.00")
    assert expect(await confirm(admin, expect(await draft_of(admin, item, amount, tax))), 40901)["field"] == field
    await billed(admin, item, "100.00", "19.00")


async def test_an_invoice_has_the_party_and_the_due_day_of_what_it_bills(admin: Client) -> None:
    contract = await in_force(admin, "100.00")
    item, stranger = await item_of(admin, contract), await customer(admin)
    draft = expect(await draft_of(admin, item, "40.00", counterparty="Somebody else"))
    name = expect(await admin.get(f"{CUSTOMERS}/{contract['customer_id']}"))["name"]
    assert [draft[name] for name in ("counterparty", "customer_id")] == [name, contract["customer_id"]]
    assert draft["due_on"] == item["due_on"]
    for reply in (
        await draft_of(admin, item, "40.00", customer_id=stranger["id"]),
        await admin.patch(f"{AT}/invoices/{draft['id']}", {"version": 1, "customer_id": stranger["id"]}),
    ):
        expect(reply, 40001)
        assert reply.fields == {"customer_id"}


async def test_an_item_of_an_older_version_is_lowered_by_its_credit_notes(admin: Client, tradewind: Running) -> None:
    contract = await in_force(admin, "100.00")
    invoice = await billed(admin, await item_of(admin, contract), "100.00")
    expect(await credit(admin, invoice, amount="30.00", day="2026-01-10"))
    driver, id = tradewind.service.database.driver, OPEN_ITEMS.parse_id((await item_of(admin, contract))["id"])
    unknown = dict.fromkeys(("document_amount", "invoiced", "credited"), "")
    older = {"$unset": unknown, "$set": {"amount": Decimal128("100.00")}}
    await driver.update_one(OPEN_ITEMS.name, {"_id": id}, older)
    await driver.delete_many(ENTRIES.name, {"open_item_id": id, "amount": Decimal128("-30.00")})
    await driver.delete_many(MIGRATIONS, {"_id": {"$regex": f"^{BILLS.name}/"}})
    await fill(tradewind.service)
    item = await item_of(admin, contract)
    assert [item[name] for name in ("amount", "invoiced", "credited")] == ["70.00", "100.00", "30.00"]
    lines = expect(await admin.get(f"{AT}/statements?open_item_id={item['id']}"))["items"]
    assert [(line["day"], line["credit"]) for line in lines if line["credit"] != "0.00"] == [("2026-01-10", "30.00")]


async def ordered(goods: Goods, direction: str) -> dict[str, Any]:
    """An order of four pieces for 100.00 of which nothing came yet."""
    return await (goods.sale(4, "25.00") if direction == "out" else goods.purchase(4, "25.00"))


@pytest.mark.parametrize("direction", ["out", "in"])
async def test_what_is_invoiced_before_the_goods_come_is_owed_once(direction: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, what = await ordered(goods, direction), "receivables" if direction == "out" else "payables"
    planned = await item_of(admin, order, what)
    assert [planned[name] for name in ("status", "amount", "undelivered")] == ["planned", "0.00", "100.00"]
    assert expect(await admin.get(f"{AT}/{what}?resource_id={order['id']}"))["items"] == []
    await billed(admin, planned, "60.00")
    ship = goods.deliver if direction == "out" else goods.receive
    for pieces, amount in ((None, "60.00"), (1, "60.00"), (1, "60.00"), (2, "100.00")):
        if pieces:
            expect(await ship(order, pieces))
        assert (await item_of(admin, order, what))["amount"] == await owed(admin, order, what) == amount
    await billed(admin, await item_of(admin, order, what), "40.00")
    assert await owed(admin, order, what) == "100.00"


async def test_no_more_is_invoiced_ahead_than_is_ordered(admin: Client) -> None:
    order = await ordered(await Goods.stocked(admin, 5), "out")
    item = await item_of(admin, order)
    drafts = [expect(await draft_of(admin, item, "60.00")) for _ in range(2)]
    expect(await confirm(admin, drafts[0]))
    assert expect(await confirm(admin, drafts[1]), 40901) == {"open": "40.00", "field": "amount"}


async def test_what_is_paid_ahead_is_not_owed_again_when_the_goods_leave(admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 5), await Books.fresh(admin)
    order = await ordered(goods, "out")
    invoice = await billed(admin, await item_of(admin, order), "100.00", due_on="2026-11-20")
    item = await item_of(admin, order)
    assert (item["due_on"], item["billed_ahead"]) == ("2026-11-20", "100.00")
    expect(await books.enter("in", "100.00", (item, "100.00")))
    expect(await goods.deliver(order))
    item = await item_of(admin, order)
    assert [item[name] for name in ("amount", "billed_ahead", "status")] == ["100.00", "0.00", "paid"]
    assert expect(await admin.get(f"{AT}/invoices/{invoice['id']}"))["status"] == "paid"


@pytest.mark.parametrize("pieces", [0, 1])
async def test_goods_that_will_not_come_are_not_owed_and_a_note_corrects_the_invoice(
    pieces: int, admin: Client
) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await ordered(goods, "out")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    if pieces:
        expect(await goods.deliver(order, pieces))
    expect(await admin.post(f"{INVENTORY}/sales-orders/{order['id']}/{'close' if pieces else 'cancel'}"))
    left = f"{25 * pieces}.00"
    assert await owed(admin, order) == left
    expect(await credit(admin, invoice, amount=f"{100 - 25 * pieces}.00"))
    assert await owed(admin, order) == left


async def test_what_came_back_of_an_order_invoiced_ahead_is_credited_once(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await ordered(goods, "out")
    invoice = await billed(admin, await item_of(admin, order), "100.00")
    expect(await goods.deliver(order, 2))
    (delivery,) = expect(await admin.get(f"{INVENTORY}/deliveries?order_id={order['id']}"))["items"]
    expect(await send_back(goods, delivery, 1))
    assert await owed(admin, order) == "75.00"
    expect(await credit(admin, invoice, amount="25.00"))
    assert await owed(admin, order) == "75.00"
    expect(await goods.deliver(order))
    assert await owed(admin, order) == "75.00"


async def test_an_order_of_an_older_version_can_be_invoiced_ahead(admin: Client, tradewind: Running) -> None:
    order = await ordered(await Goods.stocked(admin, 5), "out")
    driver, id = tradewind.service.database.driver, OPEN_ITEMS.parse_id((await item_of(admin, order))["id"])
    await driver.delete_many(OPEN_ITEMS.name, {"_id": id})
    await driver.delete_many(MIGRATIONS, {"_id": {"$regex": f"^{ORDERS}/"}})
    await fill(tradewind.service)
    await billed(admin, await item_of(admin, order), "100.00")
    assert await owed(admin, order) == "100.00"
