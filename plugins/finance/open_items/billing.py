"""Invoices that bill a contract or an order: they claim what is owed for it, and no more.

What is paid of its open item pays them, the earliest first; their credit notes lower the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from plugins.api import CONFLICT, NOT_FOUND, ApiError, Request, Service, exact, store_money
from plugins.api.values import ReadOnlyRecord, RecordId, StoredAmount
from plugins.finance.invoices.records import INVOICES
from plugins.finance.messages import MORE_THAN_OPEN
from plugins.finance.open_items.paying import get_owed, settle_invoice
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.record_types import Invoice, OpenItem

_LIVE = {"status": {"$in": ["confirmed", "partly_paid", "paid"]}}
BILLING = {"status": {"$in": [*_LIVE["status"]["$in"], "credited"]}}
ZERO = Decimal(0)
_ROUNDING = Decimal("0.05")  # tax of each line, or of their sum: some cents apart


class ItemWithBills(OpenItem):
    """An open item with the ids of the invoices that bill it."""

    bills: list[ReadOnlyRecord]


def _lower(document: Decimal, invoiced: Decimal, credited: Decimal) -> Decimal:
    """Return what is owed for a document: credit notes of its invoices lower it.

    Goods that came back have lowered the document itself; the credit note for them only corrects the invoices.
    """
    return min(document, max(document, invoiced) - credited)


def _count_ahead(item: ReadOnlyRecord, undelivered: Decimal, invoiced: Decimal) -> Decimal:
    """Return how much of what is `invoiced` of an order is for goods that are still to come: it is owed already."""
    if not undelivered:
        return ZERO
    delivered = exact(item["net"]) + exact(item["tax"]) - undelivered
    return min(undelivered, max(invoiced - delivered, ZERO))


def sum_owed(item: ReadOnlyRecord, invoiced: Decimal, credited: Decimal) -> dict[str, Decimal]:
    """Return `amount` and `billed_ahead` of an item by the sums of its invoices."""
    ahead = _count_ahead(item, exact(item["undelivered"]), invoiced)
    return {"billed_ahead": ahead, "amount": _lower(get_document_amount(item) + ahead, invoiced, credited)}


def get_document_amount(item: ReadOnlyRecord) -> Decimal:
    """Return what the document of an item comes to by itself; earlier versions stored it as the amount."""
    return exact(item["amount"] if item["document_amount"] is None else item["document_amount"])


def sum_bills(item: ReadOnlyRecord, bills: Sequence[Invoice]) -> dict[str, StoredAmount]:
    """Return the values of an item that follow from the invoices that bill it."""
    invoiced, credited = (sum((exact(one[name]) for one in bills), ZERO) for name in ("total", "credited"))
    sums = {"document_amount": get_document_amount(item), "invoiced": invoiced, "credited": credited}
    return {name: store_money(value) for name, value in (sums | sum_owed(item, invoiced, credited)).items()}


def _list_open(item: ReadOnlyRecord, others: Sequence[Invoice]) -> Iterator[tuple[str, Decimal, Decimal]]:
    """Yield each field of an invoice that is limited, what is open of it, and by how much it may be more."""
    sums = {name: exact(value) for name, value in sum_bills(item, others).items()}
    whole = sums["document_amount"] + exact(item["undelivered"])
    owed = _lower(whole, sums["invoiced"], sums["credited"])
    yield "total", owed - sums["invoiced"] + sums["credited"], ZERO
    if item["tax"] is not None:
        tax = sum((exact(one["tax"]) - exact(one["credited_tax"]) for one in others), ZERO)
        yield "tax", exact(item["tax"]) - tax, _ROUNDING
        yield "amount", exact(item["net"]) - (sums["invoiced"] - sums["credited"] - tax), _ROUNDING


async def find_bills(service: Service, item_id: RecordId) -> list[Invoice]:
    """Return the confirmed invoices that bill an item, also those that are credited completely."""
    return await service.database.store(INVOICES).find({"open_item_id": item_id, **BILLING})


def refuse_excess(item: OpenItem, bills: Sequence[Invoice], invoice: Invoice) -> None:
    """Raise 40901 if an invoice that is confirmed claims more of an item than its other `bills` leave.

    The tax and the net are compared where the document says what they are.
    """
    amounts = {"total": exact(invoice["total"]), "tax": exact(invoice["tax"]), "amount": exact(invoice["amount"])}
    for field, left, allowed in _list_open(item, [one for one in bills if one["id"] != invoice["id"]]):
        if amounts[field] > left + allowed:
            shown = f"{max(left, ZERO):.2f}"
            data = {"open": shown, "field": "amount" if field == "total" else field}
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=shown), data=data)


async def get_with_bills(req: Request, id: RecordId) -> ItemWithBills:
    """Return an open item that the caller may see, with the ids of the invoices that bill it as `bills`.

    Call it in the transaction that changes the item. It reads both with one command, so that an invoice that is
    confirmed meanwhile conflicts with the transaction.
    """
    bills = {
        "from": INVOICES.name,
        "localField": "_id",
        "foreignField": "open_item_id",
        "pipeline": [{"$match": {"deleted": False, **_LIVE}}, {"$project": {"_id": 1}}],
        "as": "bills",
    }
    this, hidden = {"_id": OPEN_ITEMS.parse_id(id)}, list(OPEN_ITEMS.hidden)
    found = await req.store(OPEN_ITEMS).aggregate([{"$match": this}, {"$lookup": bills}, {"$unset": hidden}])
    if not found:
        raise ApiError(NOT_FOUND)
    item = dict(found[0])
    return cast(ItemWithBills, {**OPEN_ITEMS.blank, "id": item.pop("_id"), **item})


async def pay_billed(service: Service, item: Mapping[str, Any]) -> None:
    """Share what is paid of an item among the invoices that bill it, in the transaction that changes it."""
    invoices = service.database.store(INVOICES)
    left = max(exact(item["paid"]), Decimal(0))
    for invoice in await invoices.find({"open_item_id": item["id"], **_LIVE}, sort="day"):
        paid = min(left, get_owed(invoice))
        left -= paid
        if paid != exact(invoice["paid"]):
            await settle_invoice(invoices, invoice, {"paid": store_money(paid)})
