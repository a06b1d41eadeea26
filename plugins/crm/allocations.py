"""Records payments that finance allocated to contracts, within the transaction of the allocation; the listeners of crm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Listener, Request, Service, exact, store_money
from plugins.api.business import DEBT_ASKED, MONEY_ALLOCATED, OF_CUSTOMERS
from plugins.crm import receivables
from plugins.crm.contract_records import CONTRACTS, PAYMENTS
from plugins.crm.payment_accounts import SOURCE_TYPE
from plugins.crm.payments import ALLOCATION_REFUSALS, enter_reversal, moment_on, receive
from plugins.crm.record_types import Contract, Payment
from plugins.crm.records import CUSTOMERS


async def apply(_: Service, payload: Mapping[str, Any]) -> None:
    """Record an allocation to a contract as a payment, or reverse that payment if the allocation is taken back.

    A refund is recorded as a payment below zero, and so is a part of an allocation that is taken back, or above zero if it
    refunded. Allocations to records of other types are ignored.
    """
    if payload["biz_type"] != receivables.BIZ_TYPE:
        return
    req = payload["request"]
    contract = await req.system_store(CONTRACTS).get(payload["resource_id"])
    undoes = (exact(payload["amount"]) > 0) != (payload["payment"]["direction"] == "in")
    received = await _find_received(req, contract, payload) if undoes else None
    if received is not None:
        await enter_reversal(req, received, payload["day"], None)
    elif not undoes or payload["payment"]["biz_type"] != SOURCE_TYPE:
        customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
        paid = (await receive(req, contract, customer, _describe(req, contract, payload), corrects=undoes))[1]
        await receivables.announce(req.service, req, paid, customer, payload["day"])


def _describe(req: Request, contract: Contract, payload: Mapping[str, Any]) -> dict[str, Any]:
    payment = payload["payment"]
    return {
        "contract_id": contract["id"],
        "amount": payload["amount"],
        "rate": payment["rate"],
        "paid_at": moment_on(req, payload["day"]),
        "method": payment["method"],
        "reference": payment["reference"],
        "remark": payment["remark"],
        "account_id": payment["account_id"],
        "finance_payment_id": payment["id"],
    }


async def _find_received(req: Request, contract: Contract, payload: Mapping[str, Any]) -> Payment | None:
    payment, payments = payload["payment"], req.system_store(PAYMENTS)
    if payment["biz_type"] == SOURCE_TYPE:
        return await payments.find_one({"_id": PAYMENTS.parse_id(payment["resource_id"]), "reversed_at": None})
    amount = store_money(-exact(payload["amount"]))
    ours = {"finance_payment_id": payment["id"], "contract_id": contract["id"]}
    return await payments.find_one({**ours, "amount": amount, "reversed_at": None})


LISTENS = (
    Listener(MONEY_ALLOCATED, apply, ALLOCATION_REFUSALS),
    Listener(DEBT_ASKED, receivables.report),
    *OF_CUSTOMERS,
)
