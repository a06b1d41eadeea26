"""The audits of crm, which compare contracts with their payments and plans, and payment plans with their payments."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from plugins.api import Message, exact
from plugins.api.business import Debt, Due, in_base
from plugins.api.reports import Audit, Difference, Piece, Remark, compare, difference
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.receivables import BIZ_TYPE, OWED

_LIVE: Mapping[str, Any] = {"reversed_at": None}
_NO_CONTRACT = Message("{noun} {number}：合同不存在", "{noun} {number}: its contract does not exist")


async def check_contracts(piece: Piece) -> AsyncIterator[Difference]:
    """Check that what was received, planned and amended of a contract are the sums of its payments, plans, amendments."""
    received = await piece.sums(PAYMENTS, "contract_id", "amount", _LIVE)
    planned = await piece.sums(PLANS, "contract_id", "amount")
    amended = await piece.sums(AMENDMENTS, "contract_id", "change")
    for contract in piece.records:
        id = contract["id"]
        sums = {"received_amount": received[id], "planned_amount": planned[id]}
        for found in compare(CONTRACTS, contract, sums | {"amended_amount": amended[id]}):
            yield found


async def check_plans(piece: Piece) -> AsyncIterator[Difference]:
    """Check that the paid amount of a plan is the sum of its payments."""
    contracts = {"contract_id": {"$in": list({plan["contract_id"] for plan in piece.records})}}
    paid = await piece.sums(PAYMENTS, "plan_id", "amount", {**contracts, **_LIVE})
    for plan in piece.records:
        for found in compare(PLANS, plan, {"paid_amount": paid[plan["id"]]}):
            yield found


async def check_payments(piece: Piece) -> AsyncIterator[Difference | Remark]:
    """Check that each payment has a contract and its worth. Payments without an account are remarked on, unless reversed."""
    ids = {"_id": {"$in": list({payment["contract_id"] for payment in piece.records})}}
    contracts = {one["id"] for one in await piece.store(CONTRACTS).find(ids, fields=["number"])}
    for payment in piece.records:
        if payment["contract_id"] not in contracts:
            yield difference(PAYMENTS, payment, "contract_id", _NO_CONTRACT)
        worth = in_base(exact(payment["amount"]), payment)
        for found in compare(PAYMENTS, payment, {"base_amount": worth}) if payment["rate"] is not None else ():
            yield found
        if payment.get("account_id") is None and payment.get("reversed_at") is None:
            yield Remark(worth)


async def owed_on_contracts(piece: Piece) -> Mapping[Any, Due]:
    """Return what customers owe on each contract, and how much of it was received according to the payments."""
    received = await piece.sums(PAYMENTS, "contract_id", "amount", _LIVE)
    return {
        one["id"]: Due(
            received[one["id"]] if one["status"] == "terminated" else exact(one["amount"]), received[one["id"]]
        )
        for one in piece.records
        if one["status"] in OWED
    }


AUDITS = (
    Audit(
        "crm-contracts",
        Message("合同与回款、回款计划", "Contracts against payments and plans"),
        CONTRACTS,
        check_contracts,
    ),
    Audit("crm-payment-plans", Message("回款计划与回款", "Payment plans against payments"), PLANS, check_plans),
    Audit(
        "crm-payments",
        Message("回款与合同", "Payments against contracts"),
        PAYMENTS,
        check_payments,
        remarks=Message("未指定收款账户的回款", "Payments without an account"),
    ),
)
DEBTS = (Debt(BIZ_TYPE, owed_on_contracts),)
