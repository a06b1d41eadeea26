"""Prepayment invoices of orders, and the lines by which final invoices take them off.

A prepayment invoice claims a part of an order before its goods come, with the tax of each rate in it. A final invoice bills
the lines of the order, and has a line below zero for each line of a prepayment invoice that no other has taken off: the
invoices of an order add up to it, and the tax of a month is that of its lines. A prepayment is no payment: what is paid of
the order pays its invoices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Message, Record, Request, exact, invalid, store_money
from plugins.api.business import SERVICE, TAX_RATE_PLACES, BillableOrder, share_out
from plugins.api.values import ReadOnlyRecord, RecordId, share, store_quantity, times
from plugins.finance.bills import billing, find_item_ids, list_lines
from plugins.finance.messages import MORE_PREPAID, PREPAYMENT_TAKEN_OFF, PREPAYMENTS_CHANGED
from plugins.finance.open_items import LIVE
from plugins.finance.record_types import Invoice, OpenItem
from plugins.finance.records import FINAL, INVOICES, PREPAYMENT

Key = tuple[RecordId, int]  # a prepayment invoice, and the number of its line
_ZERO, _ONE = Decimal(0), Decimal(1)
_PREPAID, _TAKEN_OFF = (
    Message("预付款 {number}", "Prepayment of {number}"),
    Message("减：预付款发票 {number}", "Less prepayment invoice {number}"),
)
_OF_TAX = ("tax_id", "tax_rate")


@dataclass
class Prepaid:
    """What confirmed prepayment invoices of items ask for, less what final invoices have taken off; net and tax by line."""

    lines: dict[Key, tuple[ReadOnlyRecord, Mapping[str, Any]]] = field(default_factory=dict)
    left: defaultdict[Key, list[Decimal]] = field(default_factory=lambda: defaultdict(lambda: [_ZERO, _ZERO]))

    def add_lines(self, invoice: ReadOnlyRecord, lines: Sequence[Mapping[str, Any]]) -> None:
        """Add what these lines of a prepayment or final invoice ask for or take off, less their credit notes."""
        for line in lines:
            if invoice["kind"] == PREPAYMENT:
                key = (invoice["id"], line["line"])
                self.lines[key] = (invoice, line)
                self._add(key, line)
            elif line.get("prepayment_id") is not None:
                self._add((line["prepayment_id"], line["prepayment_line"]), line)

    def _add(self, key: Key, line: Mapping[str, Any]) -> None:
        credited, tax = exact(line.get("credited")), exact(line.get("credited_tax"))
        self.left[key][0] += exact(line["net"]) - (credited - tax)
        self.left[key][1] += exact(line["tax"]) - tax


async def find_prepaid(req: Request, item_id: RecordId, except_id: RecordId | None = None) -> Prepaid:
    """Return what is prepaid by invoice of an item, and not taken off by final invoices but the one of `except_id`."""
    known = {"kind": {"$in": [PREPAYMENT, FINAL]}, "_id": {"$ne": except_id}, **LIVE}
    found, prepaid = await req.system_store(INVOICES).find({**billing([item_id]), **known}, sort="day"), Prepaid()
    for invoice in found:
        prepaid.add_lines(invoice, list_lines(invoice, item_id))
    return prepaid


def ask_for(req: Request, item: OpenItem, order: BillableOrder, values: ReadOnlyRecord) -> list[Record]:
    """Return the lines of a prepayment invoice of an order, one for each of its taxes.

    They come to the `prepayment_rate` of the order, to the cent, or else to its net `amount`.
    """
    groups: defaultdict[tuple[Any, Decimal], list[Decimal]] = defaultdict(lambda: [_ZERO, _ZERO])
    for line in order.lines:
        of = groups[line.get("tax_id"), exact(line.get("tax_rate"))]
        of[0] += exact(line["net"])
        of[1] += exact(line["tax"])
    sums = [of for of in groups.values() if sum(of)]
    if not sums:
        raise invalid("kind", "invalid")
    rate, wholes = values.get("prepayment_rate"), [net + tax for net, tax in sums]
    if rate is not None:
        parts = share_out(times(exact(rate), sum(wholes, _ZERO)), wholes)
        taxes = [share(tax, part, whole) for (_, tax), part, whole in zip(sums, parts, wholes, strict=True)]
        nets = [part - tax for part, tax in zip(parts, taxes, strict=True)]
    else:
        nets = share_out(exact(values["amount"]), [net for net, _ in sums])
        taxes = [share(tax, part, net) for part, (net, tax) in zip(nets, sums, strict=True)]
    words = _PREPAID.filled(number=item["number"] or "").text(req.language)
    keys = [key for key, of in groups.items() if sum(of)]
    return [
        _make_line(words, net, tax, {"tax_id": id, "tax_rate": store_quantity(rate, TAX_RATE_PLACES)})
        for (id, rate), net, tax in zip(keys, nets, taxes, strict=True)
        if net or tax
    ]


def _make_line(words: str, net: Decimal, tax: Decimal, further: Mapping[str, Any]) -> Record:
    """Return a line for an amount without goods; below zero it is one of minus one unit."""
    price, count = store_money(abs(net)), _ONE if net + tax >= 0 else -_ONE
    return {
        "kind": SERVICE,
        "description": words,
        "quantity": store_quantity(count),
        "price": price,
        "unit_price": price,
        "tax_included": False,
        "net": store_money(net),
        "tax": store_money(tax),
        "amount": store_money(net + tax),
        **further,
    }


async def take_off(req: Request, item: OpenItem, billed: Sequence[ReadOnlyRecord], except_id: Any) -> list[Record]:
    """Return the lines of a final invoice for all that is prepaid of an item, of which it bills these lines.

    Raises 40901 if that is more than they come to.
    """
    prepaid, lines = await find_prepaid(req, item["id"], except_id), []
    for key, (invoice, line) in prepaid.lines.items():
        net, tax = prepaid.left[key]
        if net > 0 or tax > 0:
            words = _TAKEN_OFF.filled(number=invoice["number"] or "").text(req.language)
            further = {name: line.get(name) for name in _OF_TAX}
            further |= {"prepayment_id": invoice["id"], "prepayment_line": line["line"]}
            lines.append(_make_line(words, -net, -tax, further))
    for name in ("net", "tax"):
        whole = sum((exact(line[name]) for line in billed), _ZERO)
        if whole + sum((exact(line[name]) for line in lines), _ZERO) < 0:
            data = {"open": f"{whole:.2f}", "field": "lines"}
            raise ApiError(CONFLICT, MORE_PREPAID.filled(open=data["open"]), data=data)
    return lines


async def check_prepaid(req: Request, invoice: Invoice, *, confirms: bool = False) -> None:
    """Check prepayment and final invoices after one of them has changed, in the transaction that has locked their items.

    Raises 40901 if a final invoice takes off more than is prepaid, or, just confirmed (`confirms`), not all of it.
    """
    if invoice["kind"] not in (PREPAYMENT, FINAL):
        return
    for id in find_item_ids(invoice):
        left = [amount for of in (await find_prepaid(req, id)).left.values() for amount in of]
        if min(left, default=_ZERO) < 0 or (confirms and invoice["kind"] == FINAL and any(left)):
            raise ApiError(CONFLICT, PREPAYMENTS_CHANGED if confirms else PREPAYMENT_TAKEN_OFF)
