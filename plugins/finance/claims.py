"""Expense claims: from draft to payment.

Claims and approvals are connected by events. `submit` emits `approval.requested`; an approval plugin emits
`approval.finished`. Without such a plugin, whoever has the permission `finance:expense-claim:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    REFUSES_OWN,
    STALE,
    ApiError,
    Handler,
    Request,
    Route,
    Service,
    as_json,
    conflicts,
    crud,
    exact,
    people_behind,
    refuse_own,
    route,
    store_money,
    utc_now,
)
from plugins.finance.documents import EXPENSE_CLAIMS, PAY_CLAIM_BODY, REJECT_BODY
from plugins.finance.messages import NOT_DELETABLE, NOT_EDITABLE, NOT_IN_STATE, PERIOD_CLOSED
from plugins.finance.states import CLAIM_STATES, after, allows
from plugins.finance.vouchers import Record, book, book_in_transaction, get_day

BIZ_TYPE = "EXPENSE"
SUBMITTED_EVENT = "finance.expense.submitted"
DECIDED_EVENT = "finance.expense.decided"
PAID_EVENT = "finance.expense.paid"
REQUESTED_EVENT, CANCELLED_EVENT = "approval.requested", "approval.cancelled"
DECISION_EVENT = "approval.finished"
# outcome of an approval → action on the claim
OUTCOMES = {"approved": "approve", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
_EDITABLE = allows(CLAIM_STATES, "submit")


async def create(req: Request) -> Record:
    """Create a draft. Its amount is the sum of its lines."""
    sequence = await req.service.database.next_number(EXPENSE_CLAIMS.name)
    values = {**req.body, "amount": _sum_up(req.body["lines"]), "status": "draft", "number": f"EX-{sequence:08}"}
    return await req.store(EXPENSE_CLAIMS).create(values)


async def update(req: Request) -> Record:
    """Change a draft or a rejected claim."""
    values = dict(req.body)
    version = values.pop("version")
    if "lines" in values:
        values["amount"] = _sum_up(values["lines"])
    return await req.store(EXPENSE_CLAIMS).update(
        req.path["id"], values, version=version, where=_EDITABLE, reason=NOT_EDITABLE
    )


async def delete(req: Request) -> None:
    """Delete a draft or a rejected claim."""
    await req.store(EXPENSE_CLAIMS).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


async def submit(req: Request) -> Record:
    """Ask for approval. A listener of the event may decide at once, in the same transaction."""

    async def work() -> Record:
        claims = req.store(EXPENSE_CLAIMS)
        submission = {
            "status": after(CLAIM_STATES, "submit"),
            "submitted_at": req.now,
            "submitted_by": req.actor.user_id,
            "decided_at": None,
            "reason": None,
        }
        claim = await claims.update(
            req.path["id"], submission, where=allows(CLAIM_STATES, "submit"), reason=NOT_IN_STATE
        )
        await req.emit(SUBMITTED_EVENT, claim=claim, **_refer_to(claim))
        request = {"title": f"{claim['number']} {claim['title']}", "record": as_json(EXPENSE_CLAIMS.read, claim)}
        await req.emit(REQUESTED_EVENT, **request, own=people_behind(claim), **_refer_to(claim))
        return await claims.get(claim["id"])

    return await req.transaction(work)


def make_decision_handler(action: str) -> Handler:
    """Return the handler that decides a submitted claim: `withdraw`, `approve`, `reject`."""

    async def decide(req: Request) -> Record:
        values = {**_decide(action, (req.body or {}).get("reason"), req.now), "decided_by": req.actor.user_id}

        async def work() -> Record:
            if action != "withdraw":
                await refuse_own(req, people_behind(await req.store(EXPENSE_CLAIMS).get(req.path["id"])))
            claim = await req.store(EXPENSE_CLAIMS).update(
                req.path["id"], values, where=allows(CLAIM_STATES, action), reason=NOT_IN_STATE
            )
            await req.emit(DECIDED_EVENT, claim=claim)
            await req.emit(CANCELLED_EVENT, reason=claim["reason"], **_refer_to(claim))
            return claim

        return await req.transaction(work)

    return decide


async def apply_approval(service: Service, payload: Mapping[str, Any]) -> None:
    """Apply the outcome of an approval to its claim. A claim that is no longer submitted is left as it is."""
    action = OUTCOMES.get(payload["outcome"])
    if payload["biz_type"] != BIZ_TYPE or action is None:
        return
    req = payload.get("request")
    claims = req.system_store(EXPENSE_CLAIMS) if req else service.database.store(EXPENSE_CLAIMS)
    claim = await claims.get(payload["resource_id"])
    if claim["status"] != after(CLAIM_STATES, "submit"):
        return
    values = _decide(action, payload.get("reason"), req.now if req else utc_now())
    values["decided_by"] = payload.get("by")
    changed = await claims.update(claim["id"], values, where=allows(CLAIM_STATES, action), reason=NOT_IN_STATE)
    await service.events.emit(DECIDED_EVENT, {**payload, "claim": changed})


async def pay(req: Request) -> Record:
    """Pay an approved claim. The voucher is booked and the claim changed in one transaction."""
    day, account_id = get_day(req), req.body["account_id"]

    async def work() -> Record:
        claims = req.store(EXPENSE_CLAIMS)
        claim = await claims.get(req.path["id"])
        if req.body.get("version") not in (None, claim["version"]):
            raise ApiError(STALE)
        if claim["status"] != "approved":
            raise ApiError(CONFLICT, NOT_IN_STATE)
        voucher = await book(
            req,
            {
                "kind": "expense",
                "account_id": account_id,
                "amount": claim["amount"],
                "day": day,
                "category": "reimbursement",
                "counterparty": None,
                "remark": claim["title"],
                "claim_id": claim["id"],
            },
        )
        paid = {"status": after(CLAIM_STATES, "pay"), "paid_at": req.now, "voucher_id": voucher["id"]}
        changed = await claims.update(claim["id"], paid, version=claim["version"])
        await req.emit(PAID_EVENT, claim=changed, voucher=voucher)
        return changed

    await req.store(EXPENSE_CLAIMS).get(req.path["id"])
    return await book_in_transaction(req, day, work)


async def reopen_payment(payload: Mapping[str, Any]) -> None:
    """Make a claim payable again after the voucher that paid it was reversed."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["claim_id"]:
        unpaid = {"status": after(CLAIM_STATES, "unpay"), "paid_at": None, "voucher_id": None}
        await req.system_store(EXPENSE_CLAIMS).update(
            voucher["claim_id"], unpaid, where=allows(CLAIM_STATES, "unpay"), reason=NOT_IN_STATE
        )


