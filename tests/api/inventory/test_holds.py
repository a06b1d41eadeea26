"""Orders and contracts that wait: what is refused meanwhile, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
PURCHASES, SALES, CONTRACTS = f"{AT}/purchase-orders", f"{AT}/sales-orders", "/api/v1/crm/contracts"
WHY = "价格有异议"


async def draft_of(goods: Goods, at: str) -> dict[str, Any]:
    line = {"product_id": goods.product_id, "quantity": "1"}
    by = {"customer_name": "somebody"} if at == SALES else {"supplier_id": await goods.supplier()}
    made: dict[str, Any] = expect(
        await goods.client.post(at, {**by, "warehouse_id": goods.warehouse_id, "lines": [line]})
    )
    return made


@pytest.mark.parametrize(("at", "action"), [(SALES, "deliver"), (PURCHASES, "receive")])
async def test_goods_of_an_order_on_hold_do_not_move_until_it_is_released(at: str, action: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await (goods.sale(2) if at == SALES else goods.purchase(2))
    path = f"{at}/{order['id']}"
    held = expect(await admin.post(f"{path}/hold", {"reason": WHY, "version": order["version"]}))
    assert (held["on_hold"], held["hold_reason"], held["held_by"]) == (True, WHY, admin.user["userId"])
    assert held["held_at"] is not None
    assert held["status"] == order["status"]
    reply = await admin.post(f"{path}/{action}", {})
    expect(reply, 40901)
    assert WHY in reply.json["msg"]
    assert await goods.stock() == ("5", "20.00")
    released = expect(await admin.post(f"{path}/release"))
    assert [released[name] for name in ("on_hold", "hold_reason", "held_at", "held_by")] == [False, None, None, None]
    expect(await admin.post(f"{path}/{action}", {}))


@pytest.mark.parametrize(
    ("at", "collection"), [(SALES, "inventory_sales_orders"), (PURCHASES, "inventory_purchase_orders")]
)
async def test_an_order_of_an_earlier_version_is_listed_without_a_hold(
    at: str, collection: str, admin: Client, tradewind: Running
) -> None:
    order = await draft_of(await Goods.stocked(admin, 1), at)
    unset = {"$unset": {"on_hold": "", "hold_reason": "", "disputed": "", "held_at": "", "held_by": ""}}
    await tradewind.service.database.driver.update_one(collection, {"_id": ObjectId(order["id"])}, unset)
    rows = expect(await admin.get(f"{at}?page_size=200"))["items"]
    (listed,) = [row for row in rows if row["id"] == order["id"]]
    assert (listed["on_hold"], listed["disputed"]) == (None, None)


@pytest.mark.parametrize(("at", "actions"), [(SALES, ["confirm"]), (PURCHASES, ["submit", "confirm"])])
async def test_a_draft_on_hold_is_edited_as_before_but_goes_no_further(
    at: str, actions: list[str], admin: Client
) -> None:
    draft = await draft_of(await Goods.fresh(admin), at)
    held = expect(await admin.post(f"{at}/{draft['id']}/hold", {"reason": WHY}))
    for action in actions:
        expect(await admin.post(f"{at}/{draft['id']}/{action}"), 40901)
    changed = expect(await admin.patch(f"{at}/{draft['id']}", {"version": held["version"], "remark": "soon"}))
    assert (changed["remark"], changed["on_hold"]) == ("soon", True)
    expect(await admin.post(f"{at}/{draft['id']}/cancel"))


async def test_orders_on_hold_are_a_list_of_their_own(admin: Client) -> None:
    goods, reference = await Goods.fresh(admin), unique("ours")
    held, other = [await draft_of(goods, SALES) for _ in range(2)]
    for order in (held, other):
        expect(await admin.patch(f"{SALES}/{order['id']}/notes", {"reference": reference}))
    expect(await admin.post(f"{SALES}/{held['id']}/hold", {"reason": WHY}))
    for on_hold, order in (("true", held), ("false", other)):
        rows = expect(await admin.get(f"{SALES}?reference={reference}&on_hold={on_hold}"))["items"]
        assert [row["id"] for row in rows] == [order["id"]]


async def test_orders_in_dispute_are_a_list_of_their_own_until_they_are_released(admin: Client) -> None:
    draft = await draft_of(await Goods.fresh(admin), SALES)
    reference = unique("ours")
    expect(await admin.patch(f"{SALES}/{draft['id']}/notes", {"reference": reference}))
    for action, body, listed in (("hold", {"reason": WHY, "disputed": True}, 1), ("release", {}, 0)):
        expect(await admin.post(f"{SALES}/{draft['id']}/{action}", body))
        rows = expect(await admin.get(f"{SALES}?reference={reference}&disputed=true"))["items"]
        assert len(rows) == listed


async def test_only_what_is_open_is_held_and_only_what_is_held_is_released(admin: Client) -> None:
    draft = await draft_of(await Goods.fresh(admin), SALES)
    path = f"{SALES}/{draft['id']}"
    expect(await admin.post(f"{path}/release"), 40901)
    expect(await admin.post(f"{path}/hold", {}), 40001)
    expect(await admin.post(f"{path}/hold", {"reason": WHY}))
    expect(await admin.post(f"{path}/hold", {"reason": "again"}), 40901)
    expect(await admin.post(f"{path}/release", {"version": 1}), 40902)
    expect(await admin.post(f"{path}/release"))
    expect(await admin.post(f"{path}/cancel"))
    expect(await admin.post(f"{path}/hold", {"reason": "too late"}), 40901)


async def test_a_disputed_contract_is_not_submitted(admin: Client) -> None:
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    body = {"customer_id": customer, "name": unique("contract"), "amount": "1.00"}
    path = f"{CONTRACTS}/{expect(await admin.post(CONTRACTS, body))['id']}"
    expect(await admin.post(f"{path}/hold", {"reason": WHY}))
    reply = await admin.post(f"{path}/submit")
    expect(reply, 40901)
    assert WHY in reply.json["msg"]
    expect(await admin.post(f"{path}/release"))
    expect(await admin.post(f"{path}/submit"))


async def test_holding_takes_a_permission_of_its_own(admin: Client, people: People) -> None:
    draft = await draft_of(await Goods.fresh(admin), SALES)
    seller = await people.person(["inventory:sales-order:read", "inventory:sales-order:update"], "all")
    expect(await seller.post(f"{SALES}/{draft['id']}/hold", {"reason": WHY}), 40300)
