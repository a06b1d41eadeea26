"""Receivables and payables: what is owed for contracts, orders and invoices, and how much of it is paid.

A business plugin tells what is owed by `finance.receivable.changed` or `finance.payable.changed`, in the transaction
that changes it. Where it also tells what was paid, payments are entered there; else they are booked here, as vouchers.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    STALE,
    Actor,
    ApiError,
    Handler,
    Page,
    Request,
    Service,
    Store,
    exact,
    invalid,
    store_money,
)
from plugins.finance.documents import OPEN_ITEMS
from plugins.finance.messages import MORE_THAN_OPEN, NOT_IN_STATE, PAID_ELSEWHERE
from plugins.finance.vouchers import Record, book, booking, day_in

RECEIVABLE_EVENT, PAYABLE_EVENT = "finance.receivable.changed", "finance.payable.changed"
PAID_EVENT = "finance.payable.paid"
UNPAID = {"status": {"$in": ["open", "partly_paid"]}}
INVOICE = "INVOICE"
_TOLD = ("number", "counterparty", "amount", "due_on")


async def on_changed(direction: str, service: Service, payload: Mapping[str, Any]) -> None:
    """Keep the item of a business record as the payload says; one that nothing is owed on is `void`."""
    # the item is seen by those who see the business record
    owner = Actor(user_id=payload["creator_id"], department_id=payload["creator_department_id"])
    paid = payload.get("paid")
    values = {
        **{name: payload.get(name) for name in _TOLD}, "direction": direction, "biz_type": payload["biz_type"],
        "resource_id": str(payload["resource_id"]), "schedule": payload.get("schedule"),
        "paid_elsewhere": paid is not None, **({"paid": paid} if paid is not None else {}),
    }  # fmt: skip
    await _put(service.database.store(OPEN_ITEMS, owner), values)


async def of_invoice(req: Request, invoice: Mapping[str, Any]) -> None:
    """Keep the item of an invoice, in the transaction that changes it; none for one that bills another item."""
    if invoice["open_item_id"] is not None:
        return
    # whoever pays need not be who wrote it
    owner = Actor(user_id=invoice["creator_id"], department_id=invoice["creator_department_id"])
    await _put(req.service.database.store(OPEN_ITEMS, owner, now=req.now), {
        "direction": invoice["direction"], "biz_type": INVOICE, "resource_id": str(invoice["id"]),
        "number": invoice["number"], "counterparty": invoice["counterparty"], "due_on": invoice["due_on"],
        "amount": invoice["total"] if invoice["status"] != "void" else store_money(Decimal(0)),
        "paid": invoice["paid"], "paid_elsewhere": True,
    })  # fmt: skip


async def check_billed(req: Request, invoice: Mapping[str, Any]) -> None:
    """40001 where the invoice names an item that it cannot bill: one of the other direction, or of an invoice."""
    item_id = invoice.get("open_item_id")
    billed = {"_id": item_id, "direction": invoice["direction"], "biz_type": {"$ne": INVOICE}}
    if item_id is not None and await req.system_store(OPEN_ITEMS).find_one(billed) is None:
        raise invalid("open_item_id", "reference")


async def _put(store: Store, values: Record) -> None:
    there = await store.find_one({"biz_type": values["biz_type"], "resource_id": values["resource_id"]})
    paid = exact(values.get("paid", there and there["paid"]))
    values = {**values, "paid": store_money(paid), "status": _status(exact(values["amount"]), paid)}
    if there is None:
        await store.create(values)
    else:
        await store.update(there["id"], values)


def _status(amount: Decimal, paid: Decimal) -> str:
    if not amount:
        return "void"
    return "paid" if paid >= amount else "partly_paid" if paid else "open"


def lister(direction: str) -> Handler:
    """A handler that lists a direction: `out` are receivables, `in` payables; the unpaid ones unless the query says."""

    async def list_items(req: Request) -> Page:
        status = {} if req.query.get("status") else UNPAID
        return await req.store(OPEN_ITEMS).page(req.query, {"direction": direction, **status})

    return list_items


async def pay(req: Request) -> Record:
    """Pay a payable, or a part of it: voucher, balance and payable change together."""
    day, account_id = day_in(req), req.body["account_id"]

    async def work() -> Record:
        item = await _payable(req)
        amount = _payment(req, item)
        voucher = await book(req, {
            "kind": "expense", "account_id": account_id, "amount": store_money(amount), "day": day,
            "category": "purchase", "counterparty": item["counterparty"], "remark": item["number"],
            "open_item_id": item["id"],
        })  # fmt: skip
        changed = await req.store(OPEN_ITEMS).update(item["id"], _after(item, amount), version=item["version"])
        await req.emit(PAID_EVENT, item=changed, voucher=voucher)
        return changed

    await _payable(req)
    return await booking(req, day, work)


async def _payable(req: Request) -> Record:
    item = await req.store(OPEN_ITEMS).get(req.path["id"])
    if item["direction"] != "in" or item["paid_elsewhere"]:
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    return item


def _payment(req: Request, item: Record) -> Decimal:
    if req.body.get("version") not in (None, item["version"]):
        raise ApiError(STALE)
    unpaid = exact(item["amount"]) - exact(item["paid"])
    if unpaid <= 0:
        raise ApiError(CONFLICT, NOT_IN_STATE)
    amount = exact(req.body["amount"]) if req.body.get("amount") is not None else unpaid
    if amount > unpaid:
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=unpaid), data={"open": f"{unpaid:.2f}"})
    return amount


def _after(item: Mapping[str, Any], amount: Decimal) -> Record:
    """The item's `paid` and `status` after `amount` more, or less when it is below zero."""
    paid = exact(item["paid"]) + amount
    return {"paid": store_money(paid), "status": _status(exact(item["amount"]), paid)}


async def after_reversal(payload: Mapping[str, Any]) -> None:
    """The payment of a payable was reversed: that much is open again."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["open_item_id"]:
        items = req.system_store(OPEN_ITEMS)
        item = await items.get(voucher["open_item_id"])
        await items.update(item["id"], _after(item, -exact(voucher["amount"])), version=item["version"])
