"""Receivables and payables: what is owed for contracts, orders and invoices, and how much of it is paid.

A business plugin emits `finance.receivable.changed` or `finance.payable.changed` in the transaction that changes what
is owed. If the payload has `paid`, payments are entered in that plugin; otherwise they are booked here, as vouchers.
Invoices that bill a contract or an order claim what is owed for it, and no more. What is paid of its open item pays
them, the earliest first; their credit notes lower the item.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    Actor,
    ApiError,
    Handler,
    Page,
    Record,
    Request,
    Route,
    Service,
    Step,
    Store,
    day_of,
    exact,
    invalid,
    route,
    store_money,
    utc_now,
)
from plugins.api.business import PaymentTerms, schedule_of
from plugins.api.records import Announced, change_state
from plugins.api.values import ReadOnlyRecord, RecordId, StoredAmount
from plugins.finance.bills import (
    add_settled,
    billing,
    count_ahead,
    count_owed,
    count_returned,
    find_item_ids,
    get_share,
    list_lines,
)
from plugins.finance.books import book_in_transaction, find_open_day, get_day
from plugins.finance.entries import enter_change, follow_amounts
from plugins.finance.messages import MORE_THAN_OPEN
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import ExpenseClaim, Invoice, OpenItem, Voucher
from plugins.finance.records import CREDIT_NOTES, INVOICES, MOST_ITEMS
from plugins.finance.states import PLANNED

# the action that leads an invoice to each state when what is owed or paid changes; `_OF_UNPAID` if it is `confirmed`
_ACTIONS = {"confirmed": "unpay", "partly_paid": "unpay-part", "paid": "settle", "credited": "credit"}
_OF_UNPAID = {**_ACTIONS, "partly_paid": "pay-part", "paid": "pay"}


@dataclass(frozen=True)
class ItemBefore:
    """The open item that an action pays, as it was before."""

    item: OpenItem


@dataclass(frozen=True)
class PaymentVoucher(Announced):
    """The voucher of the payment that an action enters."""

    voucher: Voucher


async def in_books(req: Request, work: Callable[[], Awaitable[Record]]) -> Record:
    """Run `work`, which books a voucher dated the `day` of the body or today, in one transaction."""
    return await book_in_transaction(req, get_day(req), work)


@dataclass(frozen=True)
class PaidAmount:
    """What an action pays, in the currency of the item."""

    amount: Decimal


def get_amount(step: Step[Any], unpaid: Decimal) -> Decimal:
    """Return the amount to pay: that of the body, or all that is open. Raises 40901 if it is more than is open."""
    amount = exact(step.body["amount"]) if step.body.get("amount") is not None else unpaid
    if amount > unpaid:
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=unpaid), data={"open": f"{unpaid:.2f}"})
    return amount


def add_payment(step: Step[Any]) -> Decimal:
    """Return how much of the record is paid, including the payment of the step."""
    return exact(step.record["paid"]) + step.kept[PaidAmount].amount


def get_owed(invoice: ReadOnlyRecord) -> Decimal:
    """Return what is owed for an invoice, whether paid or not: its total less its credit notes and adjustments."""
    return exact(invoice["total"]) - exact(invoice["credited"]) - exact(invoice.get("adjusted"))


async def settle_invoice(invoices: Store[Invoice], invoice: Invoice, values: Record) -> Invoice:
    """Change the paid, credited or adjusted amount of an invoice, and its state, which follows from them."""
    after = {**invoice, **values}
    owed, paid = get_owed(after), exact(after["paid"])
    settled = paid or exact(after["adjusted"])
    state = "paid" if settled and paid >= owed else "partly_paid" if paid else "confirmed" if owed else "credited"
    if state == invoice["status"]:
        return await invoices.update(invoice["id"], values, version=invoice["version"])
    action = (_OF_UNPAID if invoice["status"] == "confirmed" else _ACTIONS)[state]
    return await change_state(invoices, invoice["id"], action, values, version=invoice["version"])


LIVE = {"status": {"$in": ["confirmed", "partly_paid", "paid"]}}
BILLING = {"status": {"$in": [*LIVE["status"]["$in"], "credited"]}}
ZERO = Decimal(0)
_ROUNDING = Decimal("0.05")  # tax of each line, or of their sum: some cents apart


class ItemWithBills(OpenItem):
    """An open item with the ids of the invoices that bill it."""

    bills: list[ReadOnlyRecord]


def sum_owed(item: ReadOnlyRecord, invoiced: Decimal, credited: Decimal) -> dict[str, Decimal]:
    """Return `amount` and `billed_ahead` of an item by the sums of its invoices."""
    ahead = count_ahead(item, exact(item["undelivered"]), invoiced)
    owed = count_owed(get_document_amount(item) + ahead, invoiced, credited, exact(item.get("credited_returns")))
    # goods that came back, or a void invoice, may have left less than was adjusted
    adjusted = max(min(exact(item.get("adjusted")), owed), ZERO)
    return {"billed_ahead": ahead, "amount": owed - adjusted}


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
    # what is credited line by line can be billed again
    again = sum((exact(line.get("credited")) for one in others for line in list_lines(one, item["id"])), ZERO)
    invoiced, credited = sums["invoiced"] - again, sums["credited"] - again
    returned = max(exact(item.get("credited_returns")) - again, ZERO)
    yield "total", count_owed(whole, invoiced, credited, returned) - invoiced + credited, ZERO
    if item["tax"] is not None:
        tax = sum((exact(one["tax"]) - exact(one["credited_tax"]) for one in others), ZERO)
        yield "tax", exact(item["tax"]) - tax, _ROUNDING
        yield "amount", exact(item["net"]) - (sums["invoiced"] - sums["credited"] - tax), _ROUNDING


async def find_bills(service: Service, item_id: RecordId) -> list[Invoice]:
    """Return the confirmed invoices that bill an item, also those that are credited completely.

    Of an invoice that bills several items, the sums are those of its share in this one.
    """
    found = await service.database.store(INVOICES).find({**billing([item_id]), **BILLING})
    return [get_share(invoice, item_id) for invoice in found]


async def count_credited_returns(
    service: Service, item: ReadOnlyRecord, bills: Sequence[Invoice] | None = None
) -> StoredAmount:
    """Return how much of the credit notes on the invoices of an item is for goods that came back."""
    returned = exact(item.get("returned"))
    if not returned or not (bills or exact(item.get("credited"))):
        return store_money(ZERO)
    bills = await find_bills(service, item["id"]) if bills is None else bills
    ids = [one["id"] for one in bills if exact(one["credited"])]
    notes = await service.database.store(CREDIT_NOTES).find({"invoice_id": {"$in": ids}}) if ids else []
    return store_money(count_returned(notes, bills, item["id"], returned))


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


def get_whole(item: ReadOnlyRecord) -> Decimal:
    """Return the most that invoices may claim of an item: all of its order, whether shipped or not, or its document."""
    return get_document_amount(item) if item["net"] is None else exact(item["net"]) + exact(item["tax"])


async def refuse_claims(req: Request, items: Sequence[OpenItem]) -> None:
    """Raise 40901 if the invoices of an item claim more than all of it, such as after the reversal of a credit note."""
    for item in items:
        bills = await find_bills(req.service, item["id"])
        claimed = sum((exact(one["total"]) - exact(one["credited"]) for one in bills), ZERO)
        if claimed > get_whole(item):
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open="0.00"), data={"open": "0.00"})


async def get_with_bills(req: Request, id: RecordId) -> ItemWithBills:
    """Return an open item that the caller may see, with the ids of the invoices that bill it as `bills`.

    Call it in the transaction that changes the item. It reads both with one command, so that an invoice that is
    confirmed meanwhile conflicts with the transaction.
    """
    live = [{"$match": {"deleted": False, **LIVE}}, {"$project": {"_id": 1}}]
    of_one: Record = {"from": INVOICES.name, "localField": "_id", "foreignField": "open_item_id", "pipeline": live}
    of_several = {**of_one, "foreignField": "billed_items.open_item_id"}
    this, hidden = {"_id": OPEN_ITEMS.parse_id(id)}, [*OPEN_ITEMS.hidden, "shared"]
    found = await req.store(OPEN_ITEMS).aggregate(
        [
            {"$match": this},
            {"$lookup": {**of_one, "as": "bills"}},
            {"$lookup": {**of_several, "as": "shared"}},
            {"$set": {"bills": {"$concatArrays": ["$bills", "$shared"]}}},
            {"$unset": hidden},
        ]
    )
    if not found:
        raise ApiError(NOT_FOUND)
    item = dict(found[0])
    return cast(ItemWithBills, {**OPEN_ITEMS.blank, "id": item.pop("_id"), **item})


async def pay_billed(service: Service, item: Mapping[str, Any]) -> None:
    """Share what is paid of an item among the invoices that bill it, in the transaction that changes it."""
    invoices = service.database.store(INVOICES)
    left, adjusted = max(exact(item["paid"]), ZERO), exact(item["adjusted"])
    for invoice in await invoices.find({**billing([item["id"]]), **LIVE}, sort="day"):
        share = get_share(invoice, item["id"])
        whole = exact(share["total"]) - exact(share["credited"])
        paid = min(left, whole)
        off = min(adjusted, whole - paid)
        left, adjusted = left - paid, adjusted - off
        if (paid, off) != (exact(share["paid"]), exact(share["adjusted"])):
            await settle_invoice(invoices, invoice, add_settled(invoice, item["id"], paid, off))


UNPAID = {"status": {"$in": ["open", "partly_paid"]}}
INVOICE, CLAIM, OPENING = "INVOICE", "EXPENSE", "OPENING"
_OFFER = ("discount_until", "discount_amount")
_COPIED_FROM_EVENT = (
    *(
        "number",
        "counterparty",
        "customer_id",
        "supplier_id",
        "net",
        "tax",
        "undelivered",
        "returned",
        "due_on",
        "schedule",
    ),
    *("currency", "rate"),
)


async def update_from_event(direction: str, service: Service, payload: Mapping[str, Any]) -> None:
    """Create or update the item of a business record from the payload. An item with an amount of zero is `void`."""
    # whoever may see the business record may see the item
    owner = Actor(user_id=payload["creator_id"], department_id=payload["creator_department_id"])
    paid = payload.get("paid")
    values = {
        **{name: payload.get(name) for name in _COPIED_FROM_EVENT},
        **vars(PaymentTerms.of(payload)),
        "document_amount": payload["amount"],
        "direction": direction,
        "biz_type": payload["biz_type"],
        "resource_id": str(payload["resource_id"]),
        "paid_elsewhere": paid is not None,
        **({"paid": paid} if paid is not None else {}),
    }
    today = day_of(utc_now(), service.settings.zone).isoformat()
    store = service.database.store(OPEN_ITEMS, owner)
    item = await _put(service, store, values, payload.get("day") or today, new=bool(payload.get("new")))
    if paid is not None:
        await pay_billed(service, item)


async def update_from_invoice(req: Request, invoice: Invoice, day: str, item: OpenItem | None = None) -> None:
    """Create or update the open item of an invoice, in the transaction that changes the invoice on `day`.

    `item`: the open item, if it has been read already. An invoice that bills another item has none of its own: what is
    paid of that item pays the invoice.
    """
    if find_item_ids(invoice):
        await update_billed(req, invoice, day)
        return
    await put_invoice(req.service, invoice, day, item, req.now)


async def put_invoice(
    service: Service, invoice: Invoice, day: str, item: OpenItem | None = None, now: datetime | None = None
) -> None:
    """Create or update the open item of an invoice that bills no other item; the change is dated `day`."""
    # the item belongs to the creator of the invoice, who need not be the one who pays
    owner = Actor(user_id=invoice["creator_id"], department_id=invoice["creator_department_id"])
    await _put(
        service,
        service.database.store(OPEN_ITEMS, owner, now=now),
        {
            "direction": invoice["direction"],
            "biz_type": INVOICE,
            "resource_id": str(invoice["id"]),
            "number": invoice["number"],
            "counterparty": invoice["counterparty"],
            "customer_id": invoice["customer_id"],
            "supplier_id": invoice["supplier_id"],
            "currency": invoice["currency"],
            "rate": invoice["rate"],
            "due_on": invoice["due_on"],
            "schedule": _schedule(invoice),
            **vars(PaymentTerms.of(invoice)),
            **{name: invoice.get(name) for name in _OFFER},
            "amount": store_money(get_owed(invoice) if invoice["status"] != "void" else Decimal(0)),
            "paid": invoice["paid"],
            "paid_elsewhere": True,
        },
        day,
        item,
    )


def _schedule(invoice: Invoice) -> list[Record] | None:
    """Return the parts in which an invoice is due; None where somebody set its due day, or it is due on one."""
    total = exact(invoice["total"])
    due = PaymentTerms.of(invoice).split(invoice["day"], total) if invoice["day"] is not None else {}
    return schedule_of(due) if max(due, default=None) == invoice["due_on"] else None


def _find_discount(bills: Sequence[Invoice]) -> Record:
    """Return the cash discount of an item: what the last invoice that bills it and offers one, offers for it."""
    offers = [
        one for one in bills if one["discount_until"] is not None and exact(one["total"]) > exact(one["credited"])
    ]
    if not offers:
        return dict.fromkeys(_OFFER)
    last = max(offers, key=lambda one: one["day"] or "")
    return PaymentTerms.of(last).count_discount(last["day"], exact(last["total"]), last["due_on"])


async def lock_billed(req: Request, invoice: Invoice) -> list[OpenItem]:
    """Return the open items that an invoice bills, after every transaction that changes them."""
    store, items = req.system_store(OPEN_ITEMS), []
    for id in find_item_ids(invoice):
        # written and not only read, so that it conflicts with a concurrent payment of the item
        billed = await store.update_unversioned({"_id": id}, {"$inc": {"billings": 1}})
        if billed is None:
            raise ApiError(NOT_FOUND)
        items.append(billed)
    return items


async def update_billed(
    req: Request, invoice: Invoice, day: str, items: Sequence[OpenItem] | None = None, *, confirms: bool = False
) -> None:
    """Update the open items that an invoice bills, and what is paid of their invoices; `items`: they are locked already.

    Raises 40901 for an invoice that is just confirmed (`confirms`) and claims more than is open.
    """
    for item in items or await lock_billed(req, invoice):
        bills = await find_bills(req.service, item["id"])
        if confirms:
            refuse_excess(item, bills, get_share(invoice, item["id"]))
        await pay_billed(req.service, await count_bills(req.service, item, bills, day))


async def count_bills(service: Service, item: OpenItem, bills: Sequence[Invoice], day: str) -> OpenItem:
    """Write into an item what the invoices that bill it claim, and enter on `day` by how much that changes the debt."""
    for_returns = {"credited_returns": await count_credited_returns(service, item, bills)}
    values: Record = {**for_returns, **sum_bills({**item, **for_returns}, bills), **_find_discount(bills)}
    if exact(item["undelivered"]) and not exact(values["document_amount"]):
        values["due_on"] = min((one["due_on"] for one in bills if one["due_on"]), default=None)
    values |= await _date(service, item, {**item, **values}, day)
    values |= follow_amounts({**item, **values})
    changes = _find_changes(item, values)
    if not changes:
        return item
    changed = await service.database.store(OPEN_ITEMS).update(item["id"], changes)
    await enter_change(service, item, changed, day)
    return changed


async def update_from_claim(service: Service, claim: ExpenseClaim, day: str) -> OpenItem:
    """Create or update the item of an approved expense claim, and return it. Nothing is owed for a reversed claim."""
    owner = Actor(user_id=claim["creator_id"], department_id=claim["creator_department_id"])
    return await _put(
        service,
        service.database.store(OPEN_ITEMS, owner),
        {
            "direction": "in",
            "biz_type": CLAIM,
            "resource_id": str(claim["id"]),
            "number": claim["number"],
            "amount": claim["amount"] if claim["status"] != "reversed" else store_money(Decimal(0)),
            "paid": claim["amount"] if claim["status"] == "paid" else store_money(Decimal(0)),
            "paid_elsewhere": True,
        },
        day,
    )


async def add_paid(req: Request, item: Mapping[str, Any], amount: Decimal, day: str) -> OpenItem:
    """Add `amount` to what is paid of an item, in the transaction that has read the item."""
    paid = exact(item["paid"]) + amount
    values = {
        "paid": store_money(paid),
        "status": get_status({**item, "paid": paid}, planned=False),
    }
    values |= follow_amounts({**item, **values})
    changed = await req.system_store(OPEN_ITEMS).update(item["id"], values, version=item["version"])
    await enter_change(req.service, item, changed, day)
    await pay_billed(req.service, changed)
    return changed


async def add_adjustment(req: Request, item: OpenItem, amount: Decimal, day: str, kind: str) -> None:
    """Lower what is owed of an item by `amount` on `day`, in the transaction that has read and locked the item."""
    values: Record = {"adjusted": store_money(exact(item["adjusted"]) + amount)}
    if item["biz_type"] == INVOICE:
        invoices = req.system_store(INVOICES)
        invoice = await invoices.get(item["resource_id"])
        values["amount"] = store_money(get_owed(await settle_invoice(invoices, invoice, values)))
    else:
        values["document_amount"] = store_money(get_document_amount(item))
        owed = sum_owed({**item, **values}, exact(item["invoiced"]), exact(item["credited"]))
        values["amount"] = store_money(owed["amount"])
    values["status"] = get_status({**item, **values}, planned=False)
    values |= follow_amounts({**item, **values})
    changed = await req.system_store(OPEN_ITEMS).update(item["id"], values, version=item["version"])
    await enter_change(req.service, item, changed, day, kind)
    await pay_billed(req.service, changed)


async def reopen_payment(_: Service, payload: Mapping[str, Any]) -> None:
    """Take the amount of a reversed voucher off its payable, unless the voucher belongs to a payment document."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["open_item_id"] and voucher["payment_id"] is None:
        item = await req.system_store(OPEN_ITEMS).get(voucher["open_item_id"])
        await add_paid(req, item, -exact(voucher["amount"]), payload["reversal"]["day"])


