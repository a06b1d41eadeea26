"""Products, warehouses and suppliers. They can be deleted only while no order and no stock refers to them."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Handler, Request, Route, conflicts, crud
from plugins.inventory.documents import PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.messages import IN_USE, STOCK_LEFT
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.stock import delete_empty_rows

# collection → the orders that may refer to it, by which field, and the field of the stock that does
_USES: dict[str, tuple[tuple[Collection, ...], str, str]] = {
    PRODUCTS.name: ((PURCHASE_ORDERS, SALES_ORDERS), "lines.product_id", "product_id"),
    WAREHOUSES.name: ((PURCHASE_ORDERS, SALES_ORDERS), "warehouse_id", "warehouse_id"),
    SUPPLIERS.name: ((PURCHASE_ORDERS,), "supplier_id", ""),
}


def make_delete_handler(collection: Collection) -> Handler:
    """Return the handler that deletes a record. It raises 40901 if an order refers to the record or stock is left."""
    orders, field, stock_field = _USES[collection.name]

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            for one in orders:
                await _check_unused(req, one, {field: record["id"]})
            if stock_field:
                await delete_empty_rows(req, {stock_field: record["id"]})
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


async def _check_unused(req: Request, orders: Collection, filter: dict[str, Any]) -> None:
    if await req.system_store(orders).find_one(filter):
        raise ApiError(CONFLICT, IN_USE)


ROUTES: tuple[Route, ...] = (
    *crud(
        PRODUCTS,
        at="/api/v1/inventory/products",
        resource="inventory:product",
        noun="product",
        delete=make_delete_handler(PRODUCTS),
        refusals_of={"delete": conflicts(IN_USE, STOCK_LEFT)},
    ),
    *crud(
        WAREHOUSES,
        at="/api/v1/inventory/warehouses",
        resource="inventory:warehouse",
        noun="warehouse",
        delete=make_delete_handler(WAREHOUSES),
        refusals_of={"delete": conflicts(IN_USE, STOCK_LEFT)},
    ),
    *crud(
        SUPPLIERS,
        at="/api/v1/inventory/suppliers",
        resource="inventory:supplier",
        noun="supplier",
        delete=make_delete_handler(SUPPLIERS),
        refusals_of={"delete": conflicts(IN_USE)},
    ),
)
