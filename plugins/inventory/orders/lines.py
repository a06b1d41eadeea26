"""Lines of documents with their products and prices, and what all documents share: a warehouse and a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from plugins.api import Record, Request, day_of, exact, invalid, store_money
from plugins.api.business import DATED
from plugins.api.data import check_keeper
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import RecordId, store_quantity
from plugins.inventory.record_types import Product, Warehouse
from plugins.inventory.records import PRODUCTS, WAREHOUSES

Line = Mapping[str, Any]
ENABLED: Mapping[str, Any] = {"status": "enabled"}


async def find_products(
    req: Request, lines: Sequence[Line], where: Mapping[str, Any] | None = None
) -> dict[RecordId, Product]:
    """Return the products of the lines by id. `where` restricts them further, for example to enabled products.

    Raises 40001 for each line that repeats a product, or whose product does not exist or does not match `where`.
    """
    ids = [line["product_id"] for line in lines]
    matching = {"_id": {"$in": ids}, **(where or {})}
    found = {product["id"]: product for product in await req.store(PRODUCTS).find(matching)}
    faults = [
        FieldError(f"lines[{number}].product_id", "reference" if id not in found else "duplicate")
        for number, id in enumerate(ids)
        if id not in found or id in ids[:number]
    ]
    if faults:
        raise ValidationFailed(faults)
    return found


async def find_warehouse(
    req: Request, id: Any, field: str = "warehouse_id", where: Mapping[str, Any] | None = None
) -> Warehouse:
    """Return the warehouse with this id.

    Raises 40001 for `field` if the id is None, if no warehouse with it matches `where`, or if only others keep the
    warehouse.
    """
    if id is None:
        raise invalid(field, "required")
    found = await req.store(WAREHOUSES).find_one({"_id": id, **(where or {})})
    if found is None:
        raise invalid(field, "reference")
    check_keeper(req.scope, id, field)
    return found


async def price_lines(
    req: Request,
    lines: Sequence[Line],
    default: Literal["price", "cost"],
    done: str,
    where: Mapping[str, Any] | None = None,
) -> list[Record]:
    """Return the lines of a draft with prices.

    A line without a price takes the field `default` of its product. `done` names the field for the shipped quantity.
    """
    products = await find_products(req, lines, where)
    priced = []
    for line in lines:
        given = line.get("price")
        unit_price = exact(given if given is not None else products[line["product_id"]][default])
        priced.append(
            {
                "product_id": line["product_id"],
                "quantity": line["quantity"],
                "price": store_money(unit_price),
                "discount": line.get("discount"),
                "tax_rate": line.get("tax_rate"),
                done: store_quantity(Decimal(0)),
            }
        )
    return priced


def add_up(lines: Sequence[Line], field: str) -> Any:
    """Return the sum of `field` over all lines, in the form in which amounts are stored."""
    return store_money(sum((exact(line[field]) for line in lines), Decimal(0)))


def get_today(req: Request) -> str:
    """Return the business day of the request."""
    return day_of(req.now, req.service.settings.zone).isoformat()


async def date_movement(req: Request, since: str | None = None) -> str:
    """Return the day on which stock changes: that of the body, or else the later of today and `since`.

    Call it inside the transaction: it emits the event that lets finance refuse a day in a closed month. Raises 40001
    if the body has a `day` before `since`.
    """
    given = (req.body or {}).get("day")
    day: str = given or max(get_today(req), since or "")
    await req.emit(DATED, day=day)
    if since is not None and day < since:
        raise invalid("day", "minimum")
    return day
