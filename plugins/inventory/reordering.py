"""Reorder levels, what they propose to buy, and the draft purchase orders that are made of proposals.

A product is proposed where what is available, and what purchase orders have still to bring (drafts too, so that nothing
is ordered twice), are together below its level. The quantity fills up to the target, in whole lots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, cast

from plugins.api import (
    CONFLICT,
    ApiError,
    Page,
    Record,
    Request,
    Route,
    array,
    conflicts,
    crud,
    exact,
    invalid,
    obj,
    object_id,
    quantity,
    route,
    service_fields,
    shape,
)
from plugins.api.business import MAX_QUANTITY, SERVICE, Rates, price
from plugins.api.data import Filter, page_of_rows
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import RecordId, StoredAmount, store_quantity
from plugins.inventory.order_records import CURRENCY, PURCHASE_ORDERS, PURCHASE_STATES
from plugins.inventory.orders import make_create_handler
from plugins.inventory.record_types import ReorderLevel
from plugins.inventory.records import PRODUCTS, REORDER_LEVELS, STOCK, SUPPLIERS, WAREHOUSES
from plugins.inventory.reservations import Place, find_open, find_reserved
from plugins.inventory.texts import NOT_BELOW_LEVEL
from plugins.inventory.trades import ENABLED, PURCHASE, find_warehouse

MOST_LEVELS = 10_000  # that are looked at for a list of proposals
MOST_CHOSEN = 200
_COMING = {"status": {"$in": [PURCHASE_STATES.initial, "pending", *PURCHASE_STATES.transitions["ship"].sources]}}
_AGREED = {"status": {"$nin": ["draft", "pending", "cancelled"]}}
_NOTHING = Decimal(0)
_create_order = make_create_handler(PURCHASE)
_LEVEL = REORDER_LEVELS.fields

PROPOSAL = obj(
    "ReorderProposal",
    {
        "id": object_id(label=REORDER_LEVELS.noun, ref=REORDER_LEVELS.name, read_only=True, nullable=False),
        **service_fields(
            **{name: _LEVEL[name].but(on_delete=None) for name in ("product_id", "warehouse_id")},
            quantity=quantity(label=("建议采购数量", "Quantity to order")),
            available=quantity(label=("可用数量", "Available"), description="On hand, less what is reserved."),
            ordered=quantity(
                label=("在途数量", "On order"),
                description="What purchase orders have still to bring to the warehouse, also those not yet confirmed.",
            ),
            level=_LEVEL["level"],
        ),
        "supplier_id": object_id(
            label=("供应商", "Supplier"),
            ref=SUPPLIERS.name,
            read_only=True,
            description="Of the last purchase order for the product that the caller sees; null: there is none.",
        ),
        "price": price(
            label=("最近采购价", "Last price"),
            read_only=True,
            description="In that order, of the product's own unit; null if it was ordered in another unit, or in another "
            "currency than the supplier now has.",
        ),
        "currency": CURRENCY.but(description="Of that price: that of the supplier. Null: the company's own."),
    },
    nullable=False,
)

_ASKED = {
    "quantity": quantity(
        label=("数量", "Quantity"), minimum="0.0001", maximum=MAX_QUANTITY, description="The proposed one unless given."
    ),
    "supplier_id": object_id(
        label=("供应商", "Supplier"), ref=SUPPLIERS.name, description="The last one unless given; required without one."
    ),
    "price": price(
        label=("单价", "Unit price"),
        description="The last one with this supplier unless given; without one, as in a new order.",
    ),
}
ORDER_ONE_BODY = shape("ReorderBody", **_ASKED)
ORDER_BODY = shape(
    "ReorderProposalsBody",
    proposals=array(
        obj(
            "ChosenProposal",
            {"level_id": object_id(label=REORDER_LEVELS.noun, ref=REORDER_LEVELS.name, required=True), **_ASKED},
        ),
        label=("补货建议", "Proposals"),
        min_items=1,
        max_items=MOST_CHOSEN,
        required=True,
    ),
)
ORDERS = shape(
    "ReorderedOrders",
    items=array(PURCHASE_ORDERS.read, label=PURCHASE_ORDERS.noun, nullable=False),
)


async def create_level(req: Request) -> ReorderLevel:
    """Create a level."""
    await _check_level(req, req.body)
    return await req.store(REORDER_LEVELS).create(req.body)


async def update_level(req: Request) -> ReorderLevel:
    """Change a level."""
    values: Record = dict(req.body)
    version, levels = values.pop("version"), req.store(REORDER_LEVELS)
    await _check_level(req, {**await levels.get(req.path["id"]), **values})
    return await levels.update(req.path["id"], values, version=version)


async def _check_level(req: Request, level: Mapping[str, Any]) -> None:
    """Raise 40001 for a target below the level, a service, and a warehouse that only others keep."""
    if level.get("target") is not None and exact(level["target"]) < exact(level["level"]):
        raise invalid("target", "minimum")
    product = await req.system_store(PRODUCTS).find_one({"_id": level["product_id"]})
    if product is not None and product["kind"] == SERVICE:
        raise invalid("product_id", "reference")
    await find_warehouse(req, level["warehouse_id"])


async def list_proposals(req: Request) -> Page:
    """List what is to be bought: a row for each level that is not reached."""
    asked = {name: req.query[name] for name in ("product_id", "warehouse_id") if req.query.get(name) is not None}
    rows = await _propose(req, asked)
    supplier_id = req.query.get("supplier_id")
    rows = [one for one in rows if supplier_id in (None, one["supplier_id"])]
    return page_of_rows(req.query, rows)


async def _propose(req: Request, where: Filter) -> list[Record]:
    """Return the proposals of the levels that match, in warehouses whose stock the caller sees."""
    seen = {**ENABLED, "$and": [where, {"warehouse_id": {"$nin": sorted(req.scope.withheld)}}]}
    levels = await req.store(REORDER_LEVELS).find(seen, sort="created_at", limit=MOST_LEVELS)
    named = {"_id": {"$in": list({one["product_id"] for one in levels})}, **ENABLED}
    products = [one["id"] for one in await req.system_store(PRODUCTS).find(named, fields=["status"])]
    held: defaultdict[Place, Decimal] = defaultdict(Decimal)
    for row in await req.system_store(STOCK).find({"product_id": {"$in": products}}):
        held[row["product_id"], row["warehouse_id"]] = exact(row["quantity"])
    reserved = await find_reserved(req, products)
    coming = await find_open(req, PURCHASE_ORDERS, "received", products, _COMING)
    rows = []
    for level in (one for one in levels if one["product_id"] in products):
        place = (level["product_id"], level["warehouse_id"])
        available, ordered = held[place] - reserved.get(place, _NOTHING), coming.get(place, _NOTHING)
        wanted = _count_wanted(level, available + ordered)
        if wanted:
            figures = {"available": available, "ordered": ordered, "quantity": wanted}
            shown = {name: level[name] for name in ("id", "product_id", "warehouse_id", "level")}
            rows.append(shown | {name: store_quantity(one) for name, one in figures.items()})
    last = await _find_last(req, [one["product_id"] for one in rows])
    return [{**one, **last.get(one["product_id"], dict.fromkeys(("supplier_id", "price", "currency")))} for one in rows]


def _count_wanted(level: ReorderLevel, there: Decimal) -> Decimal:
    """Return how much is to be ordered where so much is there or comes: nothing if the level is reached."""
    least = exact(level["level"])
    if there >= least:
        return _NOTHING
    target, lot = level["target"], exact(level["lot"])
    missing = (least if target is None else exact(target)) - there
    return missing if not lot else (missing / lot).to_integral_value(ROUND_CEILING) * lot


async def _find_last(req: Request, product_ids: Sequence[RecordId]) -> dict[RecordId, Record]:
    """Return by product the supplier of its last purchase order that the caller sees, and the price with its currency."""
    wanted = {"lines.product_id": {"$in": list(product_ids)}}
    last = {"supplier_id": "$supplier_id", "price": "$lines.price", "factor": "$lines.unit_factor"}
    last |= {"per": "$lines.price_per", "currency": "$currency"}
    found = await req.store(PURCHASE_ORDERS).aggregate(
        [
            {"$match": {**wanted, **_AGREED}},
            {"$sort": {"ordered_on": -1, "_id": -1}},
            {"$unwind": "$lines"},
            {"$match": wanted},
            {"$group": {"_id": "$lines.product_id", **{name: {"$first": value} for name, value in last.items()}}},
        ]
    )
    known = await _find_suppliers(req, [one["supplier_id"] for one in found])
    last_ones = {}
    for one in (one for one in found if one["supplier_id"] in known):
        currency = known[one["supplier_id"]]
        fits = one.get("factor") is None and one.get("per") is None and one.get("currency") == currency
        values = {"supplier_id": one["supplier_id"], "price": one["price"] if fits else None, "currency": currency}
        last_ones[one["_id"]] = values
    return last_ones


async def _find_suppliers(req: Request, ids: Sequence[RecordId]) -> dict[RecordId, str | None]:
    """Return the ids of those suppliers of whom can be ordered, each with the currency of new orders."""
    found = await req.store(SUPPLIERS).find({"_id": {"$in": list(ids)}, **ENABLED})
    base = await req.part(Rates).find_base()
    return {one["id"]: None if one["currency"] == base else one["currency"] for one in found}


async def order_proposals(req: Request) -> Record:
    """Make draft purchase orders of proposals: one for each supplier and warehouse."""
    return {"items": await _order(req, req.body["proposals"], "proposals[{}].")}


async def order_one(req: Request) -> Record:
    """Make a draft purchase order of one proposal."""
    level = await req.store(REORDER_LEVELS).get(req.path["id"])
    (made,) = await _order(req, [{**(req.body or {}), "level_id": level["id"]}], "")
    return made


async def _order(req: Request, chosen: Sequence[Record], at: str) -> list[Record]:
    """Create the drafts and return them. `at` is where the body has the proposal of a number.

    Raises 40001 for what cannot be ordered, and 40901 for a level that is reached meanwhile.
    """
    ids = [one["level_id"] for one in chosen]
    faults = [FieldError(f"{at.format(n)}level_id", "duplicate") for n, id in enumerate(ids) if id in ids[:n]]
    given = {one.get("supplier_id") for one in chosen} - {None}
    unknown = given - (await _find_suppliers(req, list(given))).keys()
    faults += [
        FieldError(f"{at.format(n)}supplier_id", "reference")
        for n, one in enumerate(chosen)
        if one.get("supplier_id") in unknown
    ]
    if faults:
        raise ValidationFailed(faults)

    async def work() -> list[Record]:
        for id in sorted(ids):  # who orders the same at once waits, and finds it ordered
            await req.service.database.lock(REORDER_LEVELS, id)
        proposed = {one["id"]: one for one in await _propose(req, {"_id": {"$in": ids}})}
        orders: defaultdict[tuple[Any, Any], list[Record]] = defaultdict(list)
        for number, one in enumerate(chosen):
            row = proposed.get(one["level_id"])
            if row is None:
                raise ApiError(CONFLICT, NOT_BELOW_LEVEL, data={"field": f"{at.format(number)}level_id"})
            supplier_id = one.get("supplier_id") or row["supplier_id"]
            if supplier_id is None:
                raise invalid(f"{at.format(number)}supplier_id", "required")
            orders[supplier_id, row["warehouse_id"]].append(_make_line(one, row, supplier_id))
        made: list[Record] = []
        for (supplier_id, place), lines in orders.items():
            body = {"supplier_id": supplier_id, "warehouse_id": place, "lines": lines}
            made.append(cast(Record, await _create_order(replace(req, body=body))))
        return made

    return await req.transaction(work)


def _make_line(asked: Record, proposed: Record, supplier_id: RecordId) -> Record:
    last: StoredAmount | None = proposed["price"] if supplier_id == proposed["supplier_id"] else None
    given = asked.get("price")
    known = last if given is None else given
    line = {"product_id": proposed["product_id"], "quantity": asked.get("quantity") or proposed["quantity"]}
    return line if known is None else {**line, "price": known}


ROUTES: tuple[Route, ...] = (
    *crud(
        REORDER_LEVELS,
        at="/api/v1/inventory/reorder-levels",
        resource="inventory:reorder-level",
        create=create_level,
        update=update_level,
    ),
    route(
        "GET /api/v1/inventory/reorder-proposals",
        list_proposals,
        summary="List what is to be bought because its reorder level is not reached",
        access="inventory:reorder-proposal:list",
        paged=True,
        query={
            **{name: REORDER_LEVELS.list_query[name] for name in ("page", "page_size", "with_total")},
            "cursor": REORDER_LEVELS.list_query["cursor"].but(example="20"),  # the number of the proposals before
            "product_id": object_id(label=("商品", "Product"), ref=PRODUCTS.name),
            "warehouse_id": object_id(label=("仓库", "Warehouse"), ref=WAREHOUSES.name),
            "supplier_id": object_id(label=("供应商", "Supplier"), ref=SUPPLIERS.name),
        },
        returns=PROPOSAL,
    ),
    route(
        "POST /api/v1/inventory/reorder-proposals/order",
        order_proposals,
        summary="Make draft purchase orders of proposals, one for each supplier and warehouse",
        title=("生成采购订单", "Order"),
        access="inventory:purchase-order:create",
        body=ORDER_BODY,
        returns=ORDERS,
        refusals=conflicts(NOT_BELOW_LEVEL),
    ),
    route(
        "POST /api/v1/inventory/reorder-proposals/{id}/order",
        order_one,
        summary="Make a draft purchase order of a proposal",
        title=("生成采购订单", "Order"),
        access="inventory:purchase-order:create",
        body=ORDER_ONE_BODY,
        returns=PURCHASE_ORDERS.read,
        refusals=conflicts(NOT_BELOW_LEVEL),
        collection=REORDER_LEVELS.name,
    ),
)
