"""Products, warehouses, suppliers and taxes. They can be deleted only while no order and no stock refers to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Handler, Record, Request, Route, conflicts, crud, exact, invalid
from plugins.api.business import SERVICE
from plugins.inventory.record_types import Product, Tax
from plugins.inventory.records import PRODUCTS, SUPPLIERS, TAXES, WAREHOUSES
from plugins.inventory.reservations import list_products, read_product
from plugins.inventory.stock import delete_empty_rows
from plugins.inventory.texts import KIND_STAYS


def make_delete_handler(collection: Collection, stock_field: str) -> Handler:
    """Return the handler that deletes a record with its empty stock rows. Rows with stock prevent the deletion."""

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            await delete_empty_rows(req, {stock_field: record["id"]})
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


async def create_product(req: Request) -> Product:
    """Create a product."""
    _check_units(req.body)
    return await req.store(PRODUCTS).create(req.body)


def _check_units(product: Mapping[str, Any]) -> None:
    """Raise 40001 for a unit that a product has twice."""
    units = [product.get("unit"), *(one["unit"] for one in product.get("units") or ())]
    for number, unit in enumerate(units[1:]):
        if unit in units[: number + 1]:
            raise invalid(f"units[{number}].unit", "duplicate")


async def update_product(req: Request) -> Product:
    """Change a product. Lines that are entered already keep their factors. Raises 40901 if goods would become a service, or a service goods."""
    values = dict(req.body)
    version, products = values.pop("version"), req.store(PRODUCTS)
    if not values.keys().isdisjoint({"kind", "unit", "units"}):
        before = await products.get(req.path["id"])
        _check_units({**before, **values})
        if "kind" in values and (values["kind"] == SERVICE) != (before["kind"] == SERVICE):
            raise ApiError(CONFLICT, KIND_STAYS)
    return await products.update(req.path["id"], values, version=version)


async def create_tax(req: Request) -> Tax:
    """Enter a tax."""
    _check_tax(req.body)
    return await req.store(TAXES).create(req.body)


async def update_tax(req: Request) -> Tax:
    """Change a tax. Lines that have it keep the rate with which they were entered."""
    values: Record = dict(req.body)
    version, taxes = values.pop("version"), req.store(TAXES)
    _check_tax({**await taxes.get(req.path["id"]), **values})
    return await taxes.update(req.path["id"], values, version=version)


def _check_tax(tax: Mapping[str, Any]) -> None:
    """Raise 40001 for a rate of what is not taxed, or without the reason why it is not."""
    if tax.get("treatment") in (None, "taxed"):
        return
    if exact(tax["rate"]):
        raise invalid("rate", "maximum")
    if not tax.get("reason"):
        raise invalid("reason", "required")


ROUTES: tuple[Route, ...] = (
    *crud(
        TAXES,
        at="/api/v1/inventory/taxes",
        resource="inventory:tax",
        noun="tax",
        plural="taxes",
        create=create_tax,
        update=update_tax,
    ),
    *crud(
        PRODUCTS,
        at="/api/v1/inventory/products",
        resource="inventory:product",
        list=list_products,
        read=read_product,
        create=create_product,
        update=update_product,
        delete=make_delete_handler(PRODUCTS, "product_id"),
        refusals_of={"update": conflicts(KIND_STAYS)},
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
