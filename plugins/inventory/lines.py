"""The lines of documents: their fields, and which line of one document is which of another.

The lines of an order are numbered. Deliveries, receipts and returns carry the numbers of the lines that they move, so that a
product may stand on several of them. Documents of earlier versions have no numbers; each product stands there once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Field, array, boolean, exact, integer, invalid, money, obj, object_id, quantity
from plugins.api.business import (
    GOODS,
    LINE_DESCRIPTION,
    LINE_KIND,
    LINE_NUMBER,
    LINE_UNIT,
    MOST_LINES,
    UNIT_FACTOR,
    price,
    priced_line,
)
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import store_quantity
from plugins.inventory.documents import POSITIVE, PRODUCT
from plugins.inventory.records import PRICE_LISTS, TAXES, TOLERANCE
from plugins.inventory.texts import IN_USE

Line = Mapping[str, Any]
_PRODUCT = PRODUCT.but(required=False, nullable=True, description="Null on a line of text, and perhaps of a service.")
_WHERE = "Of its warehouse, in the unit of the line; only a single order shows it, until it is delivered or cancelled."
_SHIPPED = {
    "completed": boolean(
        label=("短交完成", "Completed short"),
        read_only=True,
        description="Whether less than ordered was shipped, within the tolerance, and no more follows.",
    ),
    "agreed": obj(
        "AgreedLine",
        {
            "quantity": quantity(label=("原数量", "Quantity")),
            **{
                name: money(label=label)
                for name, label in (
                    ("discount_amount", ("原折扣金额", "Discount amount")),
                    ("net", ("原不含税金额", "Net amount")),
                    ("tax", ("原税额", "Tax")),
                    ("amount", ("原金额", "Amount")),
                )
            },
        },
        label=("变更前约定", "Agreed before"),
        read_only=True,
        description="What the line came to when some of it was shipped or invoiced already and its quantity was revised: its "
        "units cost the same share of that as before. Null: as it stands.",
    ),
}
_RESERVED = {
    "available": quantity(
        label=("可用数量", "Available"),
        read_only=True,
        description=f"What is on hand, less what orders that were confirmed earlier reserve. {_WHERE}",
    ),
    "backordered": quantity(
        label=("缺货数量", "Backordered"),
        read_only=True,
        description=f"How much of what is still to be delivered is not available. {_WHERE}",
    ),
}
_QUOTED = {
    "quotation_line": LINE_NUMBER.but(
        label=("报价行号", "Quotation line"),
        read_only=True,
        description="The line of the quotation that it orders; null: none. It stays when a draft is changed, as long as the "
        "product and the unit do.",
    ),
}
_DONE = {
    "received": ("已入库数量", "Received"),
    "delivered": ("已出库数量", "Delivered"),
    "ordered_quantity": ("已下单数量", "Ordered"),
}
_FURTHER = {"received": _SHIPPED, "delivered": {**_SHIPPED, **_RESERVED, **_QUOTED}, "ordered_quantity": {}}


def order_line(done: str) -> dict[str, Field]:
    """Return the fields of a line of an order or a quotation; `done` names the one with what was shipped or ordered of it."""
    return {
        **priced_line(
            product_id=_PRODUCT.but(on_delete="restrict", held=IN_USE),
            tax_id=object_id(
                label=("税种", "Tax code"),
                ref=TAXES.name,
                on_delete="restrict",
                held=IN_USE,
                description="That of the customer or supplier, or else of the product, unless this or `tax_rate` is given.",
            ),
        ),
        "proposed_price": price(
            label=("建议单价", "Proposed price"),
            read_only=True,
            description="That of a price list or of the product, as it was when the line was entered.",
        ),
        "price_list_id": object_id(
            label=("价目表", "Price list"),
            ref=PRICE_LISTS.name,
            read_only=True,
            description="The list that proposed the price; null: none.",
        ),
        "priced_by": integer(
            label=("改价人", "Priced by"),
            ref="users",
            read_only=True,
            description="Who entered another price than the proposed one; null: nobody.",
        ),
        "tolerance": TOLERANCE,
        done: quantity(label=_DONE[done], read_only=True, nullable=False),
        **_FURTHER[done],
    }


def moved_line(**fields: Field) -> dict[str, Field]:
    """Return the fields of a line of a delivery, a receipt or a return: those of the line of its order, and `fields`."""
    return {
        "line": LINE_NUMBER.but(description="Of the order; null in documents of earlier versions."),
        "product_id": _PRODUCT,
        "kind": LINE_KIND,
        "description": LINE_DESCRIPTION.but(description=None),
        "unit": LINE_UNIT.but(description="That of the line of the order."),
        "unit_factor": UNIT_FACTOR,
        **fields,
    }


def asked_lines(name: str, description: str, **fields: Field) -> Field:
    """Return the field for the lines of a body that moves some of the goods of a document, each an object `name`.

    `fields` are what a line has besides.
    """
    line = {
        "product_id": PRODUCT.but(required=False, nullable=True, description="Enough where it stands on one line."),
        "quantity": POSITIVE,
        "line": LINE_NUMBER.but(description="Of the order. Required where its product is on several lines."),
        **fields,
    }
    return array(obj(name, line), min_items=1, max_items=MOST_LINES, description=description)


def key_of(line: Line) -> Any:
    """Return what a line has in all documents of an order: its number, or its product in those of earlier versions."""
    number = line.get("line")
    return line["product_id"] if number is None else number


def number_lines(moved: Sequence[Line], ordered: Sequence[Line]) -> list[Line]:
    """Return the lines of a shipment with the numbers that they have in their order: an earlier version wrote none."""
    numbers = {line["product_id"]: line.get("line") for line in ordered}
    return [
        line if line.get("line") is not None else {**line, "line": numbers.get(line["product_id"])} for line in moved
    ]


def copy_line(line: Line) -> dict[str, Any]:
    """Return what a delivery, a receipt or a return has of the line that it moves."""
    return {name: line.get(name) for name in ("line", "product_id", "kind", "description", "unit", "unit_factor")}


def in_own_unit(line: Line, quantity: Decimal) -> Decimal:
    """Return a quantity of a line in the unit in which stock is kept. Raises 40001 if it has more than four decimals there."""
    factor = line.get("unit_factor")
    if factor is None:
        return quantity
    found = quantity * exact(factor)
    if found != store_quantity(found).to_decimal():
        raise invalid("lines", "invalid")
    return found


def count_unfinished(line: Line, done: str) -> Decimal:
    """Return how much of a line of an order is still to be shipped; `done` names its field with what was."""
    if line.get("completed"):
        return Decimal(0)
    return max(exact(line["quantity"]) - exact(line[done]), Decimal(0))


def count_tolerated(line: Line) -> Decimal:
    """Return how many units more, or less, than ordered may be shipped of a line."""
    return exact(line["quantity"]) * exact(line.get("tolerance"))


def in_stock(line: Line) -> bool:
    """Return whether a line moves stock."""
    return line.get("kind") in (None, GOODS)


def pick_lines(lines: Sequence[Line], given: Sequence[Line]) -> list[Line]:
    """Return the lines of a document that those `given` in a body name, in their order.

    Raises 40001 for each one that names no line, several, or one that was named before.
    """
    numbered = {line["line"]: line for line in lines if line.get("line") is not None}
    of_product: defaultdict[Any, list[Line]] = defaultdict(list)
    for line in lines:
        of_product[line["product_id"]].append(line)
    picked: dict[Any, Line] = {}
    faults = []
    for place, one in enumerate(given):
        number, product = one.get("line"), one.get("product_id")
        found = of_product[product] if number is None else [numbered[number]] if number in numbered else []
        if number is not None and product is not None:
            found = [line for line in found if line["product_id"] == product]
        field = "product_id" if number is None else "line"
        if number is None and product is None:
            faults.append(FieldError(f"lines[{place}].product_id", "required"))
        elif not found:
            faults.append(FieldError(f"lines[{place}].{field}", "reference"))
        elif len(found) > 1:
            faults.append(FieldError(f"lines[{place}].line", "required"))
        elif key_of(found[0]) in picked:
            faults.append(FieldError(f"lines[{place}].{field}", "duplicate"))
        else:
            picked[key_of(found[0])] = found[0]
    if faults:
        raise ValidationFailed(faults)
    return list(picked.values())
