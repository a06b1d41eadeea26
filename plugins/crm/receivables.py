"""Receivables of contracts, for a plugin that keeps the books. Changes are emitted within their transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, Service, day_of, exact, store_money
from plugins.api.business import RECEIVABLE_CHANGED
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.contract_records import CONTRACTS, PLANS
from plugins.crm.record_types import Contract, Customer, PaymentPlan
from plugins.crm.records import CUSTOMERS

BIZ_TYPE = "CONTRACT"
OWED = ("in_force", "completed", "terminated")


async def publish(service: Service, request: Request | None, contract_id: Any, day: str | None = None) -> None:
    """Emit what is owed on a contract now.

    `day` is the day of the change, by default the one on which the contract was signed or terminated. Nothing is
    emitted for a contract that was never in force. Nothing more is owed on a terminated contract.
    """
    contract = await service.database.store(CONTRACTS).get(contract_id)
    if contract["status"] in OWED:
        customer = await service.database.store(CUSTOMERS).find_one({"_id": contract["customer_id"]})
        await announce(service, request, contract, customer, day)


async def announce(
    service: Service,
    request: Request | None,
    contract: Contract,
    customer: Customer | None,
    day: str | None,
) -> None:
    """Emit what is owed on a contract that is or was in force, as `publish` does."""
    plans = await service.database.store(PLANS).find({"contract_id": contract["id"]}, sort="due_date")
    ended = contract["status"] == "terminated"
    await service.events.emit(
        RECEIVABLE_CHANGED,
        {
            "request": request,
            "biz_type": BIZ_TYPE,
            "resource_id": str(contract["id"]),
            "number": contract["number"],
            "counterparty": customer["name"] if customer else "",
            "customer_id": contract["customer_id"],
            "day": day or _day_of_status(service, contract),
            "amount": contract["received_amount"] if ended else contract["amount"],
            "paid": contract["received_amount"],
            "currency": contract["currency"],
            "rate": contract["rate"],
            **_schedule(plans),
            "creator_id": contract["creator_id"],
            "creator_department_id": contract["creator_department_id"],
        },
    )


async def report(service: Service, payload: Mapping[str, Any]) -> None:
    """Emit again what is owed on a contract, with its amendments. What was received is dated like the contract."""
    if payload["biz_type"] != BIZ_TYPE:
        return
    contract = await service.database.store(CONTRACTS).find_one({"_id": CONTRACTS.parse_id(payload["resource_id"])})
    if contract is None or contract["status"] not in OWED:
        return
    request, customers = payload.get("request"), service.database.store(CUSTOMERS)
    in_force = {"contract_id": contract["id"], "status": "in_force"}
    made = [] if payload["known"] else await service.database.store(AMENDMENTS).find(in_force)
    customer = await customers.find_one({"_id": contract["customer_id"]})
    made.sort(key=lambda one: (one["effective_on"] or "", str(one["decided_at"])))
    amount = exact(contract["amount"]) - sum((exact(one["change"]) for one in made), Decimal(0))
    await announce(service, request, {**contract, "amount": store_money(amount)}, customer, None)
    for one in made:
        amount += exact(one["change"])
        await announce(service, request, {**contract, "amount": store_money(amount)}, customer, one["effective_on"])


def _day_of_status(service: Service, contract: Contract) -> str | None:
    """Return the day from which a contract is owed, or from which a terminated contract is no longer owed."""
    if contract["status"] == "terminated":
        return day_of(contract["ended_at"] or contract["updated_at"], service.settings.zone).isoformat()
    return contract["signed_date"]


def _schedule(plans: Sequence[PaymentPlan]) -> Record:
    """Return the plans as a `schedule`, and the due date of the first open one as `due_on`."""
    schedule = [{"due_on": plan["due_date"], "amount": plan["amount"], "paid": plan["paid_amount"]} for plan in plans]
    return {"schedule": schedule, "due_on": next((plan["due_date"] for plan in plans if not plan["settled"]), None)}
