"""Reminders in the notification centre: customers to follow up, payments that are due or overdue, ends of contracts.

Each reminder is noted in its record by the transaction that sends it, so it is sent once, whichever instance runs the
job.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from plugins.api import NOTIFY, Collection, Message, Record, Service, Store, day_of, exact, utc_now
from plugins.crm.contract_records import CONTRACTS, PLANS
from plugins.crm.messages import CONTRACT_EXPIRED, CONTRACT_EXPIRES, FOLLOW_UP_DUE, PAYMENT_DUE, PAYMENT_OVERDUE
from plugins.crm.options import CONTRACT_DAYS_KEY, REMINDER_DAYS_KEY
from plugins.crm.payments import PAYABLE
from plugins.crm.records import CUSTOMERS
from plugins.system.api import Configs

# older dates send no reminder: an import of old data must not flood people
_LATEST_FOLLOW_UP, _LATEST_PAYMENT = timedelta(days=7), timedelta(days=30)


async def remind(service: Service) -> None:
    """Send all reminders that are due and were not sent before."""
    now = utc_now()
    await _remind_of_follow_ups(service, now)
    days = await service.part(Configs).value(REMINDER_DAYS_KEY)
    today = day_of(now, service.settings.zone)
    first, last = (today - _LATEST_PAYMENT).isoformat(), (today + timedelta(days=days)).isoformat()
    await _remind_of_payments(service, {"$gte": first, "$lt": today.isoformat()}, "overdue", PAYMENT_OVERDUE)
    await _remind_of_payments(service, {"$gte": today.isoformat(), "$lte": last}, "due", PAYMENT_DUE)
    ahead = today + timedelta(days=await service.part(Configs).value(CONTRACT_DAYS_KEY))
    await _remind_of_ends(service, {"$gte": first, "$lt": today.isoformat()}, "ended", CONTRACT_EXPIRED)
    await _remind_of_ends(service, {"$gte": today.isoformat(), "$lte": ahead.isoformat()}, "ends", CONTRACT_EXPIRES)


async def _remind_of_follow_ups(service: Service, now: datetime) -> None:
    due = {
        "next_follow_at": {"$gt": now - _LATEST_FOLLOW_UP, "$lte": now},
        "owner_id": {"$ne": None},
        # a follow-up since then makes the reminder unnecessary
        "$expr": {
            "$and": [{"$ne": ["$reminded_for", "$next_follow_at"]}, {"$lt": ["$last_follow_at", "$next_follow_at"]}]
        },
    }
    async for row in _store(service, CUSTOMERS).stream({}, due):
        note = {"reminded_for": row["next_follow_at"]}
        message = {
            "kind": "follow_up_reminder",
            "title": FOLLOW_UP_DUE.filled(name=row["name"]),
            "link": f"/crm/customers/{row['id']}",
            "data": {"customer_id": str(row["id"])},
        }
        await _send(service, CUSTOMERS, row, {**due, "next_follow_at": row["next_follow_at"]}, note, message)


async def _remind_of_payments(service: Service, days: Mapping[str, str], stage: str, sentence: Message) -> None:
    due = {"settled": False, "due_date": days, "owner_id": {"$ne": None}, "reminded": {"$ne": stage}}
    async for row in _store(service, PLANS).stream({}, due):
        contract = await _store(service, CONTRACTS).get(row["contract_id"])
        if contract["status"] not in PAYABLE:
            continue
        amount = " ".join(filter(None, (f"{exact(row['amount']):,.2f}", row["currency"])))
        text = sentence.filled(contract=contract["name"], day=row["due_date"], amount=amount)
        data = {"plan_id": str(row["id"]), "contract_id": str(contract["id"])}
        message = {"kind": "payment_reminder", "title": text, "link": f"/crm/contracts/{contract['id']}", "data": data}
        await _send(service, PLANS, row, due, {"reminded": stage}, message)


async def _remind_of_ends(service: Service, days: Mapping[str, str], stage: str, sentence: Message) -> None:
    """Remind the owners of contracts in force that end on these days. A contract with another end is another reminder."""
    of_stage = {"$ne": ["$reminded", {"$concat": [f"{stage} ", "$end_date"]}]}
    due = {"status": "in_force", "end_date": days, "owner_id": {"$ne": None}, "$expr": of_stage}
    async for row in _store(service, CONTRACTS).stream({}, due):
        text = sentence.filled(contract=row["name"], day=row["end_date"])
        data = {"contract_id": str(row["id"])}
        message = {"kind": "contract_reminder", "title": text, "link": f"/crm/contracts/{row['id']}", "data": data}
        await _send(service, CONTRACTS, row, due, {"reminded": f"{stage} {row['end_date']}"}, message)


async def _send(service: Service, of: Collection, row: Record, still: Record, note: Record, message: Record) -> None:
    async def work() -> None:
        noted = await _store(service, of).update_unversioned({"_id": row["id"], **still}, {"$set": note})
        if noted is not None:
            await service.events.emit(NOTIFY, {"user_ids": [noted["owner_id"]], **message})

    await service.database.transaction(work)


def _store(service: Service, of: Collection) -> Store:
    return service.database.store(of)
