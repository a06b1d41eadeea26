"""The lines of invoices: what they bill of an order, what they come to, and what credit notes take off them.

A line of an order is billed by as many invoices as people like, each some of its units. What these come to is the part of
all units billed by then, less what was billed before: the invoices of a line add up to it, and so do those of a shipment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, exact, invalid, store_money
from plugins.api.business import BillableOrder, PricedLines, compute_part, compute_value, share_out
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.finance.messages import MORE_UNITS_THAN_BILLED, MORE_UNITS_THAN_OPEN, NOTHING_TO_BILL
from plugins.finance.record_types import Invoice
from plugins.finance.records import INVOICES

Line = Mapping[str, Any]
_ZERO = Decimal(0)
_OF_ORDER = ("product_id", "kind", "unit", "price", "price_per", "discount", "tax_rate", "tax_id", "tax_included")
_NUMBERS = frozenset({"price", "price_per", "discount", "tax_rate"})
_WORDS = ("description", "reference")
_OF_SHIPMENTS = ("order_line", "shipment_id")


@dataclass
class Billed:
    """What invoices bill of the lines of an order, less what was credited of it; units also by shipment and line."""

    units: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    amounts: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    taxes: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    of_shipments: defaultdict[tuple[Any, int], Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def add(self, line: Line) -> None:
        """Add a line of an invoice."""
        number, units = line["order_line"], exact(line["quantity"]) - exact(line.get("credited_quantity"))
        self.units[number] += units
        self.amounts[number] += exact(line["amount"]) - exact(line.get("credited"))
        self.taxes[number] += exact(line["tax"]) - exact(line.get("credited_tax"))
        self.of_shipments[line.get("shipment_id"), number] += units

    def count_open(self, order: BillableOrder, number: int, shipment_id: Any) -> Decimal:
        """Return how many units of a line of the order, or of one of its shipments, can still be billed."""
        left = order.units[number] - self.units[number]
        if shipment_id is not None:
            shipped = order.shipped.get(shipment_id, {}).get(number, _ZERO)
            left = min(left, shipped - self.of_shipments[shipment_id, number])
        return max(left, _ZERO)


async def derive(req: Request, values: ReadOnlyRecord, item: ReadOnlyRecord | None, given: ReadOnlyRecord) -> Record:
    """Return `lines`, `amount` and `tax` of an invoice with these values, or nothing if it has no lines.

    `item` is the open item that it bills, `given` the body. Raises 40001 for lines that contradict themselves, their order
    or the amount, and 40901 for more than is open of an order, line by line.
    """
    shipments, asked = given.get("shipment_ids"), given.get("lines")
    order = await _find_order(req, item)
    if shipments and order is None:
        raise invalid("shipment_ids", "invalid")
    if order is not None and (asked is not None or shipments or values.get("amount") is None):
        billed = await _sum_billed(req, item, values.get("id"))
        asked = list(_propose(order, billed, shipments)) if asked is None else asked
        found: Record = _bill(order, billed, asked)
    elif asked is not None:
        found = await _price(req, values, asked)
    elif values.get("amount") is None:
        raise invalid("amount", "required")
    else:
        return {}
    sums = sum_lines(found["lines"])
    for name, value in sums.items():
        stated = exact(given.get(name))
        if stated and stated != exact(value):
            raise invalid(name, "invalid")
    if not exact(sums["amount"]):
        raise invalid("amount", "minimum")
    return {**found, **sums}


def sum_lines(lines: Sequence[Line]) -> Record:
    """Return `amount` and `tax` of an invoice with these lines."""
    return {
        name: store_money(sum((exact(line[of]) for line in lines), _ZERO))
        for name, of in (("amount", "net"), ("tax", "tax"))
    }


async def renew(req: Request, invoice: Invoice, item: ReadOnlyRecord) -> Record:
    """Return what changes in an invoice whose lines bill an order when it is confirmed, after others were.

    Call it in the transaction that has locked the item. Raises 40901 for more units than are open.
    """
    order = await _find_order(req, item) if invoice["lines"] else None
    if order is None or not invoice["lines"]:
        return {}
    lines = _bill(order, await _sum_billed(req, item, invoice["id"]), invoice["lines"], renewing=True)["lines"]
    if lines == invoice["lines"]:
        return {}
    sums = sum_lines(lines)
    return {"lines": lines, **sums, "total": store_money(exact(sums["amount"]) + exact(sums["tax"]))}


async def _find_order(req: Request, item: ReadOnlyRecord | None) -> BillableOrder | None:
    if item is None:
        return None
    return await req.part(PricedLines).find_billable(req, item["biz_type"], item["resource_id"])


async def _sum_billed(req: Request, item: ReadOnlyRecord | None, except_id: Any) -> Billed:
    """Return what the other confirmed invoices of an item bill of its order."""
    known = {"status": {"$nin": ["draft", "void"]}, "_id": {"$ne": except_id}, "lines": {"$type": "array"}}
    billed = Billed()
    for invoice in await req.system_store(INVOICES).find({"open_item_id": item and item["id"], **known}):
        for line in invoice["lines"] or ():
            billed.add(line)
    return billed


def _propose(order: BillableOrder, billed: Billed, shipments: Sequence[Any] | None) -> Iterator[Record]:
    """Yield all that is open of an order, or of these shipments of it. Raises 40001 for a shipment of another order."""
    for place, id in enumerate(shipments or ()):
        if id not in order.shipped:
            raise invalid(f"shipment_ids[{place}]", "reference")
    proposed = False
    for id in shipments or (None,):
        for line in order.lines:
            left = billed.count_open(order, line["line"], id)
            if left:
                proposed = True
                yield {"order_line": line["line"], "shipment_id": id, "quantity": store_quantity(left)}
    if not proposed:
        raise ApiError(CONFLICT, NOTHING_TO_BILL, data={"open": "0.00", "field": "lines"})


def _bill(order: BillableOrder, billed: Billed, asked: Sequence[Line], *, renewing: bool = False) -> Record:
    """Return the asked lines of an order as those of an invoice. `renewing`: they are those of a draft.

    Raises 40001 for lines that are not those of the order, and 40901 for more units than are open.
    """
    known = {line["line"]: line for line in order.lines}
    faults = [one for place, line in enumerate(asked) for one in _list_faults(f"lines[{place}]", line, known)]
    keys = [tuple(line.get(name) for name in _OF_SHIPMENTS) for line in asked]
    faults += [FieldError(f"lines[{at}].order_line", "duplicate") for at, key in enumerate(keys) if key in keys[:at]]
    if faults and not renewing:
        raise ValidationFailed(faults)
    lines = []
    for place, line in enumerate(asked):
        of_order, shipment_id = known[line["order_line"]], line.get("shipment_id")
        left = billed.count_open(order, of_order["line"], shipment_id)
        units = left if line.get("quantity") is None else exact(line["quantity"])
        if units > left or (not units and exact(of_order["quantity"])):
            data = {"open": f"{left.normalize():f}", "field": f"lines[{place}].quantity"}
            raise ApiError(CONFLICT, MORE_UNITS_THAN_OPEN.filled(line=place + 1, open=data["open"]), data=data)
        made = _bill_line(of_order, units, billed)
        words = {name: line[name] if line.get(name) is not None else of_order.get(name) for name in _WORDS}
        lines.append({**made, **words, "line": place + 1, "shipment_id": shipment_id})
        billed.add(lines[-1])
    return {"lines": lines}


def _list_faults(at: str, line: Line, known: Mapping[int, Line]) -> Iterator[FieldError]:
    """Yield what is wrong with a line that bills one of an order."""
    of_order = known.get(line["order_line"]) if line.get("order_line") is not None else None
    if of_order is None:
        yield FieldError(f"{at}.order_line", "required" if line.get("order_line") is None else "reference")
        return
    for name in (*_OF_ORDER, "unit_price"):
        value, agreed = line.get(name), of_order.get("price" if name == "unit_price" else name)
        same = value == agreed
        if name in _NUMBERS or name == "unit_price":
            same = value is not None and exact(value) == exact(agreed)
        if value is not None and not same:
            yield FieldError(f"{at}.{name}", "invalid")


def _bill_line(line: Line, units: Decimal, billed: Billed) -> Record:
    """Return the line of an invoice that bills these units of a line of an order, and what they come to."""
    number = line["line"]
    after = billed.units[number] + units
    amount = max(compute_part(line, after) - billed.amounts[number], _ZERO) if units else _ZERO
    tax = min(max(compute_part(line, after, "tax") - billed.taxes[number], _ZERO), amount) if units else _ZERO
    value = compute_value(line, units) if units else _ZERO
    off = value - (amount if line.get("tax_included") else amount - tax)
    return {
        **{name: line.get(name) for name in _OF_ORDER},
        "unit_price": line.get("price"),
        "unit_factor": line.get("unit_factor"),
        "order_line": number,
        "quantity": store_quantity(units),
        "discount_amount": store_money(off) if off > 0 else None,
        "net": store_money(amount - tax),
        "tax": store_money(tax),
        "amount": store_money(amount),
    }


async def _price(req: Request, values: ReadOnlyRecord, asked: Sequence[Line]) -> Record:
    """Return the lines of an invoice that bills no order, with prices and taxes. Raises 40001."""
    wrong = [
        FieldError(f"lines[{place}].{name}", "invalid")
        for place, line in enumerate(asked)
        for name in _OF_SHIPMENTS
        if line.get(name) is not None
    ]
    wrong += [
        FieldError(f"lines[{place}].quantity", "required")
        for place, line in enumerate(asked)
        if line.get("quantity") is None and any(line.get(name) is not None for name in ("price", "unit_price"))
    ]
    if wrong:
        raise ValidationFailed(wrong)
    priced = await req.part(PricedLines).compute(req, values["direction"], [dict(line) for line in asked], values)
    if priced is None:
        raise invalid("lines", "invalid")
    return {"lines": priced["lines"]}


def credit(
    invoice: Invoice, asked: Sequence[Line] | None, left: Mapping[str, Decimal]
) -> tuple[list[Record], list[Record]]:
    """Return the lines of a credit note, and those of its invoice after it.

    Without `asked` lines all that is `left` of the invoice is credited: its `amount` and `tax`. Raises 40001 for a line that
    the invoice has not, or that is named twice, and 40901 for more units than are left of one.
    """
    lines = [*(invoice["lines"] or ())]
    units = _choose_units(lines, asked)
    parts = _share_rest(lines, left) if asked is None else {at: _part(lines[at], count) for at, count in units.items()}
    made, after = [], [{**line} for line in lines]
    for at, count in units.items():
        net, tax = parts[at]
        made.append(_describe_credit(lines[at], count, net, tax))
        after[at] |= _add_credit(lines[at], count, net, tax)
    return made, after


def _choose_units(lines: Sequence[Line], asked: Sequence[Line] | None) -> dict[int, Decimal]:
    """Return how many units are credited of each line, by its place."""
    left = [exact(line["quantity"]) - exact(line.get("credited_quantity")) for line in lines]
    if asked is None:
        return {at: count for at, count in enumerate(left) if count}
    units: dict[int, Decimal] = {}
    for place, one in enumerate(asked):
        at = one["line"] - 1
        if at >= len(lines) or at in units:
            raise invalid(f"lines[{place}].line", "duplicate" if at in units else "reference")
        units[at] = left[at] if one.get("quantity") is None else exact(one["quantity"])
        if units[at] > left[at] or not units[at]:
            data = {"open": f"{left[at].normalize():f}", "field": f"lines[{place}].quantity"}
            raise ApiError(CONFLICT, MORE_UNITS_THAN_BILLED.filled(line=at + 1, open=data["open"]), data=data)
    return units


def _part(line: Line, units: Decimal) -> tuple[Decimal, Decimal]:
    """Return net and tax of some units of a line of an invoice, after what was credited of it before."""
    after = exact(line.get("credited_quantity")) + units
    amount = compute_part(line, after) - exact(line.get("credited"))
    tax = compute_part(line, after, "tax") - exact(line.get("credited_tax"))
    return amount - tax, tax


def _share_rest(lines: Sequence[Line], left: Mapping[str, Decimal]) -> dict[int, tuple[Decimal, Decimal]]:
    """Return what is left of an invoice by the place of its lines: also if amounts without lines were credited before."""
    rests = [
        (
            exact(line["net"]) - (exact(line.get("credited")) - exact(line.get("credited_tax"))),
            exact(line["tax"]) - exact(line.get("credited_tax")),
        )
        for line in lines
    ]
    nets = share_out(left["amount"], [net for net, _ in rests])
    taxes = share_out(left["tax"], [tax for _, tax in rests])
    return dict(enumerate(zip(nets, taxes, strict=True)))


def _describe_credit(line: Line, units: Decimal, net: Decimal, tax: Decimal) -> Record:
    return {
        **{name: line.get(name) for name in ("line", "product_id", "kind", "description", "tax_rate")},
        "quantity": store_quantity(units),
        "net": store_money(net),
        "tax": store_money(tax),
        "amount": store_money(net + tax),
    }


def _add_credit(line: Line, units: Decimal, net: Decimal, tax: Decimal) -> Record:
    return {
        "credited_quantity": store_quantity(exact(line.get("credited_quantity")) + units),
        "credited": store_money(exact(line.get("credited")) + net + tax),
        "credited_tax": store_money(exact(line.get("credited_tax")) + tax),
    }


def take_back(invoice: Invoice, noted: Sequence[Line]) -> tuple[list[Record], list[Record]]:
    """Return the lines of the reversal of a credit note, and those of its invoice after it."""
    after = [{**line} for line in invoice["lines"] or ()]
    made = []
    for line in noted:
        units, net, tax = (-exact(line[name]) for name in ("quantity", "net", "tax"))
        made.append(_describe_credit(line, units, net, tax))
        after[line["line"] - 1] |= _add_credit(after[line["line"] - 1], units, net, tax)
    return made, after
