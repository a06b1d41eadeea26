"""The lines of an order as a revision leaves them, and what the order comes to then.

What was shipped or invoiced of a line is settled: the line keeps its product, unit, price and tax, and at least so many
units. Its units cost what they did, whatever becomes of their number; only the other lines are computed anew, as an order
of their own. So no part of the order changes that was shipped or invoiced before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Step, exact, invalid, store_money
from plugins.api.business import (
    BY_LINE,
    MAX_AMOUNT,
    MOST_LINES,
    TEXT,
    Books,
    compute_amounts,
    compute_part,
    compute_value,
    includes_tax,
)
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord, share, store_quantity
from plugins.inventory.lines import Line, number_lines
from plugins.inventory.order_records import ASKED_LINE
from plugins.inventory.pricing import complete_lines, find_unit_faults
from plugins.inventory.texts import BELOW_BILLED, BELOW_SETTLED, FREIGHT_SETTLED, LINE_SETTLED, SETTLED_LINE_DROPPED
from plugins.inventory.trades import Trade, count_difference

_ZERO, _ONE = Decimal(0), Decimal(1)
_PRICES = ("price", "unit_price")  # the same price by two names
_TAXES = ("tax_id", "tax_rate")  # who gives one of them replaces both
_AGREED = ("product_id", "kind", "unit", "price", "price_per", "discount", "discount_amount", *_TAXES)
_NUMBERS = frozenset(name for name, field in ASKED_LINE.items() if field.kind in ("money", "quantity"))
_SHARED = ("discount_amount", "net", "tax", "amount")
_PLACE = re.compile(r"lines\[(\d+)\]")


@dataclass(frozen=True)
class Settled:
    """What was shipped or invoiced of an order.

    `least` has the fewest units of each line of which something was, by its number; `amount` is what invoices claim of the
    whole order, with tax, and `freight` whether its freight is part of that or of a shipment.
    """

    least: Mapping[int, Decimal]
    amount: Decimal
    freight: bool


async def find_settled(step: Step[Any], trade: Trade, order: ReadOnlyRecord) -> Settled:
    """Return what was ever shipped of an order, even if it was reversed, or is invoiced, in drafts too.

    Call it in the transaction that changes the order: invoices of it wait for its end.
    """
    billed = await step.service.part(Books).find_billed(trade.biz_type, str(order["id"]))
    shipments = await step.store(trade.shipments).find({"order_id": order["id"]})
    least = {number: units for number, units in billed.units.items() if number}
    for line in (line for one in shipments for line in number_lines(one["lines"], order["lines"])):
        least.setdefault(line["line"], _ZERO)
    for line in order["lines"]:
        if line["line"] in least:
            least[line["line"]] = max(least[line["line"]], exact(line[trade.shipped]))
    freight = 0 in billed.units or any(exact(one["freight"]) for one in shipments)
    return Settled(least, billed.amount, freight)


async def name_lines(
    req: Request, trade: Trade, order: ReadOnlyRecord, given: Sequence[Line], settled: Settled, first: int
) -> list[Record]:
    """Return the lines that a body makes of those of an order, complete but without new amounts.

    New ones are numbered from `first`. Raises 40001 for lines that the order does not have, that are named twice, or that
    contradict themselves.
    """
    known: dict[Any, Line] = {line["line"]: line for line in order["lines"]}
    numbers = [one.get("line") for one in given]
    faults = [
        FieldError(f"lines[{place}].line", "duplicate" if number in known else "reference")
        for place, number in enumerate(numbers)
        if number is not None and (number not in known or number in numbers[:place])
    ]
    made: dict[int, Record] = {}
    anew: dict[int, Line] = {}
    for place, one in enumerate(given):
        before = known.get(one.get("line"))
        asked = _merge(before, one)
        if before is not None and _find_changed(before, asked, ASKED_LINE) is None:
            made[place] = {**before}
        elif before is not None and before["line"] in settled.least:
            made[place] = {**before, **asked}
            faults += _find_quantity_faults(place, made[place])
        else:
            anew[place] = asked
    if faults:
        raise ValidationFailed(faults)
    completed = await _complete(req, trade, order, anew, list(made.values()))
    for place, line in zip(anew, completed, strict=True):
        before = known.get(numbers[place]) or {}
        same = all(line[name] == before.get(name) for name in ("product_id", "unit"))
        made[place] = {
            **line,
            "line": numbers[place],
            **({"quotation_line": before.get("quotation_line")} if same else {}),
        }
    ordered = [made[place] for place in range(len(given))]
    following = iter(range(first, MOST_LINES + 1))
    if numbers.count(None) > MOST_LINES + 1 - first:
        raise invalid("lines", "maxItems")
    lines = [{**line, "line": next(following) if line["line"] is None else line["line"]} for line in ordered]
    if all(line.get("kind") == TEXT for line in lines):
        raise invalid("lines", "required")
    return lines


def _find_quantity_faults(place: int, line: Line) -> Iterator[FieldError]:
    """Yield what is wrong with the quantity of a line that keeps everything else."""
    if not exact(line["quantity"]):
        yield FieldError(f"lines[{place}].quantity", "minimum")
    yield from find_unit_faults(place, line, exact(line.get("unit_factor")) or _ONE)


def _merge(before: Line | None, given: Line) -> Record:
    """Return what is asked of a line: what the body has, and of the line before what it does not mention."""
    asked = {name: value for name, value in given.items() if name != "line"}
    if "unit_price" in asked or "price" in asked:
        prices = [asked[name] for name in _PRICES if asked.get(name) is not None]
        if len({exact(one) for one in prices}) < 2:
            asked |= dict.fromkeys(_PRICES, prices[0] if prices else None)
    if before is None or asked.get("product_id", before["product_id"]) != before["product_id"]:
        return asked
    replaced = _TAXES if any(asked.get(name) is not None for name in _TAXES) else ()
    kept = {name: before.get(name) for name in ASKED_LINE if name not in replaced}
    if asked.get("tax_id") == before.get("tax_id"):
        kept |= {name: before.get(name) for name in _TAXES}
    return kept | asked


def _find_changed(before: Line, after: Line, names: Sequence[str] | Mapping[str, Any]) -> str | None:
    """Return the first of these values in which a line differs from what it was before, or None."""
    return next((name for name in names if not _is_same(name, before.get(name), after.get(name))), None)


def _is_same(name: str, one: Any, other: Any) -> bool:
    if name not in _NUMBERS:
        return bool(one == other)
    usual = _ONE if name == "price_per" else _ZERO
    return (usual if one is None else exact(one)) == (usual if other is None else exact(other))


async def _complete(
    req: Request, trade: Trade, order: ReadOnlyRecord, anew: Mapping[int, Line], among: Sequence[Line]
) -> list[Record]:
    """Return lines with prices and taxes, as those of a draft; faults name the places that they have in the body."""
    if not anew:
        return []
    with _naming([*anew]):
        lines = await complete_lines(req, trade, [*anew.values()], order, before=order["lines"], among=among)
    return [{**line, "line": None} for line in lines]


@contextmanager
def _naming(places: Sequence[int]) -> Iterator[None]:
    """Let faults in some of the lines of a body name the places that they have there."""
    try:
        yield
    except ValidationFailed as error:
        named = [
            FieldError(_PLACE.sub(lambda found: f"lines[{places[int(found[1])]}]", one.field), one.rule)
            for one in error.errors
        ]
        raise ValidationFailed(named, error.reason) from error


def revise(trade: Trade, order: ReadOnlyRecord, asked: ReadOnlyRecord, settled: Settled) -> Record:
    """Return what an order has after a revision: `lines`, sums, `order_discount`, and `shipped_difference`.

    `asked` has its lines as `name_lines` returns them, and its terms. Raises 40901 for what is settled and would change,
    and 40001 for amounts that are too large or too small.
    """
    _check_settled(order, asked, settled)
    before: dict[Any, Line] = {line["line"]: line for line in order["lines"]}
    rest = [line for line in asked["lines"] if line["line"] not in settled.least]
    kept = {
        line["line"]: _scale(before[line["line"]], line) for line in asked["lines"] if line["line"] in settled.least
    }
    discount, shares = _find_discount(order, asked, rest, [*kept.values()])
    terms = {"prices_include_tax": order["prices_include_tax"], "order_discount": store_money(discount)}
    with _naming([place for place, line in enumerate(asked["lines"]) if line["line"] not in settled.least]):
        computed = compute_amounts(rest, terms, order["tax_rounding"] or BY_LINE)
    amounts = {line["line"]: line for line in computed["lines"]} | kept
    lines = [_keep_shipped(trade, before.get(one["line"]), amounts[one["line"]]) for one in asked["lines"]]
    freight = exact(asked["freight"])
    tax = sum((exact(line["tax"]) for line in lines), _ZERO)
    amount = sum((exact(line["amount"]) for line in lines), freight)
    if amount > Decimal(MAX_AMOUNT):
        raise invalid("lines", "maximum")
    difference = count_difference(trade, lines)
    _check_billed(trade, order, amount + difference, settled)
    whole = discount + shares
    return {
        "lines": lines,
        "order_discount": store_money(whole) if whole or asked["order_discount"] is not None else None,
        "net_amount": store_money(amount - tax),
        "tax_amount": store_money(tax),
        "amount": store_money(amount),
        "shipped_difference": store_money(difference) if difference else None,
    }


def _check_settled(order: ReadOnlyRecord, asked: ReadOnlyRecord, settled: Settled) -> None:
    """Raise 40901 for the first line or value that is settled and would change."""
    lines, known = asked["lines"], {line["line"]: line for line in order["lines"]}
    for place, line in enumerate(lines):
        if line["line"] not in settled.least:
            continue
        before, number = known[line["line"]], place + 1
        if changed := _find_changed(before, line, _AGREED):
            data = {"field": f"lines[{place}].{changed}"}
            raise ApiError(CONFLICT, LINE_SETTLED.filled(line=number), data=data)
        # what is ordered already may be less than what was shipped or drafts of invoices bill
        least = min(settled.least[line["line"]], exact(before["quantity"]))
        if exact(line["quantity"]) < least:
            data = {"field": f"lines[{place}].quantity", "least": f"{least.normalize():f}"}
            raise ApiError(CONFLICT, BELOW_SETTLED.filled(line=number, least=data["least"]), data=data)
    named = {line["line"] for line in lines}
    if dropped := sorted(number for number in known.keys() & settled.least.keys() if number not in named):
        raise ApiError(CONFLICT, SETTLED_LINE_DROPPED.filled(line=dropped[0]), data={"field": "lines"})
    if settled.freight and exact(asked["freight"]) != exact(order["freight"]):
        raise ApiError(CONFLICT, FREIGHT_SETTLED, data={"field": "freight"})


def _check_billed(trade: Trade, order: ReadOnlyRecord, whole: Decimal, settled: Settled) -> None:
    """Raise 40901 if an order would come to less than before, and to less than its invoices claim."""
    before = exact(order["amount"]) + count_difference(trade, order["lines"])
    if whole < min(before, settled.amount):
        least = f"{min(before, settled.amount):.2f}"
        raise ApiError(CONFLICT, BELOW_BILLED.filled(least=least), data={"field": "lines", "least": least})


def _find_discount(
    order: ReadOnlyRecord, asked: ReadOnlyRecord, rest: Sequence[Line], kept: Sequence[Line]
) -> tuple[Decimal, Decimal]:
    """Return which discount of the order the `rest` of the lines share, and the shares of those `kept`."""
    known = {line["line"]: line for line in order["lines"]}
    before = sum((_share_discount(order, known[line["line"]]) for line in kept), _ZERO)
    shares = sum((_share_discount(order, line) for line in kept), _ZERO)
    if exact(asked["order_discount"]) != exact(order["order_discount"]):
        left = exact(asked["order_discount"]) - shares
        if left < 0:
            raise invalid("order_discount", "minimum")
        return left, shares
    left = max(exact(order["order_discount"]) - before, _ZERO)
    if not kept:
        return left, shares
    values = (compute_value(line, exact(line["quantity"])) - exact(line.get("discount_amount")) for line in rest)
    return max(min(left, sum(values, _ZERO)), _ZERO), shares


def _share_discount(order: ReadOnlyRecord, line: Line) -> Decimal:
    """Return the share of a line in the discount of its order."""
    sums = line.get("agreed") or line
    value, whole = compute_value(line, exact(line["quantity"])), compute_value(line, exact(sums["quantity"]))
    if not whole:
        return _ZERO
    left = exact(sums["amount" if includes_tax(line, order) else "net"])
    return share(whole - exact(sums.get("discount_amount")) - left, value, whole)


def _scale(before: Line, line: Line) -> Record:
    """Return a settled line with another quantity, at the same cost of a unit."""
    quantity = exact(line["quantity"])
    if quantity == exact(before["quantity"]):
        return {**line, **{name: before.get(name) for name in ("agreed", "completed", *_SHARED)}}
    agreed = before.get("agreed") or {name: before.get(name) for name in ("quantity", *_SHARED)}
    given = {**before, "agreed": agreed}
    tax, amount = (compute_part(given, quantity, name) for name in ("tax", "amount"))
    off = compute_part(given, quantity, "discount_amount") if agreed["discount_amount"] is not None else None
    return {
        **line,
        "agreed": agreed,
        "completed": None,
        "discount_amount": store_money(off) if off is not None else None,
        "net": store_money(amount - tax),
        "tax": store_money(tax),
        "amount": store_money(amount),
    }


def _keep_shipped(trade: Trade, before: Line | None, line: Line) -> Record:
    """Return a line with what is shipped of it."""
    return {**line, trade.shipped: before[trade.shipped] if before is not None else store_quantity(_ZERO)}
