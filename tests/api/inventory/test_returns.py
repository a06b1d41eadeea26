"""Goods that come back: returns of deliveries and receipts, and the reversal of what was entered by mistake."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, People, Reply, expect
from tests.api.inventory.goods import AT, Goods
from tests.support.openapi_checks import CONFLICT_SCHEMA, Described

pytestmark = pytest.mark.gen_test(timeout=60)
FINANCE = "/api/v1/finance"
MAY_SELL = [
    *(f"inventory:sales-order:{action}" for action in ("create", "confirm", "deliver")),
    *(f"inventory:delivery:{action}" for action in ("list", "return", "reverse")),
]


async def shipments(client: Client, order: dict[str, Any]) -> list[dict[str, Any]]:
    """The deliveries or receipts of an order, the first one first."""
    of = "deliveries" if "customer_name" in order else "receipts"
    query = f"order_id={order['id']}&sort=created_at"
    rows: list[dict[str, Any]] = expect(await client.get(f"{AT}/{of}?{query}"))["items"]
    return rows


async def delivered(goods: Goods, quantity: Any, price: str = "9.90") -> tuple[dict[str, Any], dict[str, Any]]:
    """A sales order that was delivered, and its delivery."""
    order = expect(await goods.deliver(await goods.sale(quantity, price)))
    return order, (await shipments(goods.client, order))[0]


async def received(goods: Goods, quantity: Any, price: str = "4.00") -> tuple[dict[str, Any], dict[str, Any]]:
    """A purchase order that was received, and its receipt."""
    order = expect(await goods.receive(await goods.purchase(quantity, price)))
    return order, (await shipments(goods.client, order))[0]


def at_of(shipment: dict[str, Any], action: str) -> str:
    """The path of an action on a delivery or receipt."""
    of = "deliveries" if shipment["number"].startswith("DN") else "receipts"
    return f"{AT}/{of}/{shipment['id']}/{action}"


async def send_back(goods: Goods, shipment: dict[str, Any], quantity: Any = None, **body: Any) -> Reply:
    """Return all that is left, or so much."""
    lines = [{"product_id": goods.product_id, "quantity": str(quantity)}] if quantity is not None else None
    return await goods.client.post(at_of(shipment, "returns"), {**({"lines": lines} if lines else {}), **body})


async def owed(client: Client, order: dict[str, Any]) -> str:
    """What is owed for an order."""
    of = "receivables" if "customer_name" in order else "payables"
    every = "&".join(f"status={status}" for status in ("open", "partly_paid", "paid", "void"))
    (item,) = expect(await client.get(f"{FINANCE}/{of}?resource_id={order['id']}&{every}"))["items"]
    return str(item["amount"])


async def read(client: Client, of: str, id: str) -> dict[str, Any]:
    record: dict[str, Any] = expect(await client.get(f"{AT}/{of}/{id}"))
    return record


async def test_goods_come_back_at_the_cost_they_left_with_and_less_is_owed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00")
    order, delivery = await delivered(goods, 5)
    expect(await goods.count(20, "1.00"))  # what is left has another cost by now
    made = expect(await send_back(goods, delivery, 2, reason="scratched"))
    assert made["lines"][0] | {"product_name": None} == {
        "line": 1,
        "kind": "product",
        "description": None,
        "unit": None,
        "unit_factor": None,
        "product_id": goods.product_id,
        "product_name": None,
        "quantity": "2",
        "amount": "19.80",
        "cost": "8.00",
    }
    named = ("delivery_id", "delivery_name", "order_number", "amount", "cost", "reason", "restock", "reverses_id")
    assert [made[name] for name in named] == [
        delivery["id"],
        delivery["number"],
        order["number"],
        "19.80",
        "8.00",
        "scratched",
        True,
        None,
    ]
    assert await goods.stock() == ("22", "43.00")
    assert await owed(admin, order) == "29.70"
    entry = (await goods.ledger())[-1]
    assert [entry[name] for name in ("kind", "quantity", "value", "document_number")] == [
        "sales_return",
        "2",
        "8.00",
        made["number"],
    ]


async def test_a_delivery_shows_what_came_back_and_its_order_stays_delivered(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    order, delivery = await delivered(goods, 5)
    assert (delivery["lines"][0]["returned"], delivery["returned_amount"]) == ("0", None)
    expect(await send_back(goods, delivery, "1.5"))
    expect(await send_back(goods, delivery, 2))
    (shown,) = await shipments(admin, order)
    assert (shown["lines"][0]["returned"], shown["returned_amount"]) == ("3.5", "34.65")
    after = await read(admin, "sales-orders", order["id"])
    assert (after["status"], after["lines"][0]["delivered"], after["returned_amount"]) == ("delivered", "5", "34.65")
    expect(await goods.deliver(order, 1), 40901)


async def test_the_parts_of_a_line_that_come_back_add_up_to_it(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3, "3.33")
    expect(await goods.receive(await goods.purchase("0.5", "0.02")))  # 3.5 pieces worth 10.00
    order, delivery = await delivered(goods, "3.5", "2.86")
    assert (delivery["amount"], delivery["cost"]) == ("10.01", "10.00")
    parts = [expect(await send_back(goods, delivery, quantity)) for quantity in ("1", "1", "1", "0.5")]
    assert [part["cost"] for part in parts] == ["2.86", "2.85", "2.86", "1.43"]
    assert [part["amount"] for part in parts] == ["2.86", "2.86", "2.86", "1.43"]
    assert await goods.stock() == ("3.5", "10.00")
    assert await owed(admin, order) == "0.00"


async def test_goods_that_are_written_off_are_refunded_and_not_in_stock(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 2)
    made = expect(await send_back(goods, delivery, restock=False))
    assert (made["restock"], made["amount"], made["cost"]) == (False, "19.80", "8.00")
    assert await goods.stock() == ("3", "12.00")
    assert len(await goods.ledger()) == 2
    assert await owed(admin, order) == "0.00"


async def test_goods_that_come_back_without_a_refund_are_still_owed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 2)
    made = expect(await send_back(goods, delivery, 1, refund=False))
    assert (made["refund"], made["amount"], made["lines"][0]["amount"]) == (False, "0.00", "0.00")
    assert await goods.stock() == ("4", "16.00")
    assert await owed(admin, order) == "19.80"
    expect(await send_back(goods, delivery, 1))
    assert await owed(admin, order) == "9.90"


async def test_goods_go_back_to_the_supplier_at_the_average_with_the_difference_to_their_price(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    first, receipt = await received(goods, 10, "10.00")
    second, dearer = await received(goods, 10, "20.00")
    sold = [(await delivered(goods, 13))[1]]
    made = expect(await send_back(goods, dearer, 6, reason="wrong colour"))
    assert [made[name] for name in ("receipt_id", "amount", "cost", "difference")] == [
        *(dearer["id"], "120.00", "90.00", "-30.00"),
    ]
    assert await goods.stock() == ("1", "15.00")
    entry = (await goods.ledger())[-1]
    assert [entry[name] for name in ("kind", "value", "difference")] == ["purchase_return", "-90.00", "-30.00"]
    sold.append((await delivered(goods, 1))[1])
    assert await goods.stock() == ("0", "0.00")
    bought = Decimal(await owed(admin, first)) + Decimal(await owed(admin, second))
    assert sum(Decimal(one["cost"]) for one in sold) + Decimal(made["difference"]) == bought
    expect(await send_back(goods, receipt, 1), 40901)
    assert (await shipments(admin, first))[0] == receipt


async def test_what_goes_back_without_a_refund_is_a_difference_as_a_whole_until_it_is_reversed(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.receive(await goods.purchase(10, "10.00")))
    _, dearer = await received(goods, 10, "20.00")
    made = expect(await send_back(goods, dearer, 6, refund=False))
    assert (made["cost"], made["difference"], made["lines"][0]["difference"]) == ("90.00", "90.00", "90.00")
    back = expect(await admin.post(f"{AT}/purchase-returns/{made['id']}/reverse"))
    assert (back["cost"], back["difference"]) == ("-90.00", "-90.00")
    assert [entry["difference"] for entry in await goods.ledger()] == [None, None, "90.00", "-90.00"]
    assert await goods.stock() == ("20", "300.00")


async def test_goods_return_from_the_warehouse_where_they_are_now(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order, receipt = await received(goods, 3)
    elsewhere = await goods.warehouse()
    expect(await goods.transfer(elsewhere, 3))
    expect(await send_back(goods, receipt, 1), 40901)
    made = expect(await send_back(goods, receipt, 1, warehouse_id=elsewhere))
    assert made["warehouse_id"] == elsewhere
    assert await goods.stock(elsewhere) == ("2", "8.00")
    assert await owed(admin, order) == "8.00"


async def test_a_disabled_warehouse_takes_no_returned_goods_in(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    _, delivery = await delivered(goods, 2)
    expect(await admin.patch(f"{AT}/warehouses/{goods.warehouse_id}", {"version": 1, "status": "disabled"}))
    reply = await send_back(goods, delivery)
    expect(reply, 40001)
    assert reply.fields == {"warehouse_id"}
    expect(await send_back(goods, delivery, 1, warehouse_id=await goods.warehouse()))
    # what never left comes back to where it was
    expect(await admin.post(at_of(delivery, "reverse")))
    assert await goods.stock() == ("2", "8.00")


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_more_than_was_delivered_is_refused_and_names_the_line(
    language: str, admin: Client, described: Described
) -> None:
    goods, other = await Goods.stocked(admin, 5), await Goods.stocked(admin, 5)
    lines = [{"product_id": one.product_id, "quantity": "2", "price": "1.00"} for one in (goods, other)]
    draft = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": lines}
    expect(await other.transfer(goods.warehouse_id, 5))
    order = expect(await admin.post(f"{AT}/sales-orders", draft))
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm"))
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/deliver"))
    (delivery,) = await shipments(admin, order)
    back = [{**line, "quantity": quantity} for line, quantity in zip(lines, ("1", "2.0001"), strict=True)]
    back = [{"product_id": line["product_id"], "quantity": line["quantity"]} for line in back]
    reply = await admin.post(at_of(delivery, "returns"), {"lines": back}, headers={"Accept-Language": language})
    assert expect(reply, 40901) == {"open": "2", "field": "lines[1].quantity"}
    assert described.faults(CONFLICT_SCHEMA, reply.json) == []
    assert "2" in reply.json["msg"]
    assert await goods.stock() == ("3", "12.00")
    assert await owed(admin, order) == "4.00"


async def test_a_return_has_each_product_once_and_only_those_delivered(admin: Client) -> None:
    goods, other = await Goods.stocked(admin, 5), await Goods.stocked(admin, 5)
    _, delivery = await delivered(goods, 2)
    line = {"product_id": goods.product_id, "quantity": "1"}
    reply = await admin.post(
        at_of(delivery, "returns"), {"lines": [line, {**line, "product_id": other.product_id}, line]}
    )
    faults = {(one["field"], one["rule"]) for one in expect(reply, 40001)["errors"]}
    assert faults == {("lines[1].product_id", "reference"), ("lines[2].product_id", "duplicate")}
    for quantity in ("0", "-1", "0.00001", "1e30"):
        expect(await send_back(goods, delivery, quantity), 40001)
    expect(await admin.post(at_of(delivery, "returns"), {"lines": []}), 40001)
    assert await goods.stock() == ("3", "12.00")


async def test_of_fifty_returns_at_once_exactly_the_quantity_comes_back(admin: Client, tradewind: Running) -> None:
    goods = await Goods.stocked(admin, 10)
    order, delivery = await delivered(goods, 10)
    replies = await asyncio.gather(*(send_back(goods, delivery, 1) for _ in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 10, 40901: 40}
    assert await goods.stock() == ("10", "40.00")
    assert await owed(admin, order) == "0.00"
    assert expect(await admin.get(f"{AT}/sales-returns?delivery_id={delivery['id']}"))["total"] == 10
    faults = await differences(tradewind.service.database.driver)
    assert [fault for fault in faults if goods.product_id in fault] == []


@pytest.mark.parametrize("kind", ["delivery", "receipt"])
async def test_of_twenty_reversals_at_once_one_is_made(kind: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    order, shipment = await (delivered(goods, 3) if kind == "delivery" else received(goods, 3))
    replies = await asyncio.gather(*(admin.post(at_of(shipment, "reverse")) for _ in range(20)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 19}
    assert await goods.stock() == ("3", "12.00")
    assert await owed(admin, order) == "0.00"


@pytest.mark.parametrize("kind", ["delivery", "receipt"])
async def test_what_was_entered_by_mistake_is_reversed_and_the_order_shipped_again(kind: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 6)
    sold = kind == "delivery"
    ship, at = (goods.deliver, "sales-orders") if sold else (goods.receive, "purchase-orders")
    order = await (goods.sale(3, "4.00") if sold else goods.purchase(3, "4.00"))
    for quantity in (1, 2):
        expect(await ship(order, quantity))
    first, second = await shipments(admin, order)
    made = expect(await admin.post(at_of(second, "reverse"), {"reason": "wrong order"}))
    assert (made["reverses_id"], made[f"{kind}_id"], made["reason"]) == (second["id"], second["id"], "wrong order")
    reversed_one = (await shipments(admin, order))[1]
    assert (reversed_one["reversed_by_id"], reversed_one["reversed_by_name"]) == (made["id"], made["number"])
    assert (reversed_one["lines"][0]["returned"], reversed_one["returned_amount"]) == ("2", "8.00")
    after = await read(admin, at, order["id"])
    done = "delivered" if sold else "received"
    assert (after["status"], after["lines"][0][done]) == (f"partly_{done}", "1")
    assert await owed(admin, order) == "4.00"
    expect(await admin.post(at_of(first, "reverse")))
    assert (await read(admin, at, order["id"]))["status"] == order["status"]
    assert await goods.stock() == ("6", "24.00")
    assert await owed(admin, order) == "0.00"
    again = expect(await ship(order))
    assert (again["status"], again["returned_amount"]) == (done, "0.00")
    assert await owed(admin, order) == "12.00"


async def test_what_is_shipped_again_after_a_reversal_adds_up_to_the_order(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    line = {"product_id": goods.product_id, "quantity": "3", "price": "1.00", "discount": "0.005"}
    draft = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": [line], "freight": "7.00"}
    order = expect(await admin.post(f"{AT}/sales-orders", draft))
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm"))
    for _ in range(2):
        expect(await goods.deliver(order, 1))
    first, second = await shipments(admin, order)
    assert [one["amount"] for one in (first, second)] == ["8.00", "0.99"]
    expect(await admin.post(at_of(first, "reverse")))
    assert await owed(admin, order) == "0.99"
    expect(await goods.deliver(order))
    assert await owed(admin, order) == order["amount"] == "9.99"


async def test_a_reversal_takes_the_whole_back_also_what_was_returned_before(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 4)
    expect(await send_back(goods, delivery, 1))
    expect(await send_back(goods, delivery, 1, refund=False))
    made = expect(await admin.post(at_of(delivery, "reverse")))
    assert (made["lines"][0]["quantity"], made["amount"]) == ("2", "29.70")
    assert await goods.stock() == ("5", "20.00")
    assert await owed(admin, order) == "0.00"
    after = await read(admin, "sales-orders", order["id"])
    assert (after["status"], after["lines"][0]["delivered"], after["returned_amount"]) == ("confirmed", "0", "0.00")
    expect(await goods.deliver(order))
    assert await owed(admin, order) == "39.60"


@pytest.mark.parametrize("kind", ["delivery", "receipt"])
async def test_nothing_is_returned_or_reversed_of_what_was_reversed(kind: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    _, shipment = await (delivered(goods, 2) if kind == "delivery" else received(goods, 2))
    made = expect(await admin.post(at_of(shipment, "reverse")))
    for reply in (await send_back(goods, shipment), await admin.post(at_of(shipment, "reverse"))):
        expect(reply, 40901)
    of = "deliveries" if kind == "delivery" else "receipts"
    expect(await admin.post(f"{AT}/{of}/{made['id']}/reverse"), 40400)
    assert await goods.stock() == ("3", "12.00")


async def test_of_a_delivery_that_came_back_whole_nothing_is_left(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    _, delivery = await delivered(goods, 2)
    expect(await send_back(goods, delivery))
    for reply in (await send_back(goods, delivery), await admin.post(at_of(delivery, "reverse"))):
        expect(reply, 40901)
    assert expect(await send_back(goods, delivery, 1), 40901)["open"] == "0"


async def test_a_receipt_whose_goods_are_gone_is_not_reversed(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order, receipt = await received(goods, 3)
    expect(await goods.deliver(await goods.sale(1)))
    expect(await admin.post(at_of(receipt, "reverse")), 40901)
    assert await goods.stock() == ("2", "8.00")
    assert (await shipments(admin, order))[0] == receipt
    assert await owed(admin, order) == "12.00"


async def test_a_closed_order_stays_closed_when_its_delivery_is_reversed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    order = await goods.sale(3)
    expect(await goods.deliver(order, 1))
    (delivery,) = await shipments(admin, order)
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/close"))
    expect(await admin.post(at_of(delivery, "reverse")))
    after = await read(admin, "sales-orders", order["id"])
    assert (after["status"], after["lines"][0]["delivered"]) == ("closed", "0")
    assert await owed(admin, order) == "0.00"


@pytest.mark.parametrize("action", ["returns", "reverse"])
async def test_nothing_comes_back_in_a_closed_month(action: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    order = await goods.sale(2)
    expect(await goods.deliver(order, day="2010-03-31"))
    (delivery,) = await shipments(admin, order)
    refused = expect(await admin.post(at_of(delivery, action), {"day": "2010-03-30"}), 40001)
    assert [(one["field"], one["rule"]) for one in refused["errors"]] == [("day", "minimum")]
    await admin.post(f"{FINANCE}/periods/2010-04/close")
    expect(await admin.post(at_of(delivery, action), {"day": "2010-04-30"}), 40901)
    assert await goods.stock() == ("1", "4.00")
    assert (await shipments(admin, order))[0] == delivery
    assert expect(await admin.post(at_of(delivery, action), {"day": "2010-05-01"}))["day"] == "2010-05-01"


async def test_what_people_cannot_see_or_may_not_do_does_not_come_back(admin: Client, people: People) -> None:
    goods = await Goods.stocked(admin, 9)
    seller, other = await people.person(MAY_SELL), await people.person(MAY_SELL)
    clerk = await people.person([code for code in MAY_SELL if not code.endswith((":return", ":reverse"))])
    _, delivery = await delivered(Goods(seller, goods.product_id, goods.warehouse_id), 4)
    for action in ("returns", "reverse"):
        expect(await other.post(at_of(delivery, action)), 40400)
        expect(await clerk.post(at_of(delivery, action)), 40300)
    assert await goods.stock() == ("5", "20.00")
    expect(await send_back(Goods(seller, goods.product_id, goods.warehouse_id), delivery, 1))
    expect(await seller.post(at_of(delivery, "reverse")))
    assert await goods.stock() == ("9", "36.00")


async def test_goods_come_back_into_a_warehouse_with_keepers_through_these_alone(admin: Client, people: People) -> None:
    goods = await Goods.stocked(admin, 9)
    seller, keeper = await people.person(MAY_SELL), await people.person(MAY_SELL, "all")
    _, delivery = await delivered(Goods(seller, goods.product_id, goods.warehouse_id), 4)
    body = {"version": 1, "keeper_ids": [keeper.user["userId"]]}
    expect(await admin.patch(f"{AT}/warehouses/{goods.warehouse_id}", body))
    reply = await seller.post(at_of(delivery, "returns"))
    assert [(one["field"], one["rule"]) for one in expect(reply, 40001)["errors"]] == [("warehouse_id", "keeper")]
    expect(await seller.post(at_of(delivery, "reverse")), 40300)
    assert await goods.stock() == ("5", "20.00")
    expect(await send_back(Goods(keeper, goods.product_id, goods.warehouse_id), delivery, 1))
    expect(await keeper.post(at_of(delivery, "reverse")))


async def test_returns_are_listed_read_and_exported_with_a_row_for_each_line(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    _, delivery = await delivered(goods, 2)
    _, receipt = await received(goods, 2)
    for of, shipment, field in (
        ("sales-returns", delivery, "delivery_id"),
        ("purchase-returns", receipt, "receipt_id"),
    ):
        made = expect(await send_back(goods, shipment, 1))
        (listed,) = expect(await admin.get(f"{AT}/{of}?{field}={shipment['id']}"))["items"]
        assert listed == await read(admin, of, made["id"]) == made
        table = await admin.get(f"{AT}/{of}/export?{field}={shipment['id']}")
        assert table.body.decode().count(made["number"]) == 1


async def test_a_returned_sale_is_no_sale_and_counted_once(admin: Client) -> None:
    async def figures() -> dict[str, float]:
        (row,) = expect(await admin.get("/api/dashboard/sales-vs-purchase?months=1"))["items"]
        return {name: float(row[name]) for name in ("sales", "purchase")}

    goods = await Goods.fresh(admin)
    _, receipt = await received(goods, 4, "10.00")
    _, delivery = await delivered(goods, 4, "10.00")
    before = await figures()
    expect(await send_back(goods, delivery, 2))
    after = await figures()
    assert (before["sales"] - after["sales"], before["purchase"] - after["purchase"]) == (20.0, 0.0)
    expect(await send_back(goods, receipt, 1))
    expect(await admin.post(at_of(delivery, "reverse")))
    after = await figures()
    # a reversed delivery is still ordered
    assert (before["sales"] - after["sales"], before["purchase"] - after["purchase"]) == (0.0, 10.0)


async def test_documents_of_earlier_versions_come_back_too(admin: Client, tradewind: Running) -> None:
    goods = await Goods.stocked(admin, 3)
    order, delivery = await delivered(goods, 2)
    driver = tradewind.service.database.driver
    older = {"$unset": {"lines.0.returned": "", "returned_amount": "", "reversed_by_id": ""}}
    await driver.update_one("inventory_deliveries", {"number": delivery["number"]}, older)
    await driver.update_one("inventory_sales_orders", {"number": order["number"]}, {"$unset": {"returned_amount": ""}})
    expect(await send_back(goods, delivery, 1))
    assert await owed(admin, order) == "9.90"
    expect(await admin.post(at_of(delivery, "reverse")))
    assert await goods.stock() == ("3", "12.00")
    assert await owed(admin, order) == "0.00"
