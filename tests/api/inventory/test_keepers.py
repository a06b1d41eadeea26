"""Products, warehouses and suppliers are the company's; the stock of a warehouse with keepers is for these people."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from bson import ObjectId

from handlers.data.collection import Collection
from handlers.data.store import Store
from handlers.data.visible.scope import Scope
from handlers.schema.errors import ApiError
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.inventory.goods import AT, Goods
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=30)
ORDERED = [*(f"inventory:sales-order:{action}" for action in ("create", "confirm")), "inventory:product:list"]
STOREKEEPER = [
    *ORDERED,
    *(f"inventory:{entity}:list" for entity in ("warehouse", "stock", "stock-count")),
    *(f"inventory:{entity}:create" for entity in ("stock-count", "transfer")),
    "inventory:purchase-order:create",
    "inventory:purchase-order:receive",
    "inventory:sales-order:deliver",
    "inventory:stock:ledger",
    "dashboard:chart:stock-value-by-warehouse",
]
FOLLOWING = [collection for collection in CATALOGUE.collections.values() if collection.follows]


async def hired(people: People, scope: str = "self") -> Client:
    """A person with the permissions of a storekeeper."""
    return await people.person(STOREKEEPER, scope)


async def entrust(admin: Client, warehouse_id: str, *keepers: Client) -> dict[str, Any]:
    """Name the keepers of a warehouse."""
    at = f"{AT}/warehouses/{warehouse_id}"
    version = expect(await admin.get(at))["version"]
    body = {"version": version, "keeper_ids": [keeper.user["userId"] for keeper in keepers]}
    changed: dict[str, Any] = expect(await admin.patch(at, body))
    return changed


async def seen_of(person: Client, goods: Goods) -> tuple[int, int, bool]:
    """How many stock rows and movements of a warehouse a person sees, and whether its value is in the dashboard."""
    rows, moves = [
        expect(await person.get(f"{AT}/{path}?warehouse_id={goods.warehouse_id}")) for path in ("stock", "stock/ledger")
    ]
    assert (len(rows["items"]), len(moves["items"])) == (rows["total"], moves["total"])
    figures = expect(await person.get("/api/dashboard/stock-value-by-warehouse"))["items"]
    return rows["total"], moves["total"], goods.warehouse_id in {one["warehouse_id"] for one in figures}


async def test_a_seller_with_own_rows_orders_the_products_of_the_company(admin: Client, people: People) -> None:
    goods, seller = await Goods.fresh(admin), await people.person(ORDERED)
    assert expect(await seller.get(f"{AT}/products?sort=-created_at"))["items"][0]["id"] == goods.product_id
    for collection, id in (("inventory_products", goods.product_id), ("inventory_warehouses", goods.warehouse_id)):
        found = expect(await seller.get(f"/api/v1/meta/options/{collection}?ids={id}"))["items"]
        assert [one["id"] for one in found] == [id]
    assert (await Goods(seller, goods.product_id, goods.warehouse_id).sale(2))["amount"] == "19.80"


async def test_everybody_with_the_permission_sees_the_stock_of_a_warehouse_without_keepers(
    admin: Client, people: People
) -> None:
    goods = await Goods.stocked(admin, 3)
    assert await seen_of(await hired(people), goods) == (1, 1, True)


async def test_keepers_and_who_sees_everything_alone_see_the_stock(admin: Client, people: People) -> None:
    keeper, other, manager = await asyncio.gather(hired(people), hired(people), hired(people, "all"))
    goods = await Goods.stocked(admin, 3)
    warehouse = await entrust(admin, goods.warehouse_id, keeper)
    assert len(warehouse["keeper_names"]) == 1
    assert await seen_of(other, goods) == (0, 0, False)
    for person in (keeper, manager, admin):
        assert await seen_of(person, goods) == (1, 1, True)
    # the warehouse itself stays the company's
    listed = expect(await other.get(f"{AT}/warehouses?code={warehouse['code']}"))["items"]
    assert [one["id"] for one in listed] == [goods.warehouse_id]
    await entrust(admin, goods.warehouse_id)
    assert await seen_of(other, goods) == (1, 1, True)


async def test_nobody_else_moves_goods_in_a_warehouse_with_keepers(admin: Client, people: People) -> None:
    keeper, other = await hired(people), await hired(people)
    goods = await Goods.stocked(admin, 5)
    elsewhere = await goods.warehouse()
    theirs = Goods(other, goods.product_id, goods.warehouse_id)
    sale = await theirs.sale(1)
    purchase = await purchased(theirs, admin)
    await entrust(admin, goods.warehouse_id, keeper)
    replies = [
        await theirs.count(6, "4.00"),
        await theirs.transfer(elsewhere, 2),
        await Goods(other, goods.product_id, elsewhere).transfer(goods.warehouse_id, 1),
        await theirs.receive(purchase),
        await theirs.deliver(sale),
    ]
    assert [reply.code for reply in replies] == [40001] * 5
    at_fault = [[(one["field"], one["rule"]) for one in reply.data["errors"]] for reply in replies]
    fields = ("warehouse_id", "from_warehouse_id", "to_warehouse_id", "warehouse_id", "warehouse_id")
    assert at_fault == [[(field, "keeper")] for field in fields]
    assert await goods.stock() == ("5", "20.00")
    own = Goods(keeper, goods.product_id, goods.warehouse_id)
    expect(await own.count(6, "4.00"))
    expect(await own.transfer(elsewhere, 2))
    assert await goods.stock() == ("4", "16.00")
    # goods may go another way than the order says
    expect(await other.post(f"{AT}/sales-orders/{sale['id']}/deliver", {"warehouse_id": elsewhere}))


async def purchased(goods: Goods, by: Client) -> dict[str, Any]:
    """A purchase order of a person, which somebody else confirmed."""
    line = {"product_id": goods.product_id, "quantity": "1", "price": "4.00"}
    draft = {"supplier_id": await Goods(by, "", "").supplier(), "warehouse_id": goods.warehouse_id, "lines": [line]}
    order = expect(await goods.client.post(f"{AT}/purchase-orders", draft))
    confirmed: dict[str, Any] = expect(await by.post(f"{AT}/purchase-orders/{order['id']}/confirm"))
    return confirmed


async def test_who_keeps_a_warehouse_cannot_be_deleted(admin: Client, people: People) -> None:
    keeper, goods = await hired(people), await Goods.fresh(admin)
    await entrust(admin, goods.warehouse_id, keeper)
    expect(await admin.delete(f"/api/v1/system/users/{keeper.user['userId']}"), 40901)
    await entrust(admin, goods.warehouse_id)
    expect(await admin.delete(f"/api/v1/system/users/{keeper.user['userId']}"))


async def test_a_keeper_who_does_not_exist_is_refused(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    at = f"{AT}/warehouses/{goods.warehouse_id}"
    reply = await admin.patch(at, {"version": 1, "keeper_ids": [999_999]})
    expect(reply, 40001)
    assert reply.fields == {"keeper_ids"}


@pytest.mark.parametrize("collection", FOLLOWING, ids=lambda one: one.name)
async def test_every_door_of_the_store_is_closed_to_what_others_keep(
    collection: Collection, admin: Client, tradewind: Running
) -> None:
    open_to_all, kept = await Goods.stocked(admin, 1), await Goods.stocked(admin, 1)
    warehouses = [ObjectId(goods.warehouse_id) for goods in (open_to_all, kept)]
    ours = {"warehouse_id": {"$in": warehouses}}
    database = tradewind.service.database
    everything = {row["warehouse_id"]: row["id"] for row in await database.store(collection).find(ours)}
    assert everything.keys() == set(warehouses)
    for scope in (Scope(creator_id=7, user_id=7), Scope(department_ids=frozenset({1, 2}))):
        store = database.store(collection, scope=replace(scope, withheld=frozenset(warehouses[1:])))
        page = await store.page({"page": 1, "page_size": 20, "with_total": True}, ours)
        doors = {
            "find": [row["id"] for row in await store.find(ours)],
            "stream": [row["id"] async for row in store.stream({}, ours)],
            "page": [row["id"] for row in page.items],
            "aggregate": [row["_id"] for row in await store.aggregate([{"$match": ours}], collection_scan=True)],
            "find_one": [id for id in everything.values() if await store.find_one({"_id": id})],
            "get": [id for id in everything.values() if await reachable(store, id)],
        }
        assert doors == {door: [everything[warehouses[0]]] for door in doors}
        assert await store.count(ours) == page.total == 1
        assert await store.deleted.count({"warehouse_id": warehouses[1]}) == 0
        whole = await store.page({"page": 1, "page_size": 1, "with_total": True})
        assert whole.total == await store.count()


async def reachable(store: Store, id: Any) -> bool:
    try:
        await store.get(id)
    except ApiError:
        return False
    return True


async def test_the_explanation_says_that_others_keep_some_rows(admin: Client, people: People) -> None:
    keeper, other, goods = await hired(people), await hired(people), await Goods.stocked(admin, 1)
    await entrust(admin, goods.warehouse_id, keeper)
    query = f"user_id={other.user['userId']}&method=GET&path={AT}/stock"
    reply = await admin.get(f"/api/v1/system/authorization/explain?{query}", headers={"Accept-Language": "en"})
    scope = expect(reply)["data_scope"]
    assert "assigned to other people" in scope["words"]
    assert goods.warehouse_id in scope["filter"]["warehouse_id"]["$nin"]


async def test_a_warehouse_of_an_older_database_has_no_keepers(
    admin: Client, people: People, tradewind: Running
) -> None:
    goods, anybody = await Goods.stocked(admin, 1), await hired(people)
    key, unset = {"_id": ObjectId(goods.warehouse_id)}, {"$unset": {"keeper_ids": ""}}
    await tradewind.service.database.driver.update_one("inventory_warehouses", key, unset)
    read = expect(await admin.get(f"{AT}/warehouses/{goods.warehouse_id}"))
    assert (read["keeper_ids"], read["keeper_names"]) == (None, None)
    assert await seen_of(anybody, goods) == (1, 1, True)
    expect(await Goods(anybody, goods.product_id, goods.warehouse_id).count(2, "4.00"))
    await entrust(admin, goods.warehouse_id, anybody)
