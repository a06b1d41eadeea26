"""Receivables and payables: what is owed for contracts, orders and invoices, and how much of it is paid.

A business plugin emits `finance.receivable.changed` or `finance.payable.changed` in the transaction that changes what
is owed. If the payload has `paid`, payments are entered in that plugin; otherwise they are booked here, as vouchers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from plugins.api import (
    NOT_FOUND,
    Actor,
    ApiError,
    Handler,
    Page,
    Record,
    Request,
    Route,
    Service,
    Store,
    day_of,
    exact,
    invalid,
    route,
    store_money,
    utc_now,
)
from plugins.api.values import ReadOnlyRecord
from plugins.finance.books.periods import find_open_day
from plugins.finance.open_items.billing import find_bills, pay_billed, refuse_excess, sum_bills, sum_owed
from plugins.finance.open_items.entries import PARTY_FIELDS, enter_change
from plugins.finance.open_items.paying import get_owed
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.open_items.schedules import pay_earliest
from plugins.finance.record_types import ExpenseClaim, Invoice, OpenItem
from plugins.finance.states import PLANNED

UNPAID = {"status": {"$in": ["open", "partly_paid"]}}
INVOICE, CLAIM = "INVOICE", "EXPENSE"
_COPIED_FROM_EVENT = (
    *("number", "counterparty", "customer_id", "supplier_id", "net", "tax", "undelivered", "due_on", "terms_days"),
)


async def update_from_event(direction: str, service: Service, payload: Mapping[str, Any]) -> None:
    """Create or update the item of a business record from the payload. An item with an amount of zero is `void`."""
    # whoever may see the business record may see the item
    owner = Actor(user_id=payload["creator_id"], department_id=payload["creator_department_id"])
    paid = payload.get("paid")
    values = {
        **{name: payload.get(name) for name in _COPIED_FROM_EVENT},
        "document_amount": payload["amount"],
        "direction": direction,
        "biz_type": payload["biz_type"],
        "resource_id": str(payload["resource_id"]),
        "schedule": payload.get("schedule"),
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
    if invoice["open_item_id"] is not None:
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
            "due_on": invoice["due_on"],
            "amount": store_money(get_owed(invoice) if invoice["status"] != "void" else Decimal(0)),
            "paid": invoice["paid"],
            "paid_elsewhere": True,
        },
        day,
        item,
    )


async def update_billed(req: Request, invoice: Invoice, day: str, *, confirms: bool = False) -> None:
    """Update the open item that an invoice bills, and what is paid of its invoices.

    Raises 40901 for an invoice that is just confirmed (`confirms`) and claims more than is open.
    """
    store = req.system_store(OPEN_ITEMS)
    # written and not only read, so that it conflicts with a concurrent payment of the item
    billed = await store.update_unversioned({"_id": invoice["open_item_id"]}, {"$inc": {"billings": 1}})
    if billed is None:
        raise ApiError(NOT_FOUND)
    bills = await find_bills(req.service, billed["id"])
    if confirms:
        refuse_excess(billed, bills, invoice)
    await pay_billed(req.service, await count_bills(req.service, billed, bills, day))


async def count_bills(service: Service, item: OpenItem, bills: Sequence[Invoice], day: str) -> OpenItem:
    """Write into an item what the invoices that bill it claim, and enter on `day` by how much that changes the debt."""
    values: Record = {**sum_bills(item, bills)}
    if exact(item["undelivered"]) and not exact(values["document_amount"]):
        values["due_on"] = min((one["due_on"] for one in bills if one["due_on"]), default=None)
    values |= await _date(service, item, {**item, **values}, day)
    values |= pay_earliest({**item, **values})
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
    values |= pay_earliest({**item, **values})
    changed = await req.system_store(OPEN_ITEMS).update(item["id"], values, version=item["version"])
    await enter_change(req.service, item, changed, day)
    await pay_billed(req.service, changed)
    return changed


async def reopen_payment(_: Service, payload: Mapping[str, Any]) -> None:
    """Take the amount of a reversed voucher off its payable, unless the voucher belongs to a payment document."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["open_item_id"] and voucher["payment_id"] is None:
        item = await req.system_store(OPEN_ITEMS).get(voucher["open_item_id"])
        await add_paid(req, item, -exact(voucher["amount"]), payload["reversal"]["day"])


async def find_item(req: Request, biz_type: str, resource_id: Any) -> OpenItem | None:
    """Return the item of a business record, or None."""
    return await req.system_store(OPEN_ITEMS).find_one({"biz_type": biz_type, "resource_id": str(resource_id)})


async def describe_billed(req: Request, invoice: ReadOnlyRecord) -> Record:
    """Return the party and the due day that an invoice takes from the item that it bills; nothing if it bills none.

    Raises 40001 if the item is missing, has the other direction or belongs to an invoice, and for another party.
    """
    item_id = invoice.get("open_item_id")
    if item_id is None:
        return {}
    billed = {"_id": item_id, "direction": invoice["direction"], "biz_type": {"$ne": INVOICE}}
    item = await req.system_store(OPEN_ITEMS).find_one(billed)
    if item is None:
        raise invalid("open_item_id", "reference")
    for name in ("customer_id", "supplier_id"):
        if invoice.get(name) not in (None, item.get(name)):
            raise invalid(name, "invalid")
    party = {name: item.get(name) for name in PARTY_FIELDS if item.get(name)}
    return {**party, "due_on": invoice.get("due_on") or item["due_on"]}


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
        owed = sum_owed(values, exact(before["invoiced"]), exact(before["credited"]))
        values = {**values, **{name: store_money(value) for name, value in owed.items()}}
        if owed["billed_ahead"] and values["due_on"] is None:
            values["due_on"] = before["due_on"]  # that of the invoice
    values = {**values, "paid": store_money(exact(values.get("paid", before["paid"])))}
    values |= await _date(service, item, values, day)
    values |= pay_earliest(values)
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
