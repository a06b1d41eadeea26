"""What was ordered of the lines of quotations, and what a further order gets of what is left.

Orders that were not cancelled count. Whatever an order gets of a sum of its quotation (a discount that is an amount, the
freight) is what the orders so far have left of it, so that they add up to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, exact, store_money
from plugins.api.business import TEXT, compute_value
from plugins.api.records import change_state
from plugins.api.values import ReadOnlyRecord, StoredAmount, share, store_quantity
from plugins.inventory.lines import Line, count_unfinished, pick_lines
from plugins.inventory.order_records import SALES_ORDERS
from plugins.inventory.quotation_records import AGREED, QUOTATION_STATES, QUOTATIONS
from plugins.inventory.texts import MORE_THAN_QUOTED

_DONE = "ordered_quantity"
_ZERO = Decimal(0)


async def find_orders(req: Request, quotation_id: Any) -> Sequence[ReadOnlyRecord]:
    """Return the orders that were made of a quotation and not cancelled, whoever may see them."""
    return await req.system_store(SALES_ORDERS).find({"quotation_id": quotation_id, "status": {"$ne": "cancelled"}})


def count_lines(quotation: ReadOnlyRecord, orders: Sequence[ReadOnlyRecord]) -> list[Record]:
    """Return the lines of a quotation with what these orders have of them."""
    ordered: defaultdict[Any, Decimal] = defaultdict(Decimal)
    for line in (line for order in orders for line in order["lines"]):
        ordered[line.get("quotation_line")] += exact(line["quantity"])
    return [{**line, _DONE: store_quantity(ordered[line["line"]])} for line in quotation["lines"]]


def choose_state(lines: Sequence[Line]) -> str:
    """Return the state of a quotation of whose lines so much is ordered."""
    if not any(exact(line[_DONE]) for line in lines):
        return "accepted"
    return "partly_ordered" if any(count_unfinished(line, _DONE) for line in lines) else "ordered"


async def count_again(req: Request, order: ReadOnlyRecord) -> None:
    """Count again what is ordered of the quotation of an order that has changed, if it was made of one.

    Call it inside the transaction of the change. Raises 40901 if more is ordered of a line than was quoted, or if the
    quotation is one that cannot be ordered.
    """
    id = order.get("quotation_id")
    quotation = await req.system_store(QUOTATIONS).find_one({"_id": id}) if id is not None else None
    if quotation is None:
        return
    before: Sequence[Line] = quotation["lines"]
    lines = count_lines(quotation, await find_orders(req, id))
    places = {line.get("quotation_line"): number for number, line in enumerate(order["lines"])}
    for line in lines:
        excess = exact(line[_DONE]) - exact(line["quantity"])
        if excess > 0:
            place = places.get(line["line"], 0)
            raise _refuse(place, exact(order["lines"][place]["quantity"]) - excess)
    if all(exact(one[_DONE]) == exact(line[_DONE]) for one, line in zip(lines, before, strict=True)):
        return
    state, machine = choose_state(lines), QUOTATION_STATES
    moves = [name for name in machine.transitions if "order" in name and machine.after(name) == state]
    action = next((name for name in moves if machine.permits(quotation, name)), moves[0])
    await change_state(req.system_store(QUOTATIONS), id, action, {"$set": {"lines": lines}})


def keep_quoted(lines: Sequence[Record], before: Sequence[Line]) -> list[Record]:
    """Return the lines that replace those `before` with the lines of the quotation that these order.

    Each takes over from one with the same product, unit and words, or else with the same product and unit.
    """
    kept: dict[int, Line] = {}
    left = sorted(before, key=lambda one: -int(one["line"]))
    for names in (("product_id", "unit", "description"), ("product_id", "unit")):
        waiting: defaultdict[Any, list[Line]] = defaultdict(list)
        for one in left:
            waiting[tuple(one.get(name) for name in names)].append(one)
        for number, line in enumerate(lines):
            same = waiting[tuple(line.get(name) for name in names)]
            if number not in kept and same:
                kept[number] = same.pop()
        taken = {one["line"] for one in kept.values()}
        left = [one for one in left if one["line"] not in taken]
    return [{**line, "quotation_line": kept.get(number, {}).get("quotation_line")} for number, line in enumerate(lines)]


def choose_quantities(quotation: ReadOnlyRecord, given: Sequence[Line] | None) -> Mapping[int, Decimal]:
    """Return how much is ordered now of each line, by its number: of those `given`, or else all that is left of each.

    Lines of words come along with all that is left. Raises 40001 for lines that the quotation does not have, and 40901 for
    more than is left.
    """
    lines: Sequence[Line] = quotation["lines"]
    left = {line["line"]: count_unfinished(line, _DONE) for line in lines}
    if given is None:
        return {line["line"]: left[line["line"]] for line in lines if left[line["line"]] or line["kind"] == TEXT}
    wanted = {}
    for number, (one, line) in enumerate(zip(given, pick_lines(lines, given), strict=True)):
        wanted[line["line"]] = exact(one["quantity"])
        if wanted[line["line"]] > left[line["line"]]:
            raise _refuse(number, left[line["line"]])
    return wanted


def _refuse(place: int, left: Decimal) -> ApiError:
    shown = f"{max(left, _ZERO).normalize():f}"
    data = {"open": shown, "field": f"lines[{place}].quantity"}
    return ApiError(CONFLICT, MORE_THAN_QUOTED.filled(line=place + 1, open=shown), data=data)


def draft_order(
    quotation: ReadOnlyRecord, orders: Sequence[ReadOnlyRecord], wanted: Mapping[int, Decimal]
) -> tuple[list[Record], Record]:
    """Return the lines of an order of so much of a quotation, without amounts, and what else it copies.

    `orders` are those that were made of it before.
    """
    chosen = [line for line in quotation["lines"] if line["line"] in wanted]
    before = [line for order in orders for line in order["lines"]]
    lines = [
        {
            **{name: value for name, value in line.items() if name != _DONE},
            "line": number,
            "quotation_line": line["line"],
            "quantity": store_quantity(wanted[line["line"]]),
            "discount_amount": _share_line(line, wanted[line["line"]], before),
            "delivered": store_quantity(_ZERO),
        }
        for number, line in enumerate(chosen, 1)
    ]
    sums = {
        "order_discount": _share_discount(quotation, orders, wanted, lines),
        "freight": _leave(exact(quotation["freight"]), orders, "freight") if quotation["freight"] is not None else None,
    }
    copied = {name: quotation[name] for name in AGREED} | sums
    return lines, {**copied, "quotation_id": quotation["id"], "contract_id": quotation["contract_id"]}


def _share_line(line: Line, quantity: Decimal, before: Sequence[Line]) -> StoredAmount | None:
    """Return what so many units of a line get of its `discount_amount`; lines of orders `before` have got theirs."""
    if line.get("discount_amount") is None:
        return None
    same = [one for one in before if one.get("quotation_line") == line["line"]]
    due = share(exact(line["discount_amount"]), exact(line[_DONE]) + quantity, exact(line["quantity"]))
    return _leave(due, same, "discount_amount", compute_value(line, quantity))


def _share_discount(
    quotation: ReadOnlyRecord,
    orders: Sequence[ReadOnlyRecord],
    wanted: Mapping[int, Decimal],
    lines: Sequence[Line],
) -> StoredAmount | None:
    """Return what an order with these `lines` gets of the discount of its quotation."""
    whole, quoted = quotation["order_discount"], quotation["lines"]
    value = sum((compute_value(line, exact(line["quantity"])) for line in quoted), _ZERO)
    if whole is None or not value:
        return None
    after = {line["line"]: exact(line[_DONE]) + wanted.get(line["line"], _ZERO) for line in quoted}
    ordered = sum((compute_value(line, after[line["line"]]) for line in quoted), _ZERO)
    values = (compute_value(one, exact(one["quantity"])) - exact(one["discount_amount"]) for one in lines)
    return _leave(share(exact(whole), ordered, value), orders, "order_discount", sum(values, _ZERO))


def _leave(due: Decimal, before: Sequence[ReadOnlyRecord], field: str, most: Decimal | None = None) -> StoredAmount:
    """Return what those `before` have left of the amount that is `due` for them and the next: between zero and `most`."""
    left = max(due - sum((exact(one.get(field)) for one in before), _ZERO), _ZERO)
    return store_money(left if most is None else min(left, most))
