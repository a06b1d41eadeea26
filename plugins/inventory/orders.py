"""Handlers of drafts of purchase and sales orders."""

from __future__ import annotations

from plugins.api import Handler, Request, invalid
from plugins.inventory.amounts import TERMS, compute_amounts
from plugins.inventory.lines import ENABLED, Record, get_today, price_lines
from plugins.inventory.messages import NOT_A_DRAFT, NOT_DELETABLE
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.trades import Trade


def make_create_handler(trade: Trade) -> Handler:
    """Return the handler that creates a draft, with prices and a number."""

    async def create_order(req: Request) -> Record:
        values = {"ordered_on": get_today(req), **_drop_nulls(req.body)}
        await _check_supplier(req, values)
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
        await _check_supplier(req, values)
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
    """Return the handler that deletes an order for which no goods moved."""

    async def delete_order(req: Request) -> None:
        without_movements = {"status": {"$in": ["draft", "cancelled"]}}
        await req.store(trade.orders).delete(req.path["id"], where=without_movements, reason=NOT_DELETABLE)

    return delete_order


async def _price(req: Request, trade: Trade, lines: list[Record]) -> list[Record]:
    return await price_lines(req, lines, trade.default_price, trade.shipped, trade.filter_orderable())


async def _check_supplier(req: Request, values: Record) -> None:
    """Raise 40001 if the supplier is disabled."""
    supplier_id = values.get("supplier_id")
    if supplier_id is not None and await req.store(SUPPLIERS).find_one({"_id": supplier_id, **ENABLED}) is None:
        raise invalid("supplier_id", "reference")


def _drop_nulls(body: Record) -> Record:
    return {name: value for name, value in body.items() if value is not None}
