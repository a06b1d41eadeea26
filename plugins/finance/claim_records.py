"""Expense claims."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    day,
    integer,
    money,
    obj,
    object_id,
    record_name,
    shape,
    text,
    timestamp,
)
from plugins.finance.e_invoice_marks import KEPT
from plugins.finance.record_types import ExpenseClaim
from plugins.finance.records import ACCOUNTS, MAX_AMOUNT, REMARK, SUM
from plugins.finance.states import CLAIM_STATES

CLAIM_LINE = obj(
    "ExpenseLine",
    {
        "day": day(label=("发生日期", "Date"), past=True, required=True, example="2026-11-18"),
        "category": text(
            label=("费用类别", "Category"),
            required=True,
            max_length=64,
            labelled_by="finance_category",
            description="Your own word, or one of the dictionary `finance_category`.",
            example="travel",
        ),
        "amount": money(label=("金额", "Amount"), minimum="0.01", maximum=MAX_AMOUNT, required=True, example="86.50"),
        "description": text(label=("费用说明", "Description"), max_length=500),
        "receipt_number": text(
            label=("发票号码", "Receipt number"),
            max_length=64,
            description="Of the invoice or receipt. In the company it is claimed once, however it is written, until its claim "
            "is deleted or reversed.",
            example="24312000000000000001",
        ),
    },
)

EXPENSE_CLAIMS: Collection[ExpenseClaim] = Collection(
    name="finance_expense_claims",
    title="ExpenseClaim",
    noun=Message("报销单", "expense claim"),
    scoped=True,
    fields={
        "number": text(
            label=("报销单号", "Claim number"),
            max_length=32,
            read_only=True,
            nullable=False,
            sort=True,
            filter=True,
            search=True,
        ),
        "title": record_name(label=("报销事由", "Purpose"), example="上海出差"),
        "lines": array(CLAIM_LINE, label=("费用明细", "Expense lines"), min_items=1, max_items=100, required=True),
        "amount": SUM,
        "status": CLAIM_STATES.choice(label=("单据状态", "Status"), filter=True, sort=True),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "decided_at": timestamp(label=("审批时间", "Decided at"), read_only=True),
        "decided_by": integer(label=("审批人", "Decided by"), minimum=0, read_only=True, ref="users"),
        "reason": text(label=("驳回或冲销原因", "Reason"), max_length=500, read_only=True),
        "reversed_on": day(
            label=("冲销日期", "Reversed on"),
            read_only=True,
            description="From this day on, nothing is owed for the claim.",
        ),
        "paid_at": timestamp(label=("付款时间", "Paid at"), read_only=True),
        "voucher_id": object_id(label=("付款凭证", "Voucher"), read_only=True, ref="finance_vouchers"),
        **KEPT,
        "remark": REMARK,
    },
    indexes=(
        Index("number", unique=True),
        Index("status", "-created_at"),
        Index("receipt_keys", unique=True, where={"receipt_keys": {"$type": "string"}}),
    ),
    internal=("receipt_keys",),
    states=CLAIM_STATES,
    dated="created_at",
)

PAY_CLAIM_BODY = shape(
    "PayExpenseBody",
    account_id=object_id(required=True, ref=ACCOUNTS.name),
    day=day(past=True, description="Today unless given."),
)

REVERSE_CLAIM_BODY = shape(
    "ReverseClaimBody",
    day=day(past=True, description="Today unless given."),
    reason=text(max_length=500, example="重复报销"),
)

REJECT_BODY = shape("RejectBody", reason=text(max_length=500))
