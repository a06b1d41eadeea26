"""The balance of stock by day: the ledger in the order of its days, and on the same day in the order of entry.

A movement that is dated before others changes the balance after each of them. Call this inside a transaction that also
writes the stock row of the product, so that movements of the same goods are serialised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, exact, store_money
from plugins.api.values import store_quantity
from plugins.inventory.records import STOCK_ENTRIES

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
