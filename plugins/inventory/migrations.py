"""Migrations of older databases: balances of the ledger by day, differences of returns, open orders, prices of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Record, Service, day_of, exact, store_money, utc_now
from plugins.api.data import Migration, Stage
from plugins.api.values import store_quantity
from plugins.inventory.records import STOCK, STOCK_ENTRIES
from plugins.inventory.return_records import PURCHASE_RETURNS
from plugins.inventory.returns import find_credited
from plugins.inventory.trades import PURCHASE, SALE, Trade, publish


def _balance_stages(service: Service) -> Iterator[Stage]:
    yield Stage(STOCK, partial(_balance, service))


def _difference_stages(service: Service) -> Iterator[Stage]:
    yield Stage(PURCHASE_RETURNS, partial(_price, service), {"difference": None})


def _order_stages(service: Service) -> Iterator[Stage]:
    for trade in (PURCHASE, SALE):
        open_ones = {"status": {"$in": list(trade.orders.machine.transitions["ship"].sources)}, "deleted": False}
        yield Stage(trade.orders, partial(_publish, service, trade), open_ones)


def _price_stages(service: Service) -> Iterator[Stage]:
    for trade in (PURCHASE, SALE):
        yield Stage(trade.orders, partial(_name_prices, service, trade), _BY_ONE_NAME)


_BY_ONE_NAME = {"lines": {"$elemMatch": {"unit_price": {"$exists": False}}}}
MIGRATIONS = (
    Migration(
        "2026-11-balances-by-day",
        "Gives entries of the stock ledger the balance by day; days on which more left than was there stay below zero.",
        _balance_stages,
    ),
    Migration(
        "2026-11-return-differences",
        "Gives purchase returns the difference between what the stock lost and what the supplier credits.",
        _difference_stages,
    ),
    Migration(
        "2026-11-items-of-open-orders",
        "Has the books know what is still to come of orders, so that it can be invoiced ahead. It cannot know which "
        "earlier invoices did so and bill no order: they are owed besides it, until they are credited.",
        _order_stages,
    ),
    Migration(
        "2026-11-unit-prices",
        "Gives lines of orders their price as `unit_price` too, as lines that are entered now have it.",
        _price_stages,
    ),
)


async def _balance(service: Service, rows: Sequence[Record]) -> int:
    """Write the balances of these stock rows by day; return for how many rows something changed."""
    changed = 0
    for row in rows:
        changed += await service.database.transaction(partial(_balance_row, service, row))
    return changed


async def _balance_row(service: Service, row: Record) -> bool:
    await service.database.lock(STOCK, row["_id"])
    stored, place = service.database.driver, {name: row[name] for name in ("product_id", "warehouse_id")}
    order = (("day", 1), ("created_at", 1), ("_id", 1))
    entries = await stored.find(STOCK_ENTRIES.name, place, sort=order)
    quantity = value = Decimal(0)
    wrong = []
    for entry in entries:
        quantity, value = quantity + exact(entry["quantity"]), value + exact(entry["value"])
        if (quantity, value) != (exact(entry["quantity_after"]), exact(entry["value_after"])):
            after = {"quantity_after": store_quantity(quantity), "value_after": store_money(value)}
            wrong.append(({"_id": entry["_id"]}, {"$set": after}))
    if wrong:
        await stored.update_each(STOCK_ENTRIES.name, wrong)
    if entries and row.get("moved_on") is None:
        await stored.update_one(STOCK.name, {"_id": row["_id"]}, {"$set": {"moved_on": entries[-1]["day"]}})
    return bool(wrong)


async def _publish(service: Service, trade: Trade, rows: Sequence[Record]) -> int:
    """Emit again what is owed for these open orders, and what is still to come of them."""
    for row in rows:
        await service.database.transaction(partial(_publish_order, service, trade, row["_id"]))
    return len(rows)


async def _publish_order(service: Service, trade: Trade, id: Any) -> None:
    order = await service.database.store(trade.orders).get(id)
    live = {"order_id": id, "reversed_by_id": None}
    shipments = await service.database.store(trade.shipments).find(live)
    await publish(trade, service, None, order, shipments, day_of(utc_now(), service.settings.zone).isoformat())


async def _price(service: Service, rows: Sequence[Record]) -> int:
    """Write the price differences of these returns and of their entries in the ledger."""
    stored, zero = service.database.driver, Decimal(0)
    for row in rows:
        lines = [
            {**line, "difference": store_money(exact(line["cost"]) - find_credited(row, line))} for line in row["lines"]
        ]
        for line in lines:
            of_line = {"document_id": row["_id"], "product_id": line["product_id"]}
            await stored.update_one(STOCK_ENTRIES.name, of_line, {"$set": {"difference": line["difference"]}})
        sum_of_lines = store_money(sum((exact(line["difference"]) for line in lines), zero))
        changes = {"lines": lines, "difference": sum_of_lines}
        await stored.update_one(PURCHASE_RETURNS.name, {"_id": row["_id"], "difference": None}, {"$set": changes})
    return len(rows)


async def _name_prices(service: Service, trade: Trade, rows: Sequence[Record]) -> int:
    """Give the lines of these orders `unit_price`, which is another name of `price`."""
    named = {"$mergeObjects": ["$$this", {"unit_price": {"$ifNull": ["$$this.price", None]}}]}
    these = {"_id": {"$in": [row["_id"] for row in rows]}, **_BY_ONE_NAME}
    change = [{"$set": {"lines": {"$map": {"input": "$lines", "in": named}}}}]
    return await service.database.driver.update_many(trade.orders.name, these, change)
