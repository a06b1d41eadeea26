"""The goods of a delivery or receipt that come back, with their shares of its amount and cost.

The goods of a line that have come back have a share of its amount and cost in proportion to their quantity, rounded to
the cent. A part gets what it adds to that share, so the parts of a line that came back completely add up to the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, exact, store_money
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import share, store_quantity
from plugins.inventory.messages import MORE_THAN_LEFT
from plugins.inventory.orders.lines import Line


@dataclass(frozen=True)
class Part:
    """Some of the goods of a line, with their shares of its amount and cost."""

    product_id: Any
    quantity: Decimal
    amount: Decimal
    cost: Decimal


def choose_parts(shipment: Record, given: Sequence[Line] | None, returns: Sequence[Record]) -> list[Part]:
    """Return the parts that come back, sorted by product: those of the lines `given`, or all that are left.

    `returns` are all returns of the shipment so far, including their reversals. Raises 40001 for each line that repeats
    a product or has one that was not shipped, and 40901 for the first line with more than is left.
    """
    lines = {line["product_id"]: line for line in shipment["lines"]}
    if given is None:
        wanted = {id: _count_left(line) for id, line in lines.items()}
    else:
        _check_products(given, lines)
        wanted = {line["product_id"]: exact(line["quantity"]) for line in given}
        for number, (id, quantity) in enumerate(wanted.items()):
            _check_quantity(number, quantity, _count_left(lines[id]))
    return [_cut(lines[id], wanted[id], returns) for id in sorted(wanted, key=str) if wanted[id]]


def _count_left(line: Line) -> Decimal:
    return exact(line["quantity"]) - exact(line.get("returned"))


def _check_products(given: Sequence[Line], lines: Record) -> None:
    ids = [line["product_id"] for line in given]
    faults = [
        FieldError(f"lines[{number}].product_id", "duplicate" if id in lines else "reference")
        for number, id in enumerate(ids)
        if id not in lines or id in ids[:number]
    ]
    if faults:
        raise ValidationFailed(faults)


def _check_quantity(number: int, quantity: Decimal, left: Decimal) -> None:
    if quantity > left:
        shown = format(store_quantity(left).to_decimal(), "f")
        data = {"open": shown, "field": f"lines[{number}].quantity"}
        raise ApiError(CONFLICT, MORE_THAN_LEFT.filled(line=number + 1, open=shown), data=data)


def _cut(line: Line, quantity: Decimal, returns: Sequence[Record]) -> Part:
    product_id, after = line["product_id"], exact(line.get("returned")) + quantity
    before = [part for made in returns for part in made["shares"] or made["lines"] if part["product_id"] == product_id]
    amount, cost = (
        max(share(exact(line[field]), after, exact(line["quantity"])) - _add_up(before, field), Decimal(0))
        for field in ("amount", "cost")
    )
    return Part(product_id, quantity, amount, cost)


def _add_up(parts: Sequence[Line], field: str) -> Decimal:
    return sum((exact(part[field]) for part in parts), Decimal(0))


def find_credited(made: Record, line: Line) -> Decimal:
    """Return what the supplier credits, without tax, for a line of the return `made`: nothing without a refund."""
    if made.get("refund") is False:
        return Decimal(0)
    shares = [one for one in made.get("shares") or () if one["product_id"] == line["product_id"]]
    return _add_up(shares or [line], "cost")


def describe_shares(parts: Sequence[Part]) -> list[Record]:
    """Return the shares of the parts as a return stores them, regardless of what was refunded and moved."""
    return [
        {
            "product_id": part.product_id,
            "amount": store_money(part.amount),
            "cost": store_money(part.cost),
        }
        for part in parts
    ]
