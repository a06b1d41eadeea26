"""Handlers for drafts of purchase and sales orders."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Handler, Record, Request, Route, invalid, route
from plugins.api.business import Customers
from plugins.api.values import store_quantity
from plugins.inventory.messages import NOT_A_DRAFT, NOT_DELETABLE
from plugins.inventory.orders.amounts import TERMS, compute_amounts
from plugins.inventory.orders.lines import ENABLED, get_today, price_lines
from plugins.inventory.orders.records import AMOUNTS, AMOUNTS_BODY
from plugins.inventory.orders.trades import Trade
from plugins.inventory.records import SUPPLIERS

_PARTIES = ("supplier_id", "customer_id")


def make_create_handler(trade: Trade) -> Handler:
    """Return the handler that creates a draft, with prices and a number."""

    async def create_order(req: Request) -> Record:
        values = {"ordered_on": get_today(req), **_drop_nulls(req.body)}
        values.setdefault("terms_days", await _find_terms(req, values))
        values |= compute_amounts(await _price(req, trade, values["lines"]), values)
        return await trade.order_numbers.create(
            req, lambda number: req.store(trade.orders).create({**values, "number": number})
        )

    return create_order


def make_update_handler(trade: Trade) -> Handler:
    """Return the handler that changes a draft."""

    async def update_order(req: Request) -> Record:
        values = dict(req.body)
        version = values.pop("version")
        store = req.store(trade.orders)
        before = await store.get(req.path["id"])
        terms = await _find_terms(req, values)
        if any(values.get(party, before.get(party)) != before.get(party) for party in _PARTIES):
            values.setdefault("terms_days", terms)
        if "ordered_on" in values:
            values["ordered_on"] = values["ordered_on"] or get_today(req)
        lines = await _price(req, trade, values["lines"]) if "lines" in values else before["lines"]
        if "lines" in values or not TERMS.isdisjoint(values):
            values |= compute_amounts(lines, {**before, **values})
        return await store.update(
            req.path["id"], values, version=version, where={"status": "draft"}, reason=NOT_A_DRAFT
        )

    return update_order


def make_delete_handler(trade: Trade) -> Handler:
    """Return the handler that deletes a draft or a cancelled order, for which no goods moved."""

    async def delete_order(req: Request) -> None:
        # a closed month still counts what was cancelled later
        without_movements = {"status": {"$in": ["draft", "cancelled"]}, "booked_later": None}
        await req.store(trade.orders).delete(req.path["id"], where=without_movements, reason=NOT_DELETABLE)

    return delete_order


def amounts_route(endpoint: str, trade: Trade, access: str) -> Route:
    """Return the route that counts an order which is not kept, as the creation of one would."""

    async def count(req: Request) -> Record:
        lines = [{**line, "quantity": line.get("quantity") or store_quantity(Decimal(0))} for line in req.body["lines"]]
        return compute_amounts(await _price(req, trade, lines), req.body)

    return route(
        endpoint,
        count,
        summary="Compute the prices and amounts of an order that is not kept",
        access=access,
        body=AMOUNTS_BODY,
        returns=AMOUNTS,
    )


async def _price(req: Request, trade: Trade, lines: list[Record]) -> list[Record]:
    return await price_lines(req, lines, trade.default_price, trade.shipped, trade.filter_orderable())


async def _find_terms(req: Request, values: Record) -> int | None:
    """Return the number of days within which the supplier is paid or the customer pays, or None if it is not known.

    Raises 40001 if the supplier does not exist or is disabled.
    """
    if values.get("supplier_id") is not None:
        supplier = await req.store(SUPPLIERS).find_one({"_id": values["supplier_id"], **ENABLED})
        if supplier is None:
            raise invalid("supplier_id", "reference")
        terms: int | None = supplier["terms_days"]
        return terms
    if values.get("customer_id") is not None:
        return await req.part(Customers).find_terms(values["customer_id"])
    return None


def _drop_nulls(body: Record) -> Record:
    return {name: value for name, value in body.items() if value is not None}
