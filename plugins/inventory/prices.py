"""Price lists: which price a line is proposed, and what customers paid and suppliers charged last.

A customer or supplier names lists of its own, in order of preference; those that share a list are a group. Lists that
hold for everybody come after these, the newest first, and the price of the product last, converted by the rate of the order.
Only lists in the currency of the order are asked. Of the prices of a list for a
product, the one with the largest `min_quantity` that the line reaches counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    Record,
    Request,
    Route,
    array,
    crud,
    day_of,
    exact,
    integer,
    invalid,
    obj,
    object_id,
    route,
    shape,
    store_money,
)
from plugins.api.business import PRICE_PLACES, Customers
from plugins.api.values import RecordId, StoredAmount, store_price
from plugins.inventory.currencies import convert_price, filter_lists
from plugins.inventory.lines import Line
from plugins.inventory.record_types import PriceList, Product
from plugins.inventory.records import PRICE_LISTS, PRICES, PRODUCTS, SUPPLIERS
from plugins.inventory.trades import ENABLED, PURCHASE, SALE, Drafts, Trade

_MOST_LISTS = 50  # that are looked at for an order
_NEVER = ["draft", "pending", "cancelled"]


@dataclass(frozen=True)
class Proposal:
    """The price that is proposed for a line, that of how many units it is, and the list that it is from, if any."""

    price: StoredAmount | None
    per: StoredAmount | None = None
    list_id: RecordId | None = None


async def find_proposals(
    req: Request,
    trade: Drafts,
    lines: Sequence[Line],
    order: Mapping[str, Any],
    products: Mapping[RecordId, Product],
    factors: Sequence[Decimal | None],
) -> list[Proposal]:
    """Return the price that each line is proposed on the day of the order: none for a line without a product.

    Prices are those of the products' own units, of which the unit of each line is `factors`.
    """
    lists = await _find_lists(req, trade, order) if products else []
    offered: defaultdict[tuple[RecordId, RecordId], list[Record]] = defaultdict(list)
    if lists:
        of_lists = {"price_list_id": {"$in": lists}, "product_id": {"$in": list(products)}}
        for one in sorted(await req.system_store(PRICES).find(of_lists), key=lambda one: -exact(one["min_quantity"])):
            offered[one["price_list_id"], one["product_id"]].append({**one})
    return [
        _propose(trade, order, line, products.get(line.get("product_id")), factor or Decimal(1), lists, offered)
        for line, factor in zip(lines, factors, strict=True)
    ]


def _propose(
    trade: Drafts,
    order: Mapping[str, Any],
    line: Line,
    product: Product | None,
    factor: Decimal,
    lists: Sequence[RecordId],
    offered: Mapping[tuple[RecordId, RecordId], Sequence[Record]],
) -> Proposal:
    if product is None:
        return Proposal(None)
    quantity = exact(line.get("quantity")) * factor
    for id in lists:
        for one in offered.get((id, product["id"]), ()):
            if quantity >= exact(one["min_quantity"]):
                return Proposal(_times(one["price"], factor), one["price_per"], id)
    own = product[trade.default_price]
    if own is None or order.get("rate") is None:
        return Proposal(_times(own, factor))
    return Proposal(store_money(convert_price(exact(own) * factor, order)))


def _times(price: StoredAmount | None, factor: Decimal) -> StoredAmount | None:
    return price if price is None or factor == 1 else store_price(exact(price) * factor, PRICE_PLACES)


async def _find_lists(req: Request, trade: Drafts, order: Mapping[str, Any]) -> list[RecordId]:
    """Return the lists that hold for an order on its day, the first to be asked first."""
    on = order.get(trade.dated) or day_of(req.now, req.service.settings.zone).isoformat()
    own = await _find_own(req, order)
    holds: Record = {
        **ENABLED,
        "kind": trade.price_list,
        **await filter_lists(req, order),
        "$and": [
            {"$or": [{"valid_from": None}, {"valid_from": {"$lte": on}}]},
            {"$or": [{"valid_to": None}, {"valid_to": {"$gte": on}}]},
            {"$or": [{"for_all": True}, {"_id": {"$in": own}}]},
        ],
    }
    found: Sequence[PriceList] = await req.system_store(PRICE_LISTS).find(holds, sort="-valid_from", limit=_MOST_LISTS)
    ids = [one["id"] for one in found]
    preferred = [id for id in own if id in ids]
    return [*preferred, *(one["id"] for one in found if one["for_all"] and one["id"] not in preferred)]


async def _find_own(req: Request, order: Mapping[str, Any]) -> list[RecordId]:
    if order.get("customer_id") is not None:
        return list(await req.part(Customers).find_price_lists(order["customer_id"]))
    if order.get("supplier_id") is not None:
        supplier = await req.system_store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
        return list((supplier["price_list_ids"] if supplier is not None else None) or [])
    return []


async def list_last_prices(trade: Trade, req: Request) -> Record:
    """Return the lines with a product in orders that the caller sees and that were confirmed, the newest first."""
    party = "supplier_id" if trade.incoming else "customer_id"
    query, product_id = req.query, req.query["product_id"]
    of_party = {party: query[party]} if query.get(party) is not None else {}
    orders = {**of_party, "lines.product_id": product_id, "status": {"$nin": _NEVER}}
    fields = ("number", "ordered_on", party, "currency", "lines")
    found = await req.store(trade.orders).find(orders, sort="-ordered_on", limit=query["limit"], fields=fields)
    shown = ("line", "quantity", "unit", "price", "price_per", "discount", "discount_amount")
    items = [
        {"order_id": order["id"], **{name: order[name] for name in ("number", "ordered_on", party, "currency")}}
        | {name: line.get(name) for name in shown}
        for order in found
        for line in order["lines"]
        if line.get("product_id") == product_id
    ]
    return {"items": items[: query["limit"]]}


def _last_prices(trade: Trade, endpoint: str, access: str) -> Route:
    party, fields = "supplier_id" if trade.incoming else "customer_id", trade.orders.fields
    lines = fields["lines"].items
    kept = (lines.fields or {}) if lines is not None else {}
    whose = fields[party].but(required=False, nullable=True, read_only=True, on_delete=None, held=None)
    item = {
        "order_id": object_id(label=trade.orders.noun, ref=trade.orders.name, nullable=False),
        "number": fields["number"],
        "ordered_on": fields["ordered_on"],
        party: whose,
        "currency": fields["currency"],
        **{
            name: kept[name]
            for name in ("line", "quantity", "unit", "price", "price_per", "discount", "discount_amount")
        },
    }
    return route(
        endpoint,
        partial(list_last_prices, trade),
        summary=f"List the last prices of a product {'of a supplier' if trade.incoming else 'for a customer'}",
        access=access,
        query={
            "product_id": object_id(ref=PRODUCTS.name, required=True),
            party: object_id(ref=fields[party].ref, ref_optional=True, description="Of all of them unless given."),
            "limit": integer(minimum=1, maximum=100, default=10),
        },
        returns=shape(
            f"{trade.orders.title}LastPrices",
            items=array(
                obj(f"{trade.orders.title}LastPrice", item, nullable=False),
                label=("最近价格", "Last prices"),
                nullable=False,
            ),
        ),
        collection=trade.orders.name,
    )


async def create_list(req: Request) -> PriceList:
    """Create a price list."""
    _check_days(req.body)
    return await req.store(PRICE_LISTS).create(req.body)


async def update_list(req: Request) -> PriceList:
    """Change a price list. Lines that are entered already keep what was proposed."""
    values: Record = dict(req.body)
    version, lists = values.pop("version"), req.store(PRICE_LISTS)
    _check_days({**await lists.get(req.path["id"]), **values})
    return await lists.update(req.path["id"], values, version=version)


def _check_days(price_list: Mapping[str, Any]) -> None:
    """Raise 40001 for a list that ends before it begins."""
    first, last = price_list.get("valid_from"), price_list.get("valid_to")
    if first and last and last < first:
        raise invalid("valid_to", "minimum")


ROUTES: tuple[Route, ...] = (
    *crud(
        PRICE_LISTS,
        at="/api/v1/inventory/price-lists",
        resource="inventory:price-list",
        create=create_list,
        update=update_list,
    ),
    *crud(PRICES, at="/api/v1/inventory/prices", resource="inventory:price"),
    _last_prices(PURCHASE, "GET /api/v1/inventory/purchase-orders/last-prices", "inventory:purchase-order:list"),
    _last_prices(SALE, "GET /api/v1/inventory/sales-orders/last-prices", "inventory:sales-order:list"),
)
