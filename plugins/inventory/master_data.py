"""Deleting products, warehouses and suppliers: only while nothing needs them."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Handler, Request
from plugins.inventory.documents import PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.messages import IN_USE
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.stock import clear_rows

# collection → the order collections that may name it, the field that does, and the field of the stock that does
_USES: dict[str, tuple[tuple[Collection, ...], str, str]] = {
    PRODUCTS.name: ((PURCHASE_ORDERS, SALES_ORDERS), "lines.product_id", "product_id"),
    WAREHOUSES.name: ((PURCHASE_ORDERS, SALES_ORDERS), "warehouse_id", "warehouse_id"),
    SUPPLIERS.name: ((PURCHASE_ORDERS,), "supplier_id", ""),
}


def deleter(collection: Collection) -> Handler:
    """A handler that deletes a record; 40901 while an order names it or stock is left."""
    orders, field, stock_field = _USES[collection.name]

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            for one in orders:
                await _not_named(req, one, {field: record["id"]})
            if stock_field:
                await clear_rows(req, {stock_field: record["id"]})
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


async def _not_named(req: Request, orders: Collection, filter: dict[str, Any]) -> None:
    if await req.system_store(orders).find_one(filter):
        raise ApiError(CONFLICT, IN_USE)