async def find_item(req: Request, biz_type: str, resource_id: Any) -> OpenItem | None:
    """Return the item of a business record, or None."""
    return await req.system_store(OPEN_ITEMS).find_one({"biz_type": biz_type, "resource_id": str(resource_id)})


async def find_billed(req: Request, invoice: ReadOnlyRecord) -> list[OpenItem]:
    """Return the items that an invoice bills: that of `open_item_id`, or those of `open_item_ids` and of its lines.

    Raises 40001 if one is missing, has the other direction or is of an invoice, here or in older books, and for items of
    different parties or currencies.
    """
    named = _name_items(invoice)
    if len(named) > MOST_ITEMS:
        raise invalid("lines", "maxItems")
    # what is invoiced already cannot be billed
    invoiced = {"biz_type": {"$nin": [INVOICE, OPENING]}}
    billed = {"_id": {"$in": list(named)}, "direction": invoice["direction"], **invoiced}
    found = {item["id"]: item for item in await req.system_store(OPEN_ITEMS).find(billed)} if named else {}
    items = []
    for id, field in named.items():
        item = found.get(id)
        if item is None:
            raise invalid(field, "reference")
        for name in ("customer_id", "supplier_id"):
            if invoice.get(name) not in (None, item.get(name)):
                raise invalid(name, "invalid")
        items.append(item)
        if _find_party(item) != _find_party(items[0]):
            raise invalid(field, "invalid")
    return items


