"""Expense claims: from draft to payment.

Flows approve them; without a flow, whoever has the permission `finance:expense-claim:approve` decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Approval,
    Record,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    day_of,
    exact,
    invalid,
    store_money,
    transitions,
)
from plugins.api.data import restore
from plugins.api.errors import DUPLICATE
from plugins.api.records import Numbering, change_state
from plugins.finance import open_items
from plugins.finance.books import check_open, get_day
from plugins.finance.claim_records import EXPENSE_CLAIMS, PAY_CLAIM_BODY, REJECT_BODY, REVERSE_CLAIM_BODY
from plugins.finance.entering import pay
from plugins.finance.messages import NOT_DELETABLE, NOT_EDITABLE, PERIOD_CLOSED, STILL_PAID
from plugins.finance.open_items import PaymentVoucher, in_books
from plugins.finance.receipts import find_claim, number_key, refuse_invoiced
from plugins.finance.record_types import ExpenseClaim
from plugins.finance.states import CLAIM_STATES

CLAIM_NUMBERS = Numbering("finance_expense_claim_number", EXPENSE_CLAIMS.noun, "EX", EXPENSE_CLAIMS.name)
Lines = Sequence[Mapping[str, Any]]
_EDITABLE = CLAIM_STATES.allows("submit")


async def create(req: Request) -> ExpenseClaim:
    """Create a draft. Its amount is the sum of its lines."""
    lines = req.body["lines"]

    async def make(number: str) -> ExpenseClaim:
        values = {**req.body, "number": number, "amount": _sum_up(lines)}
        return await _with_receipts(
            req, lines, lambda receipts: req.store(EXPENSE_CLAIMS).create({**values, **receipts})
        )

    return await CLAIM_NUMBERS.create(req, make)


async def update(req: Request) -> ExpenseClaim:
    """Change a draft or a rejected claim."""
    values = dict(req.body)
    version = values.pop("version")
    lines = values.get("lines")
    if lines is not None:
        values["amount"] = _sum_up(lines)

    async def change(receipts: Record) -> ExpenseClaim:
        return await req.store(EXPENSE_CLAIMS).update(
            req.path["id"], {**values, **receipts}, version=version, where=_EDITABLE, reason=NOT_EDITABLE
        )

    return await (change({}) if lines is None else _with_receipts(req, lines, change, req.path["id"]))


async def restore_deleted(req: Request) -> ExpenseClaim:
    """Restore a draft or a rejected claim. Raises 40900 if one of its receipts is a supplier's invoice meanwhile."""

    async def work() -> ExpenseClaim:
        claim = await restore(req.service.database, req.store(EXPENSE_CLAIMS), req.path["id"])
        await refuse_invoiced(req, _name_receipts(claim["lines"]))
        return claim

    return await req.transaction(work)


async def _with_receipts(
    req: Request, lines: Lines, write: Callable[[Record], Awaitable[ExpenseClaim]], claim_id: str | None = None
) -> ExpenseClaim:
    """Write a claim with the keys of its receipts, which its index keeps to itself.

    Raises 40001 for a receipt that is on two lines, and 40900, which names the line, for one that another claim has, or
    that is a supplier's invoice.
    """
    fields = _name_receipts(lines)
    if not fields:
        return await write({"receipt_keys": None})

    async def work() -> ExpenseClaim:
        await _refuse_other_claims(req, fields, claim_id)
        await refuse_invoiced(req, fields)
        return await write({"receipt_keys": [*fields]})

    return await req.transaction(work)


def _name_receipts(lines: Lines) -> dict[str, str]:
    """Return the field of each receipt, by its key. Raises 40001 for a receipt that is on two lines."""
    fields: dict[str, str] = {}
    for place, line in enumerate(lines):
        if line.get("receipt_number"):
            key, field = number_key(line["receipt_number"]), f"lines[{place}].receipt_number"
            if key in fields:
                raise invalid(field, "duplicate")
            fields[key] = field
    return fields


async def _refuse_other_claims(req: Request, fields: Mapping[str, str], claim_id: str | None) -> None:
    for key, field in fields.items():
        claim = await find_claim(req, key)
        if claim is not None and str(claim["id"]) != claim_id:
            raise ApiError(DUPLICATE, data={"field": field})


async def delete(req: Request) -> None:
    """Delete a draft or a rejected claim."""
    await req.store(EXPENSE_CLAIMS).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


def _submission(step: Step[ExpenseClaim]) -> Record:
    return {"submitted_at": step.now, "submitted_by": step.by, "decided_at": None, "reason": None}


def _decision(step: Step[ExpenseClaim]) -> Record:
    return {"decided_at": step.now, "decided_by": step.by, "reason": step.reason}