def _refer_to(claim: Mapping[str, Any]) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(claim["id"])}


def _decide(action: str, reason: str | None, now: Any) -> Record:
    return {"status": after(CLAIM_STATES, action), "decided_at": now, "reason": reason}


def _sum_up(lines: Sequence[Mapping[str, Any]]) -> Any:
    return store_money(sum((exact(line["amount"]) for line in lines), Decimal(0)))


ROUTES: tuple[Route, ...] = (
    *crud(
        EXPENSE_CLAIMS,
        at="/api/v1/finance/expense-claims",
        resource="finance:expense-claim",
        noun="expense claim",
        create=create,
        update=update,
        delete=delete,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    route(
        "POST /api/v1/finance/expense-claims/{id}/submit",
        submit,
        summary="Submit an expense claim",
        access="finance:expense-claim:submit",
        record=EXPENSE_CLAIMS,
        events=(REQUESTED_EVENT,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/finance/expense-claims/{id}/withdraw",
        make_decision_handler("withdraw"),
        summary="Take an expense claim back",
        access="finance:expense-claim:submit",
        record=EXPENSE_CLAIMS,
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/finance/expense-claims/{id}/approve",
        make_decision_handler("approve"),
        summary="Approve an expense claim",
        access="finance:expense-claim:approve",
        record=EXPENSE_CLAIMS,
        refusals=(*conflicts(NOT_IN_STATE), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/finance/expense-claims/{id}/reject",
        make_decision_handler("reject"),
        summary="Reject an expense claim",
        access="finance:expense-claim:approve",
        body=REJECT_BODY,
        record=EXPENSE_CLAIMS,
        refusals=(*conflicts(NOT_IN_STATE), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/finance/expense-claims/{id}/pay",
        pay,
        summary="Pay an expense claim",
        access="finance:expense-claim:pay",
        body=PAY_CLAIM_BODY,
        record=EXPENSE_CLAIMS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED),
    ),
)