def _find_party(item: ReadOnlyRecord) -> tuple[Any, ...]:
    """Return whose item it is, a customer or supplier, or without one a name, and in which currency it is."""
    ids = (item["customer_id"], item["supplier_id"])
    return (*ids, item["counterparty"] if not any(ids) else None, item["currency"])


def _name_items(invoice: ReadOnlyRecord) -> dict[RecordId, str]:
    """Return the ids of the items that an invoice bills, each with the field that names it. Raises 40001."""
    only = invoice.get("open_item_id")
    named = {id: f"open_item_ids[{place}]" for place, id in enumerate(invoice.get("open_item_ids") or ())}
    of_lines = enumerate(line.get("open_item_id") for line in invoice.get("lines") or ())
    lines = {id: f"lines[{place}].open_item_id" for place, id in of_lines if id is not None}
    if only is None:
        return lines | named
    for id, field in (lines | named).items():
        if id != only:
            raise invalid(field, "invalid")
    return {only: "open_item_id"}


async def _put(
    service: Service,
    store: Store[OpenItem],
    values: Record,
    day: str,
    item: OpenItem | None = None,
    *,
    new: bool = False,
) -> OpenItem:
    """Create or update an item and enter the change on `day`. The item keeps the day on which it arose.

    The stored item is read first, unless it is passed as `item` or is known to be `new`.
    """
    if item is None and not new:
        item = await store.find_one({"biz_type": values["biz_type"], "resource_id": values["resource_id"]})
    before: ReadOnlyRecord = item or {"paid": None, "invoiced": None, "credited": None, "due_on": None}
    if "document_amount" in values:
        credited = await count_credited_returns(service, {**before, "returned": values.get("returned")})
        values = {**values, "credited_returns": credited}
        known = {**values, "adjusted": before.get("adjusted")}
        owed = sum_owed(known, exact(before["invoiced"]), exact(before["credited"]))
        values = {**values, **{name: store_money(value) for name, value in owed.items()}}
        if owed["billed_ahead"] and values["due_on"] is None:
            values["due_on"] = before["due_on"]  # that of the invoice
    values = {**values, "paid": store_money(exact(values.get("paid", before["paid"])))}
    values |= await _date(service, item, values, day)
    values |= follow_amounts(values)
    changed = await (store.create(values) if item is None else store.update(item["id"], _find_changes(item, values)))
    await enter_change(service, item, changed, day)
    return changed


