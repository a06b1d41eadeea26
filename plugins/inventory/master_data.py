"""Products, warehouses and suppliers. They can be deleted only while no order and no stock refers to them."""

from __future__ import annotations

from plugins.api import Collection, Handler, Request, Route, crud
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.stock import delete_empty_rows


def make_delete_handler(collection: Collection, stock_field: str) -> Handler:
    """Return the handler that deletes a record with its empty stock rows. Rows with stock prevent the deletion."""

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            await delete_empty_rows(req, {stock_field: record["id"]})
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


ROUTES: tuple[Route, ...] = (
    *crud(
        PRODUCTS,
        at="/api/v1/inventory/products",
        resource="inventory:product",
        delete=make_delete_handler(PRODUCTS, "product_id"),
    ),
    *crud(
        WAREHOUSES,
        at="/api/v1/inventory/warehouses",
        resource="inventory:warehouse",
        delete=make_delete_handler(WAREHOUSES, "warehouse_id"),
    ),
    *crud(
        SUPPLIERS,
        at="/api/v1/inventory/suppliers",
        resource="inventory:supplier",
    ),
)
