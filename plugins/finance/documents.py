"""Expense claims and invoices."""

from __future__ import annotations

from plugins.api import Collection, Index, array, boolean, choice, day, integer, money, obj, object_id, text, timestamp
from plugins.finance.records import ACCOUNTS, CATEGORY, COUNTERPARTY, MAX_AMOUNT, REMARK
from plugins.finance.states import CLAIM_STATES, INVOICE_STATES

_SUM = money(read_only=True, nullable=False, sort=True, filter=True)
_VERSION = integer(minimum=1, description="Checked when given.")

CLAIM_LINE = obj(
    "ExpenseLine",
    {
        "day": day(past=True, required=True, example="2026-11-18"),
        "category": text(required=True, max_length=64, example="travel"),
        "amount": money(minimum="0.01", maximum=MAX_AMOUNT, required=True, example="86.50"),
        "description": text(max_length=500),
    },
)

EXPENSE_CLAIMS = Collection(
    name="finance_expense_claims",
    title="ExpenseClaim",
    scoped=True,
    fields={
        "number": text(max_length=32, read_only=True, nullable=False, sort=True, filter=True, search=True),
        "title": text(required=True, max_length=200, sort="folded", search=True, example="上海出差"),
        "lines": array(CLAIM_LINE, min_items=1, max_items=100, required=True),
        "amount": _SUM,
        "status": choice(*CLAIM_STATES.states, read_only=True, nullable=False, filter=True, sort=True),
        "submitted_at": timestamp(read_only=True),
        "submitted_by": integer(read_only=True),
        "decided_at": timestamp(read_only=True),
        "decided_by": integer(minimum=0, read_only=True),
        "reason": text(max_length=500, read_only=True),
        "paid_at": timestamp(read_only=True),
        "voucher_id": object_id(read_only=True),
        "remark": REMARK,
    },
    indexes=(Index("number", unique=True), Index("status", "-created_at")),
)

INVOICES = Collection(
    name="finance_invoices",
    title="Invoice",
    scoped=True,
    fields={
        "direction": choice(
            "in", "out", required=True, filter=True, description="`in`: to be paid; `out`: to receive."
        ),
        "number": text(
            required=True, max_length=64, sort=True, filter=True, search=True, example="24312000000012345678"
        ),
        "counterparty": COUNTERPARTY.but(required=True, nullable=False, rules={**COUNTERPARTY.rules, "minLength": 1}),
        "day": day(filter=True, sort=True, description="Today unless given."),
        "due_on": day(filter=True, sort=True),
        "amount": money(
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            sort=True,
            filter=True,
            example="1000.00",
            description="Without tax.",
        ),
        "tax": money(minimum="0", maximum=MAX_AMOUNT, default="0.00", nullable=False, example="130.00"),
        "total": _SUM.but(description="`amount` and `tax`."),
        "paid": _SUM.but(description="Of the total."),
        "open_item_id": object_id(
            ref="finance_open_items",
            filter=True,
            description="The receivable or payable of a contract or an order that it bills: "
            "paid there, and no further one.",
        ),
        "status": choice(*INVOICE_STATES.states, read_only=True, nullable=False, filter=True, sort=True),
        "category": CATEGORY,
        "remark": REMARK,
    },
    indexes=(
        # the last is the field that a duplicate names
        Index("counterparty", "number", unique=True),
        Index("number"),
        Index("direction", "status", "due_on"),
        Index("day"),
    ),
)

_PART = obj(
    "OpenItemPart", {"due_on": day(nullable=False), "amount": money(nullable=False), "paid": money(nullable=False)}
)

OPEN_ITEMS = Collection(
    name="finance_open_items",
    title="OpenItem",
    scoped=True,
    fields={
        "direction": choice(
            "in", "out", read_only=True, nullable=False, description="`out`: a receivable; `in`: a payable."
        ),
        "biz_type": text(max_length=64, read_only=True, nullable=False, filter=True, example="CONTRACT"),
        "resource_id": text(max_length=100, read_only=True, nullable=False, filter=True),
        "number": text(max_length=64, read_only=True, sort=True, filter=True, search=True),
        "counterparty": COUNTERPARTY.but(read_only=True),
        "amount": _SUM,
        "paid": _SUM.but(description="Of the amount."),
        "due_on": day(read_only=True, filter=True, sort=True, description="Of the next payment."),
        "schedule": array(
            _PART, max_items=1000, read_only=True, description="What is to be paid by when, where it is agreed."
        ),
        "status": choice("open", "partly_paid", "paid", "void", read_only=True, nullable=False, filter=True, sort=True),
        "paid_elsewhere": boolean(
            read_only=True, nullable=False, description="Payments are entered where it comes from."
        ),
    },
    indexes=(
        Index("biz_type", "resource_id", unique=True),
        Index("direction", "status", "due_on"),
        Index("resource_id"),
    ),
)

PAY_CLAIM_BODY = obj(
    "PayExpenseBody",
    {
        "account_id": object_id(required=True, ref=ACCOUNTS.name),
        "day": day(past=True, description="Today unless given."),
        "version": _VERSION,
    },
    nullable=False,
)

PAY_INVOICE_BODY = obj(
    "PayInvoiceBody",
    {
        "account_id": object_id(required=True, ref=ACCOUNTS.name),
        "amount": money(minimum="0.01", maximum=MAX_AMOUNT, description="All that is open unless given."),
        "day": day(past=True, description="Today unless given."),
        "version": _VERSION,
    },
    nullable=False,
)

REJECT_BODY = obj("RejectBody", {"reason": text(max_length=500)}, nullable=False)