async def _date(service: Service, item: OpenItem | None, values: Record, day: str) -> dict[str, Any]:
    """Return the status of an item, and since when something is owed for it, if that begins on `day` or earlier."""
    planned = item is None or item["status"] == PLANNED
    status = get_status(values, planned=planned)
    if item is not None and not planned:
        return {"status": status, "day": item["day"], "booked_on": item["booked_on"] or item["day"]}
    booked_on = None if status == PLANNED else await find_open_day(service, day)
    return {"status": status, "day": day, "booked_on": booked_on}


def _find_changes(item: OpenItem, values: Record) -> Record:
    """Return only the values that differ, so that what the item is searched by is not computed again without need."""
    return {name: value for name, value in values.items() if item.get(name) != value}


def get_status(item: Record, *, planned: bool) -> str:
    """Return the status of an item by its amount and what is paid of it; `planned`: it was never owed before."""
    amount, paid = exact(item["amount"]), exact(item["paid"])
    if not amount:
        return PLANNED if planned and exact(item.get("undelivered")) else "void"
    return "paid" if paid >= amount else "partly_paid" if paid else "open"


def make_list_handler(direction: str) -> Handler:
    """Return the handler that lists the items of a direction: `out` are receivables, `in` payables.

    Without `status` in the query it lists the unpaid ones.
    """

    async def list_items(req: Request) -> Page:
        status = {} if req.query.get("status") else UNPAID
        return await req.store(OPEN_ITEMS).page(req.query, {"direction": direction, **status})

    return list_items


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/receivables",
        make_list_handler("out"),
        summary="List receivables",
        access="finance:invoice:receivables",
        query=OPEN_ITEMS.list_query,
        record=OPEN_ITEMS,
        paged=True,
    ),
    route(
        "GET /api/v1/finance/payables",
        make_list_handler("in"),
        summary="List payables",
        access="finance:invoice:payables",
        query=OPEN_ITEMS.list_query,
        record=OPEN_ITEMS,
        paged=True,
    ),
)