async def _book(step: Step[ExpenseClaim]) -> None:
    """Book the payment of all that is still open of the claim."""
    claim = step.record
    item = await open_items.find_item(step.req, open_items.CLAIM, claim["id"])
    if item is None:  # approved before claims had open items
        item = await open_items.update_from_claim(step.service, claim, step.today)
    amount = exact(item["amount"]) - exact(item["paid"])
    await pay(step, item, amount, {"category": "reimbursement", "remark": claim["title"], "claim_id": claim["id"]})


async def _owe(step: Step[ExpenseClaim]) -> None:
    await open_items.update_from_claim(step.service, step.record, step.today)


async def _check_unpaid(step: Step[ExpenseClaim]) -> None:
    """Refuse to reverse a claim of which something is paid, and to date the reversal into a closed month."""
    item = await open_items.find_item(step.req, open_items.CLAIM, step.record["id"])
    if item is not None and exact(item["paid"]):
        raise ApiError(CONFLICT, STILL_PAID)
    await check_open(step.service, {"day": get_day(step.req)})


async def _owe_nothing(step: Step[ExpenseClaim]) -> None:
    await open_items.update_from_claim(step.service, step.record, step.record["reversed_on"] or step.today)


async def _update_paid_item(step: Step[ExpenseClaim]) -> None:
    await open_items.update_from_claim(
        step.service, step.record, step.kept[PaymentVoucher].voucher["day"] or step.today
    )


async def reopen_payment(_: Service, payload: Mapping[str, Any]) -> None:
    """Make a claim payable again after its voucher was reversed, unless the voucher belongs to a payment document."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["claim_id"] and voucher["payment_id"] is None:
        unpaid = {"paid_at": None, "voucher_id": None}
        claim = await change_state(req.system_store(EXPENSE_CLAIMS), voucher["claim_id"], "unpay", unpaid)
        await open_items.update_from_claim(req.service, claim, payload["reversal"]["day"])


async def report_owed(service: Service, payload: Mapping[str, Any]) -> None:
    """Write the open item of a claim that was approved, and perhaps paid, before claims had open items."""
    if payload["biz_type"] != open_items.CLAIM or payload["known"]:
        return
    claim = await service.database.store(EXPENSE_CLAIMS).find_one(
        {"_id": EXPENSE_CLAIMS.parse_id(payload["resource_id"])}
    )
    if claim is None or claim["status"] not in ("approved", "paid"):
        return
    decided, paid = (claim["decided_at"] or claim["updated_at"], claim["paid_at"] or claim["updated_at"])
    was: ExpenseClaim = {**claim, "status": "approved"}
    for state, at in ((was, decided), (claim, paid))[: 1 + (claim["status"] == "paid")]:
        day = day_of(at, service.settings.zone).isoformat()
        await open_items.update_from_claim(service, state, day)


def _sum_up(lines: Sequence[Mapping[str, Any]]) -> Any:
    return store_money(sum((exact(line["amount"]) for line in lines), Decimal(0)))


ROUTES: tuple[Route, ...] = (
    *crud(
        EXPENSE_CLAIMS,
        at="/api/v1/finance/expense-claims",
        resource="finance:expense-claim",
        always=("remark",),
        create=create,
        update=update,
        delete=delete,
        restore=restore_deleted,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    *transitions(
        EXPENSE_CLAIMS,
        Action(
            "POST /api/v1/finance/expense-claims/{id}/submit",
            access="finance:expense-claim:submit",
            values=_submission,
        ),
        Action(
            "POST /api/v1/finance/expense-claims/{id}/withdraw",
            access="finance:expense-claim:submit",
            summary="Withdraw an expense claim",
            values=_decision,
        ),
        Action(
            "POST /api/v1/finance/expense-claims/{id}/approve",
            access="finance:expense-claim:approve",
            values=_decision,
            after=_owe,
        ),
        Action(
            "POST /api/v1/finance/expense-claims/{id}/reject",
            access="finance:expense-claim:approve",
            body=REJECT_BODY,
            values=_decision,
        ),
        Action(
            "POST /api/v1/finance/expense-claims/{id}/pay",
            access="finance:expense-claim:pay",
            body=PAY_CLAIM_BODY,
            before=_book,
            values=lambda step: {"paid_at": step.now, "voucher_id": step.kept[PaymentVoucher].voucher["id"]},
            after=_update_paid_item,
            within=in_books,
            refusals=conflicts(PERIOD_CLOSED),
        ),
        Action(
            "POST /api/v1/finance/expense-claims/{id}/reverse",
            access="finance:expense-claim:reverse",
            summary="Reverse a claim that was approved by mistake",
            body=REVERSE_CLAIM_BODY,
            before=_check_unpaid,
            values=lambda step: {"reason": step.reason, "reversed_on": get_day(step.req), "receipt_keys": None},
            after=_owe_nothing,
            refusals=conflicts(STILL_PAID, PERIOD_CLOSED),
        ),
        approval=Approval(),
    ),
)
