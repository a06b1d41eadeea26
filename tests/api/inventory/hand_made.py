"""Requests of inventory that need a state first: goods on the shelf, an order that is on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from handlers.route import Route
from plugins.testing import expect
from tests.api.inventory.goods import AT, Goods
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

PURCHASES, SALES, QUOTES = f"{AT}/purchase-orders", f"{AT}/sales-orders", f"{AT}/quotations"


async def receive(maker: Maker, route: Route) -> Exercise:
    order = await _ordered(maker, PURCHASES)
    return _of(maker, route, order, {"warehouse_id": order["warehouse_id"], "version": order["version"]})


async def deliver(maker: Maker, route: Route) -> Exercise:
    order = await _ordered(maker, SALES)
    return _of(maker, route, order, {"warehouse_id": order["warehouse_id"], "version": order["version"]})


async def close_purchase(maker: Maker, route: Route) -> Exercise:
    return _of(maker, route, await _begun(maker, PURCHASES, "receive"), None)


async def close_sale(maker: Maker, route: Route) -> Exercise:
    return _of(maker, route, await _begun(maker, SALES, "deliver"), None)


async def pending_purchase(maker: Maker, route: Route) -> Exercise:
    draft = await maker.record("inventory_purchase_orders")
    pending = expect(await maker.admin.post(f"{PURCHASES}/{draft['id']}/submit"))
    return _of(maker, route, pending, {"reason": "no"} if route.path.endswith("/reject") else None)


async def revise(maker: Maker, route: Route) -> Exercise:
    order = await _ordered(maker, route.path.removesuffix("/{id}/revise"))
    body = {"version": order["version"], "reason": "客户减少数量", "lines": [{"line": 1, "quantity": "2"}]}
    return _of(maker, route, order, body)


async def waiting_revision(maker: Maker, route: Route) -> Exercise:
    order = await _ordered(maker, PURCHASES)
    body = {"version": order["version"], "reason": "追加数量", "lines": [{"line": 1, "quantity": "4"}]}
    revision = expect(await maker.admin.post(f"{PURCHASES}/{order['id']}/revise", body))
    if route.path.endswith(("/withdraw", "/reject")):
        revision = expect(await maker.admin.post(f"{AT}/purchase-order-revisions/{revision['id']}/submit"))
    return _of(maker, route, revision, {"reason": "no"} if route.path.endswith("/reject") else None)


async def held_order(maker: Maker, route: Route) -> Exercise:
    order = await _ordered(maker, route.path.removesuffix("/{id}/release"))
    held = expect(await maker.admin.post(path_with(route, order["id"]).replace("/release", "/hold"), {"reason": "no"}))
    return _of(maker, route, held, None)


async def transfer(maker: Maker, route: Route) -> Exercise:
    goods = await Goods.stocked(maker.admin, 5)
    other = await goods.warehouse()
    line = {"product_id": goods.product_id, "quantity": "2"}
    body = {"from_warehouse_id": goods.warehouse_id, "to_warehouse_id": other, "lines": [line]}
    return Exercise(maker.admin, route, route.path, body)


async def read_receipt(maker: Maker, route: Route) -> Exercise:
    return await _shipped(maker, route, PURCHASES, "receive")


async def read_delivery(maker: Maker, route: Route) -> Exercise:
    return await _shipped(maker, route, SALES, "deliver")


async def _shipped(maker: Maker, route: Route, at: str, action: str) -> Exercise:
    order = await _begun(maker, at, action)
    listed = route.path.partition("/{id}")[0]
    (made,) = expect(await maker.admin.get(f"{listed}?order_id={order['id']}"))["items"]
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def return_shipment(maker: Maker, route: Route) -> Exercise:
    orders, action = (PURCHASES, "receive") if "/receipts/" in route.path else (SALES, "deliver")
    order = await _begun(maker, orders, action)
    listed = route.path.partition("/{id}")[0]
    (made,) = expect(await maker.admin.get(f"{listed}?order_id={order['id']}"))["items"]
    body = (
        {"reason": "包装破损"} if route.path.endswith("/reverse") else {"lines": _returned(made), "reason": "包装破损"}
    )
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


def _returned(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"product_id": line["product_id"], "quantity": "0.5"} for line in made["lines"]]


async def read_return(maker: Maker, route: Route) -> Exercise:
    of = "receipts" if "purchase-returns" in route.path else "deliveries"
    returning = next(one for one in maker.catalogue.routes if one.path == f"{AT}/{of}/{{id}}/returns")
    made = expect(await (await return_shipment(maker, returning)).send())
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def reverse_return(maker: Maker, route: Route) -> Exercise:
    return replace(await read_return(maker, route), body={"reason": "录入错误"})


async def reverse_movement(maker: Maker, route: Route) -> Exercise:
    of = route.path.removeprefix(f"{AT}/").partition("/")[0]
    made = await maker.record(f"inventory_{of.replace('-', '_')}")
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"reason": "录入错误"}, record=made)


async def proposal(maker: Maker, route: Route) -> Exercise:
    goods = await Goods.fresh(maker.admin)
    body = {"product_id": goods.product_id, "warehouse_id": goods.warehouse_id, "level": "5"}
    level = expect(await maker.admin.post(f"{AT}/reorder-levels", body))
    asked = {"supplier_id": await goods.supplier()}
    if "{id}" not in route.path:
        return Exercise(maker.admin, route, route.path, {"proposals": [{**asked, "level_id": level["id"]}]})
    return Exercise(maker.admin, route, path_with(route, level["id"]), asked, record=level)


async def sent_quotation(maker: Maker, route: Route) -> Exercise:
    lines = [{"description": "安装调试", "quantity": "2", "price": "9.90"}]
    body = {"customer_id": await maker.refer("crm_customers"), "lines": lines}
    draft = expect(await maker.admin.post(QUOTES, body))
    sent = expect(await maker.admin.post(f"{QUOTES}/{draft['id']}/send"))
    given = {"renew": {"valid_until": "2099-12-31"}, "reject": {"reason": "价格偏高"}}
    return _of(maker, route, sent, given.get(route.path.rpartition("/")[2], {}))


async def of_many_months(maker: Maker, route: Route) -> Exercise:
    """A report of more than this month, in which nothing may have been delivered yet."""
    made, until = await maker.derived(route), datetime.now(UTC).date()
    return replace(made, path=f"{made.path}?from={until - timedelta(days=300)}&to={until}")


async def _ordered(maker: Maker, at: str) -> dict[str, Any]:
    goods = await Goods.stocked(maker.admin, 5)
    return await (goods.purchase(3) if at == PURCHASES else goods.sale(3))


async def _begun(maker: Maker, at: str, action: str) -> dict[str, Any]:
    order = await _ordered(maker, at)
    part = {"lines": [{"product_id": order["lines"][0]["product_id"], "quantity": "1"}]}
    begun: dict[str, Any] = expect(await maker.admin.post(f"{at}/{order['id']}/{action}", part))
    return begun


def _of(maker: Maker, route: Route, order: dict[str, Any], body: Any) -> Exercise:
    return Exercise(maker.admin, route, path_with(route, order["id"]), body, record=order)


INVENTORY_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {PURCHASES}/{{id}}/receive": receive,
    f"POST {PURCHASES}/{{id}}/withdraw": pending_purchase,
    f"POST {PURCHASES}/{{id}}/reject": pending_purchase,
    f"POST {PURCHASES}/{{id}}/close": close_purchase,
    f"POST {SALES}/{{id}}/deliver": deliver,
    f"POST {SALES}/{{id}}/close": close_sale,
    f"POST {PURCHASES}/{{id}}/revise": revise,
    f"POST {SALES}/{{id}}/revise": revise,
    f"GET {AT}/purchase-order-revisions/{{id}}": waiting_revision,
    f"GET {AT}/purchase-order-revisions/{{id}}/changes": waiting_revision,
    **{
        f"POST {AT}/purchase-order-revisions/{{id}}/{action}": waiting_revision
        for action in ("submit", "withdraw", "reject", "confirm", "cancel")
    },
    f"POST {PURCHASES}/{{id}}/release": held_order,
    f"POST {SALES}/{{id}}/release": held_order,
    **{
        f"POST {QUOTES}/{{id}}/{action}": sent_quotation
        for action in ("accept", "reject", "revise", "renew", "order", "contract")
    },
    f"GET {AT}/margins": of_many_months,
    f"GET {AT}/margins/lines": of_many_months,
    f"POST {AT}/reorder-proposals/order": proposal,
    f"POST {AT}/reorder-proposals/{{id}}/order": proposal,
    f"POST {AT}/transfers": transfer,
    f"GET {AT}/receipts/{{id}}": read_receipt,
    f"GET {AT}/deliveries/{{id}}": read_delivery,
    f"GET {AT}/receipts/{{id}}/print": read_receipt,
    f"GET {AT}/deliveries/{{id}}/print": read_delivery,
    **{
        f"POST {AT}/{of}/{{id}}/{action}": return_shipment
        for of in ("receipts", "deliveries")
        for action in ("returns", "reverse")
    },
    f"GET {AT}/purchase-returns/{{id}}": read_return,
    f"GET {AT}/sales-returns/{{id}}": read_return,
    f"POST {AT}/purchase-returns/{{id}}/reverse": reverse_return,
    f"POST {AT}/sales-returns/{{id}}/reverse": reverse_return,
    f"POST {AT}/transfers/{{id}}/reverse": reverse_movement,
    f"POST {AT}/stock-counts/{{id}}/reverse": reverse_movement,
}
