"""Lines of documents: the products that they name, and their amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    FieldError,
    Request,
    ValidationFailed,
    day_of,
    exact,
    invalid,
    store_money,
    store_quantity,
    times,
)
from plugins.inventory.records import PRODUCTS, WAREHOUSES

DATED_EVENT = "finance.dated"

Record = dict[str, Any]
Line = Mapping[str, Any]


ENABLED: Mapping[str, Any] = {"status": "enabled"}


async def products_of(req: Request, lines: Sequence[Line], where: Mapping[str, Any] | None = None) -> dict[Any, Record]:
    """The products by id; 40001 naming each line that repeats one, or whose product the caller does not see.

    With `where` nor is there one that does not match: what is disabled is not bought, but its stock can be moved and sold.
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


async def warehouse_of(
    req: Request, id: Any, field: str = "warehouse_id", where: Mapping[str, Any] | None = None
) -> Record:
    """The warehouse that the body names; 40001 where it names none that the caller sees and that matches `where`."""
    if id is None:
        raise invalid(field, "required")
    found = await req.store(WAREHOUSES).find_one({"_id": id, **(where or {})})
    if found is None:
        raise invalid(field, "reference")
    return found


async def priced(
    req: Request, lines: Sequence[Line], default: str, done: str, where: Mapping[str, Any] | None = None
) -> Record:
    """The `lines` of a draft with prices and amounts, and their sum; `default` is the product's price to take."""
    products = await products_of(req, lines, where)
    made = []
    for line in lines:
        given = line.get("price")
        unit_price = exact(given if given is not None else products[line["product_id"]][default])
        made.append(
            {
                "product_id": line["product_id"],
                "quantity": line["quantity"],
                "price": store_money(unit_price),
                "discount": line.get("discount"),
                done: store_quantity(Decimal(0)),
            }
        )
        made[-1]["amount"] = store_money(cost_of(made[-1], exact(line["quantity"])))
    return {"lines": made, "amount": total(made, "amount")}


def cost_of(line: Line, quantity: Decimal) -> Decimal:
    """What so many of an order line cost with its discount: rounded once, to the cent."""
    return times(quantity, exact(line["price"]) * (1 - exact(line.get("discount"))))


def total(lines: Sequence[Line], field: str) -> Any:
    """The sum of an amount over all lines, as it is stored."""
    return store_money(sum((exact(line[field]) for line in lines), Decimal(0)))


def today(req: Request) -> str:
    """The business day of the request."""
    return day_of(req.now, req.service.settings.zone).isoformat()


async def moved_on(req: Request) -> str:
    """The day on which the body lets stock change, else today; in the transaction, as whoever keeps the books may refuse it."""
    day: str = req.body.get("day") or today(req)
    await req.emit(DATED_EVENT, day=day)
    return day


async def numbered(req: Request, prefix: str) -> str:
    """The next number of a kind of document, such as `PO-00000042`."""
    return f"{prefix}-{await req.service.database.next_number(f'inventory:{prefix}'):08}"
