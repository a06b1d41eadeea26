"""Open items of older databases get their party, entries and invoices, and missing ones are written."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Record, Service, day_of, exact, store_money
from plugins.api.business import DEBT_ASKED, Debt
from plugins.api.data import Migration, Stage
from plugins.api.errors import DatabaseUnavailable
from plugins.api.records import Catalogue
from plugins.api.reports import Piece
from plugins.api.values import ReadOnlyRecord
from plugins.finance import open_items
from plugins.finance.bills import find_item_ids
from plugins.finance.entries import adopt
from plugins.finance.open_items import find_bills, sum_bills
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import Invoice
from plugins.finance.records import CREDIT_NOTES, INVOICES, VOUCHERS

log = logging.getLogger("tradewind.finance")
_OWN = [open_items.INVOICE, open_items.CLAIM]


def _bill_stages(service: Service) -> Iterator[Stage]:
    older = {"biz_type": {"$nin": _OWN}, "invoiced": None, "deleted": False}
    yield Stage(OPEN_ITEMS, partial(_complete_bills, service), older)


BILLS = Migration(
    "2026-11-invoices-of-items",
    "Lowers what is owed for contracts and orders by the credit notes of their invoices, on the days of the notes. It "
    "cannot decide which is right where invoices claim more than is owed, or name another party: it leaves them, and the "
    "audit of finance names them.",
    _bill_stages,
)


async def _complete_bills(service: Service, rows: Sequence[ReadOnlyRecord]) -> int:
    return sum([await service.database.transaction(partial(_count, service, row["_id"])) for row in rows])


async def _count(service: Service, item_id: Any) -> bool:
    """Count the invoices of an item; return whether there are any."""
    item = await service.database.store(OPEN_ITEMS).find_one({"_id": item_id, "invoiced": None})
    bills = await find_bills(service, item_id) if item is not None else []
    if item is None or not bills:
        return False
    credits = await service.database.store(CREDIT_NOTES).find(
        {"invoice_id": {"$in": [one["id"] for one in bills]}}, sort="day"
    )
    left: defaultdict[Any, Decimal] = defaultdict(Decimal)
    for note in credits:
        left[note["invoice_id"]] += exact(note["total"])
        known: list[Invoice] = [{**one, "credited": store_money(left[one["id"]])} for one in bills]
        item = await open_items.count_bills(service, item, known, note["day"])
    await open_items.count_bills(
        service, item, bills, item["day"] or day_of(item["created_at"], service.settings.zone).isoformat()
    )
    sums = sum_bills(item, bills)
    if exact(sums["invoiced"]) - exact(sums["credited"]) > exact(sums["amount"]):
        log.warning("invoices claim more than is owed", extra={"open_item": str(item["id"]), "number": item["number"]})
    return True


def _stages(service: Service) -> Iterator[Stage]:
    """Yield a stage for the items that an older version has stored, then one for each kind of record that may owe."""
    yield Stage(OPEN_ITEMS, partial(_complete, service), {"day": None, "deleted": False})
    catalogue = service.part(Catalogue)
    for debt in catalogue.of_kind(Debt):
        yield Stage(catalogue.biz_types[debt.biz_type], partial(_fill, service, debt))


FILLING = Migration(
    "2026-11-open-items",
    "Gives open items their customer or supplier, their day and their entries, and adds those that are missing.",
    _stages,
)


async def _complete(service: Service, rows: Sequence[Record]) -> int:
    """Give items without a day their party, their day and their entries."""
    for item in rows:
        known = _name(item["biz_type"], item["resource_id"])
        await _try(service, partial(_report_known, service, known), known)
        await _try(service, partial(_adopt, service, item["_id"]), known)
    return len(rows)


async def _report_known(service: Service, of_record: Record) -> None:
    """Have the plugin of an item report it again, now with its customer or supplier."""
    await service.events.emit(DEBT_ASKED, {**of_record, "known": True})


async def _adopt(service: Service, id: Any) -> None:
    item = await service.database.store(OPEN_ITEMS).find_one({"_id": id, "day": None})
    if item is not None:
        await adopt(service, item)


async def _fill(service: Service, debt: Debt, rows: Sequence[Record]) -> int:
    """Write the missing items of these records; return how many were missing."""
    biz_types, database, ids = service.part(Catalogue).biz_types, service.database, [row["_id"] for row in rows]

    async def read() -> list[str]:
        records = await database.store(biz_types[debt.biz_type]).find({"_id": {"$in": ids}}, sort="id")
        owed = await debt.compute(Piece(database, biz_types, records)) if records else {}
        return [str(id) for id, due in owed.items() if due.amount or due.paid]

    owing = await database.transaction(read)
    theirs = {"biz_type": debt.biz_type, "resource_id": {"$in": owing}}
    known = {item["resource_id"] for item in await database.store(OPEN_ITEMS).find(theirs, fields=["resource_id"])}
    missing = [id for id in owing if id not in known]
    for id in missing:
        unknown = _name(debt.biz_type, id)
        await _try(service, partial(_report_unknown, service, unknown), unknown)
    return len(missing)


async def _report_unknown(service: Service, of_record: Record) -> None:
    if await service.database.store(OPEN_ITEMS).find_one(of_record) is None:
        await service.events.emit(DEBT_ASKED, {**of_record, "known": False})


async def _try(service: Service, work: Callable[[], Awaitable[None]], what: Mapping[str, Any]) -> None:
    """Run `work` in a transaction. An item that fails is logged and left as it is, so that the others follow."""
    try:
        await service.database.transaction(work)
    except DatabaseUnavailable:
        raise
    except Exception:
        log.exception("open item of an older version stays incomplete", extra={"record": dict(what)})


def _name(biz_type: str, resource_id: str) -> Record:
    return {"biz_type": biz_type, "resource_id": resource_id}


_OWED = ("confirmed", "partly_paid", "paid")


async def report_owed(service: Service, payload: Mapping[str, Any]) -> None:
    """Write the open item of such an invoice: owed from its day on, and paid on the days of its vouchers."""
    if payload["biz_type"] != open_items.INVOICE or payload["known"]:
        return
    database = service.database
    invoice = await database.store(INVOICES).find_one({"_id": INVOICES.parse_id(payload["resource_id"])})
    if invoice is None or invoice["status"] not in _OWED or find_item_ids(invoice):
        return
    of_invoice = await database.store(VOUCHERS).find({"invoice_id": invoice["id"]}, sort="day")
    arose = invoice["day"] or day_of(invoice["created_at"], service.settings.zone).isoformat()
    paid, steps = Decimal(0), [(arose, Decimal(0))]
    for voucher in of_invoice:
        paid += exact(voucher["amount"])
        steps.append((voucher["day"] or arose, paid))
    if paid != exact(invoice["paid"]):
        steps.append((day_of(invoice["updated_at"], service.settings.zone).isoformat(), exact(invoice["paid"])))
    for day, so_far in steps:
        await open_items.put_invoice(service, {**invoice, "paid": store_money(so_far)}, day)
