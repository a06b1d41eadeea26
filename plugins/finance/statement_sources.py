"""What the lines of a statement are of: the invoices, and the payment, credit note or adjustment that made the change.

Entries say only of which item they are. What changed it on a day is shared among its entries of that day in the order in which it was
entered, and the invoices that bill it among what is owed, and among what is paid, in the order of their days, as `pay_billed`
shares payments. Only documents until the last day count, so that the statement of a closed month stays as it was.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from plugins.api import Field, Record, Request, exact, text
from plugins.finance.bills import billing, find_item_ids, get_share
from plugins.finance.entries import ADVANCE, ENTRIES, OWED, PAID, RESCHEDULED
from plugins.finance.open_items import BILLING, INVOICE
from plugins.finance.payment_records import ADJUSTMENTS, PAYMENTS
from plugins.finance.record_types import FinancePayment, Invoice
from plugins.finance.records import CREDIT_NOTES, INVOICES

SOURCES: Mapping[str, Field] = {
    "invoice_numbers": text(
        label=("发票号码", "Invoice"),
        max_length=1000,
        read_only=True,
        description="The invoices for which this is owed or paid, those of several separated by commas; null: not invoiced.",
    ),
    "reference": text(
        label=("凭据", "Reference"),
        max_length=1000,
        read_only=True,
        description="The number of the payment and the reference of the bank, or the number of the credit note or adjustment.",
    ),
}
_ZERO = Decimal(0)
_READ = ("open_item_id", "day", "kind", "amount", "currency_amount")
_PAYMENT = ("number", "reference", "allocations", "taken_back", "reversed_on")
_NOTE = ("number", "day", "invoice_id", "total", "billed_items")
_ADJUSTMENT = ("number", "day", "kind", "open_item_id", "amount")


class _Part(NamedTuple):
    """What a document has of an amount: its number, and of a credit note that of its invoice."""

    amount: Decimal
    number: str
    invoice: str = ""


class _Billed(NamedTuple):
    """An invoice of an item: what it claims, and what of that credit notes left."""

    number: str
    total: Decimal
    left: Decimal


Causes = Mapping[tuple[Any, str, str, bool], list[_Part]]  # by item, day, kind of entry, and whether more is open


async def name_sources(req: Request, rows: Sequence[Mapping[str, Any]], until: str) -> dict[Any, Record]:
    """Return the `SOURCES` of these entries by their ids; `until` is the last day of the statement."""
    ids = list({row["open_item_id"] for row in rows if row["open_item_id"] is not None})
    shown = {"open_item_id": {"$in": ids}, "day": {"$lte": until}, "kind": {"$ne": RESCHEDULED}}
    entries, (bills, causes), advances = await asyncio.gather(
        req.system_store(ENTRIES).find(shown, sort="day,id", fields=_READ),
        _find(req, rows, ids, until),
        _find_advances(req, rows),
    )
    of_item = defaultdict[Any, list[Mapping[str, Any]]](list)
    for entry in entries:
        of_item[entry["open_item_id"]].append(entry)
    found = {id: named for item, theirs in of_item.items() for id, named in _name(theirs, bills.get(item, []), causes)}
    found |= advances
    own = {row["id"]: {"invoice_numbers": row["number"]} for row in rows if row["biz_type"] == INVOICE}
    nothing: Record = dict.fromkeys(SOURCES)
    return {row["id"]: nothing | found.get(row["id"], {}) | own.get(row["id"], {}) for row in rows}


async def find_unpaid(req: Request, items: Sequence[Mapping[str, Any]]) -> dict[Any, str | None]:
    """Return the numbers of the invoices of each of these items that are not paid, by its `open_item_id`."""
    found: dict[Any, dict[str, None]] = {
        one["open_item_id"]: {one["number"]: None} if one["biz_type"] == INVOICE else {} for one in items
    }
    for invoice in await req.system_store(INVOICES).find({**billing([*found]), **BILLING}, sort="day,id"):
        for id in (one for one in find_item_ids(invoice) if one in found):
            share = get_share(invoice, id)
            if exact(share["total"]) > sum(exact(share[name]) for name in ("paid", "credited", "adjusted")):
                found[id][invoice["number"] or ""] = None
    return {id: _join(numbers) for id, numbers in found.items()}


def _name(
    entries: Sequence[Mapping[str, Any]], bills: Sequence[_Billed], causes: Causes
) -> Iterator[tuple[Any, Record]]:
    """Yield the sources of the entries of an item, which are in their order."""
    owed = [_Part(one.total, one.number) for one in bills]
    left = [_Part(one.left, one.number) for one in bills]
    so_far, taken = {True: _ZERO, False: _ZERO}, defaultdict[Any, Decimal](Decimal)
    for entry in entries:
        amount = exact(entry["amount"] if entry["currency_amount"] is None else entry["currency_amount"])
        key = (entry["open_item_id"], entry["day"], entry["kind"], amount > 0)
        made = [*_cut(causes.get(key, ()), taken[key], abs(amount))]
        taken[key] += abs(amount)
        invoices = [one.invoice for one in made if one.invoice]
        if not invoices:
            claims = entry["kind"] == OWED
            change = amount if claims else -amount
            invoices = [
                one.number for one in _cut(owed if claims else left, so_far[claims] + min(change, _ZERO), abs(change))
            ]
            so_far[claims] += change
        numbers = dict.fromkeys(one.number for one in made)
        yield entry["id"], {"invoice_numbers": _join(dict.fromkeys(invoices)), "reference": _join(numbers)}


def _cut(parts: Sequence[_Part], start: Decimal, amount: Decimal) -> Iterator[_Part]:
    """Yield those of the parts, put end to end, that this much from `start` on touches."""
    at = _ZERO
    for part in parts:
        if at < start + amount and at + part.amount > start:
            yield part
        at += part.amount


def _join(numbers: Mapping[str, None]) -> str | None:
    return ", ".join(numbers) or None


async def _find(
    req: Request, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any], until: str
) -> tuple[Mapping[Any, list[_Billed]], Causes]:
    """Return the invoices of these items, and what changed what is open of them, each in its order."""
    own = {row["resource_id"]: row["open_item_id"] for row in rows if row["biz_type"] == INVOICE}
    of_items = {"$or": [*billing(ids)["$or"], {"_id": {"$in": [INVOICES.parse_id(id) for id in own]}}]}
    those, by = {"open_item_id": {"$in": ids}}, {"day": {"$lte": until}}
    invoices, payments, adjustments = await asyncio.gather(
        req.system_store(INVOICES).find({**of_items, **BILLING, **by}, sort="day,id"),
        req.system_store(PAYMENTS).find(
            {"$or": [{f"{name}.open_item_id": {"$in": ids}} for name in ("allocations", "taken_back")]},
            sort="day,id",
            fields=_PAYMENT,
        ),
        req.system_store(ADJUSTMENTS).find(those, sort="id", fields=_ADJUSTMENT),
    )
    known = {one["id"]: one for one in invoices}
    notes = await req.system_store(CREDIT_NOTES).find({"invoice_id": {"$in": [*known]}, **by}, sort="id", fields=_NOTE)
    causes = defaultdict[tuple[Any, str, str, bool], list[_Part]](list)
    credited = defaultdict[tuple[Any, Any], Decimal](Decimal)
    for payment in payments:
        for item, day, more, amount in _list_settled(payment):
            causes[item, day, PAID, more].append(_Part(amount, _describe(payment)))
    for made in adjustments:
        amount = exact(made["amount"])
        causes[made["open_item_id"], made["day"], made["kind"], amount < 0].append(_Part(abs(amount), made["number"]))
    for note in notes:
        invoice = known[note["invoice_id"]]
        shares = {
            share["open_item_id"]: exact(share["amount"]) + exact(share["tax"]) for share in note["billed_items"] or ()
        }
        for item in _items_of(invoice, own):
            amount = shares.get(item, _ZERO) if shares else exact(note["total"])
            credited[invoice["id"], item] += amount
            part = _Part(abs(amount), note["number"], invoice["number"] or "")
            causes[item, note["day"], OWED, amount < 0].append(part)
    bills = defaultdict[Any, list[_Billed]](list)
    for invoice in invoices:
        for item in _items_of(invoice, own):
            total = exact(get_share(invoice, item)["total"])
            bills[item].append(_Billed(invoice["number"] or "", total, total - credited[invoice["id"], item]))
    return bills, causes


def _items_of(invoice: Invoice, own: Mapping[str, Any]) -> Sequence[Any]:
    """Return the items that an invoice bills, or its own."""
    return find_item_ids(invoice) or [own[id] for id in (str(invoice["id"]),) if id in own]


def _list_settled(payment: FinancePayment) -> Iterator[tuple[Any, str, bool, Decimal]]:
    """Yield what a payment settled: the item, the day, whether it was taken back then, and the amount."""
    taken_back = payment["taken_back"] or ()
    for row in (*(payment["allocations"] or ()), *taken_back):
        yield row["open_item_id"], row["day"] or "", False, exact(row["amount"])
    for gone in taken_back:
        yield gone["open_item_id"], gone["taken_back_on"] or "", True, exact(gone["amount"])
    for row in payment["allocations"] or () if payment["reversed_on"] else ():
        yield row["open_item_id"], payment["reversed_on"] or "", True, exact(row["amount"])


def _describe(payment: FinancePayment) -> str:
    return " ".join(filter(None, (payment["number"], payment["reference"])))


async def _find_advances(req: Request, rows: Sequence[Mapping[str, Any]]) -> dict[Any, Record]:
    """Return the sources of the entries of advances: the payment of each."""
    of = {row["id"]: PAYMENTS.parse_id(row["resource_id"]) for row in rows if row["kind"] == ADVANCE}
    found = await req.system_store(PAYMENTS).find({"_id": {"$in": [*of.values()]}}, fields=("reference",)) if of else []
    told = {payment["id"]: payment["reference"] for payment in found}  # `number` is that of the payment
    return {id: {"invoice_numbers": None, "reference": told.get(payment)} for id, payment in of.items()}
