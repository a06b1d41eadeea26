"""Stock on hand, and the ledger that explains it. Only this file writes them. Call it inside a transaction.

Stock never falls below zero, on no day: each write is conditional on the version that was read, and a transaction that
read a value which another transaction changed runs again. Goods leave at the moving average cost as it is when they are
entered, whatever their day. The last unit takes the remaining value with it, so an empty stock is worth exactly zero.

The balance of a day is the ledger in the order of its days, and on the same day in the order of entry. A movement that
is dated before others changes the balance after each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from plugins.api import (
    CONFLICT,
    ApiError,
    Page,
    Record,
    Request,
    Route,
    day as calendar_day,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.api.business import PRICE_PLACES
from plugins.api.values import StoredAmount, share, store_price, store_quantity
from plugins.inventory.record_types import Stock, Warehouse
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES
from plugins.inventory.reservations import add_to_stock
from plugins.inventory.texts import NOT_ENOUGH, NOT_ENOUGH_THEN

Place = Mapping[str, Any]  # the product and the warehouse of a stock row
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Later:
    """What moved after a day: for each later day on which something moved, the day, quantity and value."""

    days: Sequence[tuple[str, Decimal, Decimal]] = ()

    @property
    def quantity(self) -> Decimal:
        """The quantity that came in after the day, less what went out."""
        return sum((quantity for _, quantity, _ in self.days), _NOTHING)

    @property
    def value(self) -> Decimal:
        """The value that came in after the day, less what went out."""
        return sum((value for _, _, value in self.days), _NOTHING)

    def find_short(self, day: str, held: Decimal, wanted: Decimal) -> tuple[str, Decimal] | None:
        """Return the first day from `day` on that ends with less than `wanted`, with what it ends with, or None.

        `held` is what there is after all movements.
        """
        balance = held - self.quantity
        if balance < wanted:
            return day, balance
        for later, quantity, _ in self.days:
            balance += quantity
            if balance < wanted:
                return later, balance
        return None


async def read_later(req: Request, place: Place, row: Mapping[str, Any] | None, day: str) -> Later:
    """Return what moved after `day` in a place; `row` is its stock row, if there is one."""
    # a row that an earlier version has stored does not know its last day; a deleted product has left its entries
    if row is not None and row["moved_on"] is not None and row["moved_on"] <= day:
        return Later()
    sums = {"quantity": {"$sum": "$quantity"}, "value": {"$sum": "$value"}}
    found = await req.system_store(STOCK_ENTRIES).aggregate(
        [{"$match": _after(place, day)}, {"$group": {"_id": "$day", **sums}}, {"$sort": {"_id": 1}}]
    )
    return Later([(one["_id"], exact(one["quantity"]), exact(one["value"])) for one in found])


async def shift_later(req: Request, place: Place, day: str, quantity: Decimal, value: Decimal) -> None:
    """Add a movement on `day` to the balance after each later movement of the same place."""
    added = {"quantity_after": store_quantity(quantity), "value_after": store_money(value)}
    await req.system_store(STOCK_ENTRIES).update_many(_after(place, day), {"$inc": added}, unversioned=True)


def _after(place: Place, day: str) -> Record:
    return {**{name: place[name] for name in ("product_id", "warehouse_id")}, "day": {"$gt": day}}


@dataclass(frozen=True)
class Origin:
    """Why stock changes: the kind of entry, the document that causes it, and the business day."""

    kind: str
    document_id: Any
    number: str
    day: str


@dataclass(frozen=True)
class Holding:
    """The stock of a product in a warehouse: the row (None if there never was any), quantity and value."""

    row: Stock | None
    quantity: Decimal
    value: Decimal


async def get_holding(req: Request, warehouse: Warehouse, product_id: Any) -> Holding:
    """Return the stock of a product in a warehouse."""
    row = await req.system_store(STOCK).find_one({"product_id": product_id, "warehouse_id": warehouse["id"]})
    return _hold(row)


def _hold(row: Stock | None) -> Holding:
    return Holding(row, exact(row["quantity"] if row else None), exact(row["value"] if row else None))


async def take_turns(req: Request, warehouse_id: Any, product_ids: Iterable[Any]) -> None:
    """Make the transactions of this process that move these goods in a warehouse run one after the other.

    Call it early: what a transaction has done before it waits is lost if it conflicts with the one it waited for.
    """
    await req.service.database.take_turn(STOCK, *sorted(f"{warehouse_id}/{id}" for id in product_ids))


class Movements:
    """The movements of one document in a warehouse, one after the other. `enter` writes the stock and its ledger."""

    def __init__(self, req: Request, warehouse: Warehouse, origin: Origin) -> None:
        self._req = req
        self._warehouse = warehouse
        self._origin = origin
        self._held: dict[Any, Holding] = {}
        self._changed: dict[Any, Record] = {}
        self._entries: list[Record] = []

    async def read(self, product_ids: Iterable[Any]) -> None:
        """Read the stock of all products that will move, by one command, after `take_turns` for them."""
        wanted = list(product_ids)
        await take_turns(self._req, self._warehouse["id"], wanted)
        those = {"product_id": {"$in": wanted}, "warehouse_id": self._warehouse["id"]}
        rows = {row["product_id"]: row for row in await self._req.system_store(STOCK).find(those)}
        self._held = {id: _hold(rows.get(id)) for id in wanted}

    async def put(self, product_id: Any, quantity: Decimal, value: Decimal, credited: Decimal | None = None) -> None:
        """Add goods worth `value`. `credited`, below zero, is what a supplier does not take them back for after all."""
        held = await self._get(product_id)
        await self._move(product_id, held, await self._read_later(product_id, held), quantity, value, credited)

    async def take(self, product_id: Any, quantity: Decimal, credited: Decimal | None = None) -> Decimal:
        """Take goods out and return what they were worth.

        `credited` is what a supplier takes them back for. Raises 40901 if there are not enough, now or on a day from
        that of the movement on.
        """
        held, later = await self._get_enough(product_id, quantity)
        value = share(held.value, quantity, held.quantity)
        await self._move(product_id, held, later, -quantity, -value, credited)
        return value

    async def take_at(
        self, product_id: Any, quantity: Decimal, cost: Decimal, credited: Decimal | None = None
    ) -> Decimal:
        """Take goods out at the `cost` that they had, and return the value that left. Raises 40901 as `take` does.

        If the stock is worth less than `cost`, its whole value leaves; the last unit takes the remaining value with it.
        """
        held, later = await self._get_enough(product_id, quantity)
        value = held.value if held.quantity == quantity else min(cost, held.value)
        await self._move(product_id, held, later, -quantity, -value, credited)
        return value

    async def enter(self) -> None:
        """Write the stock after the movements, and the ledger entries of the movements."""
        changes = [(row, amounts) for id, amounts in self._changed.items() if (row := self._held[id].row) is not None]
        if changes:
            await self._req.system_store(STOCK).update_each(changes)
        if self._entries:
            await self._req.system_store(STOCK_ENTRIES).create_many(self._entries)

    async def _get(self, product_id: Any) -> Holding:
        if product_id not in self._held:
            self._held[product_id] = await get_holding(self._req, self._warehouse, product_id)
        return self._held[product_id]

    async def _get_enough(self, product_id: Any, quantity: Decimal) -> tuple[Holding, Later]:
        held, day = await self._get(product_id), self._origin.day
        if held.quantity < quantity:
            raise await _make_not_enough(self._req, product_id, held.quantity, quantity)
        later = await self._read_later(product_id, held)
        if (short := later.find_short(day, held.quantity, quantity)) is not None:
            raise await _make_not_enough(self._req, product_id, short[1], quantity, short[0])
        return held, later

    async def _read_later(self, product_id: Any, held: Holding) -> Later:
        return await read_later(self._req, _describe_place(self._warehouse, product_id), held.row, self._origin.day)

    async def _move(
        self,
        product_id: Any,
        held: Holding,
        later: Later,
        quantity: Decimal,
        value: Decimal,
        credited: Decimal | None = None,
    ) -> None:
        after = {"quantity": held.quantity + quantity, "value": held.value + value}
        amounts = {
            "quantity": store_quantity(after["quantity"]),
            "value": store_money(after["value"]),
            "average_cost": _average(after["value"], after["quantity"]),
            "moved_on": later.days[-1][0] if later.days else self._origin.day,
        }
        place, row = _describe_place(self._warehouse, product_id), held.row
        if row is None:
            row = await self._req.system_store(STOCK).create({**place, **amounts})
        else:
            self._changed[product_id] = amounts
        if later.days:
            await shift_later(self._req, place, self._origin.day, quantity, value)
        self._held[product_id] = _hold(cast(Stock, {**row, **amounts}))
        self._entries.append(
            {
                **place,
                "kind": self._origin.kind,
                "day": self._origin.day,
                "document_id": self._origin.document_id,
                "document_number": self._origin.number,
                "quantity": store_quantity(quantity),
                "value": store_money(value),
                "quantity_after": store_quantity(after["quantity"] - later.quantity),
                "value_after": store_money(after["value"] - later.value),
                "difference": store_money(-value - credited) if credited is not None else None,
            }
        )


def _describe_place(warehouse: Warehouse, product_id: Any) -> Record:
    return {
        "product_id": product_id,
        "warehouse_id": warehouse["id"],
        "warehouse_creator_id": warehouse["creator_id"],
        "warehouse_department_id": warehouse["creator_department_id"],
    }


async def put(
    req: Request,
    warehouse: Warehouse,
    product_id: Any,
    quantity: Decimal,
    value: Decimal,
    origin: Origin,
    credited: Decimal | None = None,
) -> None:
    """Add goods worth `value`, as `Movements.put` does."""
    moves = Movements(req, warehouse, origin)
    await moves.put(product_id, quantity, value, credited)
    await moves.enter()


async def take(
    req: Request,
    warehouse: Warehouse,
    product_id: Any,
    quantity: Decimal,
    origin: Origin,
    credited: Decimal | None = None,
) -> Decimal:
    """Take goods out and return what they were worth, as `Movements.take` does."""
    moves = Movements(req, warehouse, origin)
    value = await moves.take(product_id, quantity, credited)
    await moves.enter()
    return value


async def take_at(
    req: Request,
    warehouse: Warehouse,
    product_id: Any,
    quantity: Decimal,
    cost: Decimal,
    origin: Origin,
    credited: Decimal | None = None,
) -> Decimal:
    """Take goods out at the `cost` that they had, and return the value that left, as `Movements.take_at` does."""
    moves = Movements(req, warehouse, origin)
    value = await moves.take_at(product_id, quantity, cost, credited)
    await moves.enter()
    return value


async def delete_empty_rows(req: Request, filter: Record) -> None:
    """Delete the empty stock rows of a product or warehouse, so that they do not prevent its deletion."""
    empty = {**filter, "quantity": store_quantity(Decimal(0))}
    await req.system_store(STOCK).update_many(empty, {"$set": {"deleted": True, "deleted_at": req.now}})


async def _make_not_enough(
    req: Request, product_id: Any, held: Decimal, wanted: Decimal, day: str | None = None
) -> ApiError:
    """Return the 40901 for too little stock: now, or on a past `day`."""
    product = await req.system_store(PRODUCTS).find_one({"_id": product_id})
    values = {"sku": product["sku"] if product else product_id, "held": _format(held), "wanted": _format(wanted)}
    if day is None:
        return ApiError(CONFLICT, NOT_ENOUGH.filled(**values))
    return ApiError(CONFLICT, NOT_ENOUGH_THEN.filled(**values, day=day), data={"day": day, "held": values["held"]})


def _format(quantity: Decimal) -> str:
    return format(store_quantity(quantity).to_decimal(), "f")


def sort_by_product(lines: Sequence[Record]) -> list[Record]:
    """Return the lines in the order in which every document changes stock, so that documents do not deadlock."""
    return sorted(lines, key=lambda line: str(line["product_id"]))


async def list_entries(req: Request) -> Page:
    """List the movements in the warehouses whose stock the caller sees."""
    return await req.store(STOCK_ENTRIES).page(req.query)


_NOW = ("quantity", "value")  # by which a list can be sorted, filtered and added up only as they are now
LIST_QUERY = {
    **STOCK.list_query,
    "day": calendar_day(
        past=True,
        nullable=False,
        description="Quantity, value and average cost at the end of this day. Not with a `sort`, a filter or a sum of them.",
    ),
}


async def list_stock(req: Request) -> Page:
    """List the stock as it is, or as it was at the end of a `day`."""
    query = dict(req.query)
    on = query.pop("day", None)
    if on is not None:
        _refuse_by_now(query)
    page = await req.store(STOCK).page(query)
    if on is None:
        return await add_to_stock(req, page)
    rows = await _rewind(req, page.items, on)
    return Page(rows, page.total, page.page, page.page_size, page.next_cursor, page.sums)


def _refuse_by_now(query: Mapping[str, Any]) -> None:
    """Raise 40001 for what would use the stock of now in a list of a past day."""
    if (query.get("sort") or "").removeprefix("-") in _NOW:
        raise invalid("sort", "invalid")
    for name in ("sum", "quantity_from", "quantity_to"):
        if query.get(name) is not None:
            raise invalid(name, "invalid")


def _average(value: Decimal, quantity: Decimal) -> StoredAmount:
    """Return the cost of one unit, with as many decimals as a price may have."""
    return store_price(value / (quantity or 1), PRICE_PLACES)


async def _rewind(req: Request, rows: Sequence[Stock], on: str) -> list[Record]:
    """Return rows of stock without what moved after a day."""
    sums = {"quantity": {"$sum": "$quantity"}, "value": {"$sum": "$value"}, "last": {"$max": "$day"}}
    place = {"product_id": "$product_id", "warehouse_id": "$warehouse_id"}
    held = {name: {"$in": list({row[name] for row in rows})} for name in ("product_id", "warehouse_id")}
    found = await req.system_store(STOCK_ENTRIES).aggregate(
        [{"$match": {**held, "day": {"$lte": on}}}, {"$group": {"_id": place, **sums}}]
    )
    then = {(one["_id"]["product_id"], one["_id"]["warehouse_id"]): one for one in found}
    shown = []
    for row in rows:
        one = then.get((row["product_id"], row["warehouse_id"]), {})
        quantity, value = exact(one.get("quantity")), exact(one.get("value"))
        average = _average(value, quantity)
        amounts = {"quantity": store_quantity(quantity), "value": store_money(value), "average_cost": average}
        shown.append({**row, **amounts, "moved_on": one.get("last")})
    return shown


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/inventory/stock",
        list_stock,
        summary="List stock rows",
        access="inventory:stock:list",
        paged=True,
        query=LIST_QUERY,
        record=STOCK,
    ),
    route(
        "GET /api/v1/inventory/stock/ledger",
        list_entries,
        summary="List the movements of the stock ledger",
        access="inventory:stock:ledger",
        paged=True,
        query=STOCK_ENTRIES.list_query,
        record=STOCK_ENTRIES,
    ),
)
