"""What an invoice claims of each open item that it bills: all of it of the only one, or a share of each of several.

The shares of an invoice, its `billed_items`, add up to its sums. What is paid, credited or adjusted of it is so for a share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from plugins.api import Record, Request, exact, invalid, store_money
from plugins.api.business import PaymentTerms, Rates, complete_currency, share_out
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.finance.entries import PARTY_FIELDS
from plugins.finance.record_types import CreditNote, Invoice, OpenItem

Line = Mapping[str, Any]
Parts = Mapping[RecordId, tuple[Decimal, Decimal]]  # net and tax by the id of the item
_ZERO = Decimal(0)
_CENTS = Decimal("0.05")  # a credit note rounds by the lines of its invoice, a return by those of its order
_COUNTED = ("paid", "credited", "credited_tax", "adjusted")


def find_item_ids(invoice: ReadOnlyRecord) -> list[RecordId]:
    """Return the ids of the open items that an invoice bills, always in the same order."""
    if invoice.get("open_item_id") is not None:
        return [invoice["open_item_id"]]
    return sorted(share["open_item_id"] for share in invoice.get("billed_items") or ())


def billing(ids: Sequence[RecordId]) -> Record:
    """Return the filter on invoices that bill any of these items."""
    those = {"$in": list(ids)}
    return {"$or": [{"open_item_id": those}, {"billed_items.open_item_id": those}]}


BILLS_NOTHING: Record = {"open_item_id": None, "billed_items": None}


async def choose_currency(
    req: Request, values: ReadOnlyRecord, items: Sequence[OpenItem], before: Invoice | None = None
) -> Record:
    """Return `currency` and `rate` of an invoice of this day: those of the items that it bills, unless it says which rate.

    `before` is the draft that is changed. Where items have different rates, it has that of the day. Raises 40001 for a
    currency that is not theirs, and as `complete_currency` does.
    """
    draft = before
    if items:
        agreed, asked = items[0]["currency"], req.body.get("currency")
        if asked not in (None, agreed or await req.part(Rates).find_base()):
            raise invalid("currency", "invalid")
        given = values.get("rate") if values.get("currency") == agreed else req.body.get("rate")
        rates = {exact(item["rate"]) for item in items}
        values = {**values, "currency": agreed, "rate": given or (items[0]["rate"] if len(rates) == 1 else None)}
        draft = before if len(rates) > 1 else None
    return await complete_currency(req, values, values["day"], draft=draft)


def get_share(invoice: Invoice, item_id: RecordId | None) -> Invoice:
    """Return an invoice with the sums of what it claims of this item; its own if it bills no other."""
    for share in invoice["billed_items"] or ():
        if share["open_item_id"] == item_id:
            return cast(Invoice, {**invoice, **share})
    return invoice


def list_lines(invoice: ReadOnlyRecord, item_id: RecordId | None) -> list[Record]:
    """Return the lines of an invoice that bill this item: all of them if it bills no other."""
    lines = invoice["lines"] or ()
    return [line for line in lines if not invoice.get("billed_items") or line["open_item_id"] == item_id]


def split(lines: Sequence[Line]) -> list[Record]:
    """Return the shares of a draft with these lines, each of which names its item."""
    sums: defaultdict[RecordId, list[Decimal]] = defaultdict(lambda: [_ZERO, _ZERO])
    for line in lines:
        of = sums[line["open_item_id"]]
        of[0] += exact(line["net"])
        of[1] += exact(line["tax"])
    zero = dict.fromkeys(_COUNTED, store_money(_ZERO))
    return [
        {
            "open_item_id": id,
            "amount": store_money(net),
            "tax": store_money(tax),
            "total": store_money(net + tax),
            **zero,
        }
        for id, (net, tax) in sums.items()
    ]


def add_settled(invoice: Invoice, item_id: RecordId, paid: Decimal, adjusted: Decimal) -> Record:
    """Return what changes in an invoice of which this much is paid and adjusted by what is paid of an item."""
    values = {"paid": store_money(paid), "adjusted": store_money(adjusted)}
    if not invoice["billed_items"]:
        return values
    shares = [share | values if share["open_item_id"] == item_id else share for share in _copy(invoice)]
    return {"billed_items": shares, **_sum(shares, ("paid", "adjusted"))}


def add_credited(invoice: Invoice, parts: Parts) -> Record:
    """Return what changes in an invoice of which these parts are credited, by item; below zero, less is."""
    net, tax = (sum((part[of] for part in parts.values()), _ZERO) for of in (0, 1))
    if not invoice["billed_items"]:
        return {
            "credited": store_money(exact(invoice["credited"]) + net + tax),
            "credited_tax": store_money(exact(invoice["credited_tax"]) + tax),
        }
    shares = _copy(invoice)
    for share in shares:
        net, tax = parts.get(share["open_item_id"], (_ZERO, _ZERO))
        share["credited"] = store_money(exact(share["credited"]) + net + tax)
        share["credited_tax"] = store_money(exact(share["credited_tax"]) + tax)
    return {"billed_items": shares, **_sum(shares, ("credited", "credited_tax"))}


def count_left(invoice: ReadOnlyRecord) -> tuple[Decimal, Decimal]:
    """Return how much net and tax of an invoice, or of a share of one, can still be credited."""
    tax = exact(invoice["credited_tax"])
    return exact(invoice["amount"]) - (exact(invoice["credited"]) - tax), exact(invoice["tax"]) - tax


def spread(invoice: Invoice, net: Decimal, tax: Decimal) -> Parts:
    """Return the parts of a credited amount without lines: in proportion to what is left of each share."""
    ids = find_item_ids(invoice) if invoice["billed_items"] else [None]
    left = [count_left(get_share(invoice, id)) for id in ids]
    nets = share_out(net, [one for one, _ in left])
    return dict(zip(ids, zip(nets, share_out(tax, [one for _, one in left]), strict=True), strict=True))


def sum_parts(invoice: Invoice, noted: Sequence[Line]) -> Parts:
    """Return the parts of the lines of a credit note, each of which names one of the invoice."""
    lines, sums = invoice["lines"] or [], defaultdict[RecordId, list[Decimal]](lambda: [_ZERO, _ZERO])
    for line in noted:
        of = sums[lines[line["line"] - 1].get("open_item_id")]
        of[0] += exact(line["net"])
        of[1] += exact(line["tax"])
    return {id: (net, tax) for id, (net, tax) in sums.items()}


def count_owed(document: Decimal, invoiced: Decimal, credited: Decimal, returned: Decimal) -> Decimal:
    """Return what is owed for a document: credit notes of its invoices lower it.

    Goods that came back have lowered the document itself; the credit note for them only corrects the invoices. `returned`
    is what is known to be credited for such goods; at least it is what invoices claim beyond the document.
    """
    return document - max(credited - max(invoiced - document, returned, _ZERO), _ZERO)


def count_ahead(item: ReadOnlyRecord, undelivered: Decimal, invoiced: Decimal) -> Decimal:
    """Return how much of what is `invoiced` of an order is for goods that are still to come: it is owed already."""
    if not undelivered:
        return _ZERO
    delivered = exact(item["net"]) + exact(item["tax"]) - undelivered
    return min(undelivered, max(invoiced - delivered, _ZERO))


def count_returned(
    notes: Sequence[CreditNote], bills: Sequence[Invoice], item_id: RecordId, returned: Decimal
) -> Decimal:
    """Return how much of the credit notes of an item is for goods that came back, of which there are `returned`.

    A note that does not say it is, if it credits goods and such goods are left that no earlier one is for.
    """
    reversed_ids = {note["reverses_id"] for note in notes}
    live = [note for note in notes if note["reverses_id"] is None and note["id"] not in reversed_ids]
    with_lines = {invoice["id"] for invoice in bills if invoice["lines"]}
    found = sum((_get_noted(note, item_id) for note in live if note.get("for_return")), _ZERO)
    for note in sorted(live, key=lambda note: note["id"]):
        rebate = note["lines"] is None and note["invoice_id"] in with_lines
        amount = _get_noted(note, item_id)
        if note.get("for_return") is None and not rebate and amount <= returned - found + _CENTS:
            found += amount
    return min(found, returned)


def _get_noted(note: CreditNote, item_id: RecordId) -> Decimal:
    """Return what a credit note credits of an item, with tax."""
    if not note["billed_items"]:
        return exact(note["total"])
    theirs = (share for share in note["billed_items"] if share["open_item_id"] == item_id)
    return sum((exact(share["amount"]) + exact(share["tax"]) for share in theirs), _ZERO)


def describe_billed(invoice: ReadOnlyRecord, items: Sequence[OpenItem]) -> Record:
    """Return the party and the due day that an invoice takes from the items that it bills; nothing if it bills none."""
    if not items:
        return {}
    party = {name: items[0].get(name) for name in PARTY_FIELDS if items[0].get(name)}
    due_on = min((item["due_on"] for item in items if item["due_on"]), default=None)
    return {**party, "due_on": invoice.get("due_on") or due_on}


def find_agreed(items: Sequence[OpenItem]) -> PaymentTerms:
    """Return the terms of the items that an invoice bills: those of the first that has some."""
    return next((terms for terms in map(PaymentTerms.of, items) if terms != PaymentTerms()), PaymentTerms())


def _copy(invoice: Invoice) -> list[Record]:
    return [{**share} for share in invoice["billed_items"] or ()]


def _sum(shares: Sequence[ReadOnlyRecord], names: Sequence[str]) -> Record:
    return {name: store_money(sum((exact(share[name]) for share in shares), _ZERO)) for name in names}
