"""Expense claims: from draft to payment.

Approval is joined by events. `submit` emits `approval.requested`; a plugin for approvals answers with
`approval.finished`. Without one, whoever holds `finance:expense-claim:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    STALE,
    ApiError,
    Handler,
    Request,
    Service,
    as_json,
    exact,
    people_behind,
    refuse_own,
    store_money,
    utc_now,
)
from plugins.finance.documents import EXPENSE_CLAIMS
from plugins.finance.messages import NOT_DELETABLE, NOT_EDITABLE, NOT_IN_STATE
from plugins.finance.states import CLAIM_STATES, after, allows
from plugins.finance.vouchers import Record, book, booking, day_in

BIZ_TYPE = "EXPENSE"
SUBMITTED_EVENT = "finance.expense.submitted"
DECIDED_EVENT = "finance.expense.decided"
PAID_EVENT = "finance.expense.paid"
REQUESTED_EVENT, CANCELLED_EVENT = "approval.requested", "approval.cancelled"
DECISION_EVENT = "approval.finished"
# how an approval ended → what that does to the claim
OUTCOMES = {"approved": "approve", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
_EDITABLE = allows(CLAIM_STATES, "submit")


async def create(req: Request) -> Record:
    """A draft; its amount is the sum of its lines."""
    sequence = await req.service.database.next_number(EXPENSE_CLAIMS.name)
    values = {**req.body, "amount": _sum(req.body["lines"]), "status": "draft", "number": f"EX-{sequence:08}"}
    return await req.store(EXPENSE_CLAIMS).create(values)


async def update(req: Request) -> Record:
    """Change a claim that is not on its way."""
    values = dict(req.body)
    version = values.pop("version")
    if "lines" in values:
        values["amount"] = _sum(values["lines"])
    return await req.store(EXPENSE_CLAIMS).update(
        req.path["id"], values, version=version, where=_EDITABLE, reason=NOT_EDITABLE
    )


async def delete(req: Request) -> None:
    """Delete a claim that is not on its way."""
    await req.store(EXPENSE_CLAIMS).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


async def submit(req: Request) -> Record:
    """Ask for approval. A listener of the event may decide at once, as part of it."""

    async def work() -> Record:
        claims = req.store(EXPENSE_CLAIMS)
        asked = {"status": after(CLAIM_STATES, "submit"), "submitted_at": req.now, "submitted_by": req.actor.user_id,
                 "decided_at": None, "reason": None}  # fmt: skip
        claim = await claims.update(req.path["id"], asked, where=allows(CLAIM_STATES, "submit"), reason=NOT_IN_STATE)
        await req.emit(SUBMITTED_EVENT, claim=claim, **_resource(claim))
        described = {"title": f"{claim['number']} {claim['title']}", "record": as_json(EXPENSE_CLAIMS.read, claim)}
        await req.emit(REQUESTED_EVENT, **described, own=people_behind(claim), **_resource(claim))
        return await claims.get(claim["id"])

    return await req.transaction(work)


def decider(action: str) -> Handler:
    """A handler that decides a submitted claim: `withdraw`, `approve`, `reject`."""

    async def decide(req: Request) -> Record:
        values = {**_decision(action, (req.body or {}).get("reason"), req.now), "decided_by": req.actor.user_id}

        async def work() -> Record:
            if action != "withdraw":
                await refuse_own(req, people_behind(await req.store(EXPENSE_CLAIMS).get(req.path["id"])))
            claim = await req.store(EXPENSE_CLAIMS).update(
                req.path["id"], values, where=allows(CLAIM_STATES, action), reason=NOT_IN_STATE
            )
            await req.emit(DECIDED_EVENT, claim=claim)
            await req.emit(CANCELLED_EVENT, reason=claim["reason"], **_resource(claim))
            return claim

        return await req.transaction(work)

    return decide


async def after_approval(service: Service, payload: Mapping[str, Any]) -> None:
    """An approval ended: do to the claim what its outcome says; one that is no longer submitted stays as it is."""
    action = OUTCOMES.get(payload["outcome"])
    if payload["biz_type"] != BIZ_TYPE or action is None:
        return
    req = payload.get("request")
    claims = req.system_store(EXPENSE_CLAIMS) if req else service.database.store(EXPENSE_CLAIMS)
    claim = await claims.get(payload["resource_id"])
    if claim["status"] != after(CLAIM_STATES, "submit"):
        return
    values = _decision(action, payload.get("reason"), req.now if req else utc_now())
    values["decided_by"] = payload.get("by")
    changed = await claims.update(claim["id"], values, where=allows(CLAIM_STATES, action), reason=NOT_IN_STATE)
    await service.events.emit(DECIDED_EVENT, {**payload, "claim": changed})


async def pay(req: Request) -> Record:
    """Pay an approved claim: the voucher and the claim change together."""
    day, account_id = day_in(req), req.body["account_id"]

    async def work() -> Record:
        claims = req.store(EXPENSE_CLAIMS)
        claim = await claims.get(req.path["id"])
        if req.body.get("version") not in (None, claim["version"]):
            raise ApiError(STALE)
        if claim["status"] != "approved":
            raise ApiError(CONFLICT, NOT_IN_STATE)
        voucher = await book(req, {
            "kind": "expense", "account_id": account_id, "amount": claim["amount"], "day": day,
            "category": "reimbursement", "counterparty": None, "remark": claim["title"], "claim_id": claim["id"],
        })  # fmt: skip
        paid = {"status": after(CLAIM_STATES, "pay"), "paid_at": req.now, "voucher_id": voucher["id"]}
        changed = await claims.update(claim["id"], paid, version=claim["version"])
        await req.emit(PAID_EVENT, claim=changed, voucher=voucher)
        return changed

    await req.store(EXPENSE_CLAIMS).get(req.path["id"])
    return await booking(req, day, work)


async def after_reversal(payload: Mapping[str, Any]) -> None:
    """The payment of a claim was reversed: the claim is to be paid again."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["claim_id"]:
        unpaid = {"status": after(CLAIM_STATES, "unpay"), "paid_at": None, "voucher_id": None}
        await req.system_store(EXPENSE_CLAIMS).update(
            voucher["claim_id"], unpaid, where=allows(CLAIM_STATES, "unpay"), reason=NOT_IN_STATE
        )


def _resource(claim: Mapping[str, Any]) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(claim["id"])}


def _decision(action: str, reason: str | None, now: Any) -> Record:
    return {"status": after(CLAIM_STATES, action), "decided_at": now, "reason": reason}


def _sum(lines: Sequence[Mapping[str, Any]]) -> Any:
    return store_money(sum((exact(line["amount"]) for line in lines), Decimal(0)))
