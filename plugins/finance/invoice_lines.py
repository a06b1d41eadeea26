"""The lines of invoices: what they bill of an order, what they come to, and what credit notes take off them.

A line of an order is billed by as many invoices as people like, each some of its units. What these come to is the part of
all units billed by then, less what was billed before: the invoices of a line add up to it, and so do those of a shipment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Service, exact, invalid, store_money
from plugins.api.business import BillableOrder, BilledOrder, PricedLines, compute_part, compute_value, share_out
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.finance.bills import billing, count_left, find_item_ids, get_share, list_lines, split
from plugins.finance.messages import MORE_UNITS_THAN_BILLED, MORE_UNITS_THAN_OPEN, NOTHING_TO_BILL
from plugins.finance.open_items import refuse_claims
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.prepayments import ask_for, take_off
from plugins.finance.record_types import Invoice, OpenItem
from plugins.finance.records import FINAL, INVOICES, PREPAYMENT, STANDARD

Line = Mapping[str, Any]
_ZERO = Decimal(0)
_OF_ORDER = ("product_id", "kind", "unit", "price", "price_per", "discount", "tax_rate", "tax_id", "tax_included")
_NUMBERS = frozenset({"price", "price_per", "discount", "tax_rate"})
_WORDS = ("description", "reference")
_OF_SHIPMENTS = ("order_line", "shipment_id")
_PLACE = re.compile(r"lines\[(\d+)\]")


@dataclass
class Billed:
    """What invoices bill of the lines of an order, less what was credited of it; units also by shipment and line."""

    units: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    amounts: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    taxes: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    of_shipments: defaultdict[tuple[Any, int], Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def add(self, line: Line) -> None:
        """Add a line of an invoice, unless it is of no line of an order."""
        if line.get("order_line") is None:
            return
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


@dataclass(frozen=True)
class Source:
    """An open item that an invoice bills: its order, if that has lines to bill, and what other invoices bill of these."""

    item: OpenItem
    order: BillableOrder | None
    billed: Billed


Rows = Sequence[tuple[int, Line]]  # lines with their places in the body


async def derive(req: Request, values: ReadOnlyRecord, items: Sequence[OpenItem], given: ReadOnlyRecord) -> Record:
    """Return `lines`, `amount`, `tax` and `billed_items` of an invoice with these values; no lines if it has only sums.

    `items` are the open items that it bills, `given` the body. Raises 40001 for lines that contradict themselves, their
    order or the amount, and 40901 for more than is open of an order, line by line.
    """
    shipments, asked = given.get("shipment_ids"), given.get("lines")
    several, kind = values.get("open_item_id") is None and bool(items), values.get("kind") or STANDARD
    if kind == STANDARD and not (several or shipments or asked is not None or values.get("amount") is None):
        return {"billed_items": None}
    sources = await _find_sources(req, items, values.get("id"))
    of_orders = bool(sources) and all(one.order is not None for one in sources)
    if shipments and not of_orders:
        raise invalid("shipment_ids", "invalid")
    if kind != STANDARD and not of_orders:
        raise invalid("kind", "invalid")
    further: Record = {}
    if kind == PREPAYMENT:
        lines, further = _ask_for(req, values, sources, given)
    elif several or kind == FINAL or (of_orders and (asked is not None or shipments or values.get("amount") is None)):
        rows = [*enumerate(_propose(sources, shipments))] if asked is None else _get_rows(asked, kind)
        lines = await _bill(req, values, sources, rows)
        if kind == FINAL:
            lines = await _take_off(req, values, sources, lines)
    elif asked is not None:
        lines = await _price(req, values, _get_rows(asked, kind))
    elif values.get("amount") is None:
        raise invalid("amount", "required")
    else:
        return {"billed_items": None}
    sums = sum_lines(lines)
    for name, value in sums.items():
        stated = exact(given.get(name))
        if stated and stated != exact(value):
            raise invalid(name, "invalid")
    if not exact(sums["amount"]) and kind == FINAL:
        raise ApiError(CONFLICT, NOTHING_TO_BILL, data={"open": "0.00", "field": "lines"})
    if not exact(sums["amount"]):
        raise invalid("amount", "minimum")
    return {"lines": lines, "billed_items": split(lines) if several else None, **further, **sums}


def _get_rows(asked: Sequence[Line], kind: str) -> Rows:
    """Return the lines of a body with their places, without those of a final invoice below zero, which are made anew."""
    below = {place for place, line in enumerate(asked) if exact(line.get("quantity")) < 0}
    if below and kind != FINAL:
        raise ValidationFailed([FieldError(f"lines[{place}].quantity", "minimum") for place in sorted(below)])
    return [(place, line) for place, line in enumerate(asked) if place not in below]


def _ask_for(
    req: Request, values: ReadOnlyRecord, sources: Sequence[Source], given: ReadOnlyRecord
) -> tuple[list[Record], Record]:
    """Return the lines of a prepayment invoice, and its rate: none if the body says which amount."""
    by_amount = given.get("prepayment_rate") is None and given.get("amount") is not None
    rate = None if by_amount else values.get("prepayment_rate")
    if given.get("lines") is not None or given.get("shipment_ids"):
        raise invalid("lines" if given.get("lines") is not None else "shipment_ids", "invalid")
    if rate is None and (len(sources) > 1 or values.get("amount") is None):
        raise invalid("prepayment_rate", "required")
    asks = {**values, "prepayment_rate": rate}
    lines = [
        {**line, "open_item_id": source.item["id"] if values.get("open_item_id") is None else None}
        for source in sources
        for line in ask_for(req, source.item, _order_of(source), asks)
    ]
    return [{**line, "line": number} for number, line in enumerate(lines, 1)], {"prepayment_rate": rate}


async def _take_off(
    req: Request, values: ReadOnlyRecord, sources: Sequence[Source], lines: list[Record]
) -> list[Record]:
    """Return the lines of a final invoice with those that take off what is prepaid of its items."""
    several = values.get("open_item_id") is None
    for source in sources:
        id = source.item["id"] if several else None
        theirs = [line for line in lines if line.get("open_item_id") == id]
        for line in await take_off(req, source.item, theirs, values.get("id")):
            lines.append({**line, "line": len(lines) + 1, "open_item_id": id})
    return lines


def _order_of(source: Source) -> BillableOrder:
    if source.order is None:
        raise invalid("kind", "invalid")
    return source.order


def sum_lines(lines: Sequence[Line]) -> Record:
    """Return `amount` and `tax` of an invoice with these lines."""
    return {
        name: store_money(sum((exact(line[of]) for line in lines), _ZERO))
        for name, of in (("amount", "net"), ("tax", "tax"))
    }


async def renew(req: Request, invoice: Invoice, items: Sequence[OpenItem]) -> Record:
    """Return what changes in an invoice whose lines bill orders when it is confirmed, after others were.

    Call it in the transaction that has locked the items. Raises 40901 for more units than are open.
    """
    if not invoice["lines"]:
        return {}
    sources = await _find_sources(req, items, invoice["id"])
    lines: list[Record] = [{**line} for line in invoice["lines"]]
    for source in sources:
        theirs = [(at, one) for at, one in enumerate(lines) if _is_of(one, invoice, source)]
        for at, line in _bill_order(source, theirs, renewing=True) if source.order is not None else ():
            lines[at] = {**line, "line": at + 1, "open_item_id": lines[at].get("open_item_id")}
    if lines == invoice["lines"]:
        return {}
    sums = sum_lines(lines)
    shares = {"billed_items": split(lines)} if invoice["billed_items"] else {}
    return {"lines": lines, **shares, **sums, "total": store_money(exact(sums["amount"]) + exact(sums["tax"]))}


async def check_reversed(req: Request, items: Sequence[OpenItem]) -> None:
    """Check that after the reversal of a credit note, invoices bill no more units of these items than are ordered.

    Raises 40901 if others have billed again what it had credited.
    """
    for source in await _find_sources(req, items, None):
        for line in source.order.lines if source.order is not None else ():
            if source.billed.units[line["line"]] > exact(line["quantity"]):
                message = MORE_UNITS_THAN_OPEN.filled(line=line["line"], open="0")
                raise ApiError(CONFLICT, message, data={"open": "0"})
    await refuse_claims(req, items)


def _is_of(line: Line, invoice: Invoice, source: Source) -> bool:
    """Return whether a line of an invoice bills one of the order of a source."""
    ours = not invoice["billed_items"] or line["open_item_id"] == source.item["id"]
    return ours and line.get("order_line") is not None


async def _find_sources(req: Request, items: Sequence[OpenItem], except_id: Any) -> list[Source]:
    """Return what an invoice bills, with what other confirmed invoices bill of it."""
    sources = []
    for item in items:
        order = await req.part(PricedLines).find_billable(req, item["biz_type"], item["resource_id"])
        billed = Billed()
        if order is not None:
            known = {"status": {"$nin": ["draft", "void"]}, "_id": {"$ne": except_id}, "lines": {"$type": "array"}}
            for invoice in await req.system_store(INVOICES).find({**billing([item["id"]]), **known}):
                for line in list_lines(invoice, item["id"]):
                    billed.add(line)
        sources.append(Source(item, order, billed))
    return sources


async def find_billed(service: Service, biz_type: str, resource_id: str) -> BilledOrder:
    """Return what invoices bill of an order, drafts included, and lock its item against those that confirm others."""
    of_order = {"biz_type": biz_type, "resource_id": resource_id}
    item = await service.database.store(OPEN_ITEMS).update_unversioned(of_order, {"$inc": {"billings": 1}})
    if item is None:
        return BilledOrder()
    billed, amount = Billed(), _ZERO
    for invoice in await service.database.store(INVOICES).find({**billing([item["id"]]), "status": {"$ne": "void"}}):
        share = get_share(invoice, item["id"])
        amount += exact(share["total"]) - exact(share["credited"])
        for line in list_lines(invoice, item["id"]):
            billed.add(line)
    return BilledOrder(billed.units, amount)


def _propose(sources: Sequence[Source], shipments: Sequence[Any] | None) -> Iterator[Record]:
    """Yield all that is open of orders, or of these shipments of them.

    Raises 40001 for a shipment of another order, and for what has no lines that could be proposed.
    """
    for place, id in enumerate(shipments or ()):
        if not any(one.order is not None and id in one.order.shipped for one in sources):
            raise invalid(f"shipment_ids[{place}]", "reference")
    proposed = False
    for source in sources:
        if source.order is None:
            raise invalid("lines", "required")
        shipped = source.order.shipped
        for id in [one for one in shipments if one in shipped] if shipments else (None,):
            for line in source.order.lines:
                left = source.billed.count_open(source.order, line["line"], id)
                if left:
                    proposed = True
                    asked = {"order_line": line["line"], "shipment_id": id, "quantity": store_quantity(left)}
                    yield {**asked, "open_item_id": source.item["id"]}
    if not proposed:
        raise ApiError(CONFLICT, NOTHING_TO_BILL, data={"open": "0.00", "field": "lines"})


async def _bill(req: Request, values: ReadOnlyRecord, sources: Sequence[Source], asked: Rows) -> list[Record]:
    """Return the asked lines as those of an invoice: of orders as agreed there, of other sources with their own prices.

    Each names its source where there are several. Raises 40001 and 40901 as `derive` does.
    """
    only = sources[0] if values.get("open_item_id") is not None else None
    rows: dict[Any, list[tuple[int, Line]]] = {source.item["id"]: [] for source in sources}
    faults = []
    for place, line in asked:
        id = line.get("open_item_id")
        if id in rows or (only is not None and id is None):
            rows[only.item["id"] if only is not None else id].append((place, line))
        else:
            faults.append(FieldError(f"lines[{place}].open_item_id", "required" if id is None else "reference"))
    if faults:
        raise ValidationFailed(faults)
    made: dict[int, Record] = {}
    for source in sources:
        theirs = rows[source.item["id"]]
        of = {"open_item_id": source.item["id"] if only is None else None}
        if source.order is not None:
            made |= {place: {**line, **of} for place, line in _bill_order(source, theirs)}
        elif theirs:
            priced = await _price(req, values, theirs)
            made |= {place: {**line, **of} for (place, _), line in zip(theirs, priced, strict=True)}
    return [{**made[place], "line": number} for number, place in enumerate(sorted(made), 1)]


def _bill_order(source: Source, asked: Rows, *, renewing: bool = False) -> Iterator[tuple[int, Record]]:
    """Yield the asked lines of an order as those of an invoice, with their places. `renewing`: they are of a draft.

    Raises 40001 for lines that are not those of the order, and 40901 for more units than are open.
    """
    order, billed = _order_of(source), source.billed
    known = {line["line"]: line for line in order.lines}
    faults = [one for place, line in asked for one in _list_faults(f"lines[{place}]", line, known)]
    keys = [tuple(line.get(name) for name in _OF_SHIPMENTS) for _, line in asked]
    repeated = [asked[at][0] for at, key in enumerate(keys) if key in keys[:at]]
    faults += [FieldError(f"lines[{place}].order_line", "duplicate") for place in repeated]
    if faults and not renewing:
        raise ValidationFailed(faults)
    for place, line in asked:
        of_order, shipment_id = known[line["order_line"]], line.get("shipment_id")
        left = billed.count_open(order, of_order["line"], shipment_id)
        units = left if line.get("quantity") is None else exact(line["quantity"])
        if units > left or (not units and exact(of_order["quantity"])):
            data = {"open": f"{left.normalize():f}", "field": f"lines[{place}].quantity"}
            raise ApiError(CONFLICT, MORE_UNITS_THAN_OPEN.filled(line=place + 1, open=data["open"]), data=data)
        made = _bill_line(of_order, units, source)
        words = {name: line[name] if line.get(name) is not None else of_order.get(name) for name in _WORDS}
        yield place, {**made, **words, "shipment_id": shipment_id}
        billed.add(made | {"shipment_id": shipment_id})


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


def _bill_line(line: Line, units: Decimal, source: Source) -> Record:
    """Return the line of an invoice that bills these units of a line of an order, and what they come to."""
    order, billed, number = _order_of(source), source.billed, line["line"]
    after = billed.units[number] + units
    left = order.left.get(number) if after == order.units[number] else None
    whole = compute_part(line, after) if left is None else left
    amount = max(whole - billed.amounts[number], _ZERO) if units else _ZERO
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


async def _price(req: Request, values: ReadOnlyRecord, asked: Rows) -> list[Record]:
    """Return lines of an invoice that are of no order, with prices and taxes. Raises 40001."""
    wrong = [
        FieldError(f"lines[{place}].{name}", "invalid")
        for place, line in asked
        for name in _OF_SHIPMENTS
        if line.get(name) is not None
    ]
    wrong += [
        FieldError(f"lines[{place}].quantity", "required")
        for place, line in asked
        if line.get("quantity") is None and any(line.get(name) is not None for name in ("price", "unit_price"))
    ]
    if wrong:
        raise ValidationFailed(wrong)
    lines = [{name: value for name, value in line.items() if name != "open_item_id"} for _, line in asked]
    try:
        priced = await req.part(PricedLines).compute(req, values["direction"], lines, values)
    except ValidationFailed as error:
        raise _name_places(error, [place for place, _ in asked]) from error
    if priced is None:
        raise invalid("lines", "invalid")
    return list(priced["lines"])


def _name_places(error: ValidationFailed, places: Sequence[int]) -> ValidationFailed:
    """Return the error for some of the lines of a body, naming the places that they have there."""
    found = [(one, _PLACE.match(one.field)) for one in error.errors]
    named = [
        one if at is None else FieldError(f"lines[{places[int(at[1])]}]{one.field[at.end() :]}", one.rule)
        for one, at in found
    ]
    return ValidationFailed(named, error.reason)


def credit(invoice: Invoice, asked: Sequence[Line] | None) -> tuple[list[Record], list[Record]]:
    """Return the lines of a credit note, and those of its invoice after it.

    Without `asked` lines all that is left of the invoice is credited. Raises 40001 for a line that the invoice has not, or
    that is named twice, and 40901 for more units than are left of one.
    """
    lines = [*(invoice["lines"] or ())]
    units = _choose_units(lines, asked)
    parts = _share_rest(invoice) if asked is None else {at: _part(lines[at], count) for at, count in units.items()}
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


def _share_rest(invoice: Invoice) -> dict[int, tuple[Decimal, Decimal]]:
    """Return what is left of an invoice by the place of its lines: also if amounts without lines were credited before."""
    rests: dict[int, tuple[Decimal, Decimal]] = {}
    for id in find_item_ids(invoice) if invoice["billed_items"] else [None]:
        theirs = [line["line"] - 1 for line in list_lines(invoice, id)]
        lines = [_count_rest((invoice["lines"] or [])[at]) for at in theirs]
        net, tax = count_left(get_share(invoice, id))
        nets, taxes = share_out(net, [one for one, _ in lines]), share_out(tax, [one for _, one in lines])
        rests |= dict(zip(theirs, zip(nets, taxes, strict=True), strict=True))
    return rests


def _count_rest(line: Line) -> tuple[Decimal, Decimal]:
    return count_left(
        {**line, **{name: line.get(name) for name in ("credited", "credited_tax")}, "amount": line["net"]}
    )


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
