"""Payments: money that came in or went out, and the open items that it settles."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    choice,
    day,
    money,
    obj,
    object_id,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.records import Numbering
from plugins.finance.books.records import ACCOUNTS, CATEGORY, COUNTERPARTY, CUSTOMER, MAX_AMOUNT, REMARK, SUPPLIER
from plugins.finance.messages import ACCOUNT_USED
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.record_types import FinancePayment
from plugins.finance.states import PAYMENT_STATES

MAX_ALLOCATIONS = 1000
_SUM = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True)

_ITEM = object_id(label=("应收应付款项", "Open item"), required=True, ref=OPEN_ITEMS.name, on_delete="keep")
_PART = money(label=("金额", "Amount"), minimum="0.01", maximum=MAX_AMOUNT, required=True, example="60.00")
_REASON = text(label=("原因", "Reason"), max_length=500, example="核销到了错误的单据")

ALLOCATION = obj(
    "Allocation",
    {
        "open_item_id": _ITEM,
        "amount": _PART,
        "day": day(label=("日期", "Date"), read_only=True, description="When it was allocated."),
    },
)

TAKEN_BACK = obj(
    "AllocationTakenBack",
    {
        "open_item_id": _ITEM,
        "amount": _PART,
        "day": day(label=("日期", "Date"), description="When it was allocated."),
        "taken_back_on": day(label=("撤销日期", "Taken back on")),
        "reason": _REASON,
    },
)

PAYMENTS: Collection[FinancePayment] = Collection(
    name="finance_payments",
    title="FinancePayment",
    noun=Message("收付款单", "payment"),
    scoped=True,
    fields={
        "number": text(
            label=("收付款单号", "Payment number"),
            max_length=32,
            read_only=True,
            nullable=False,
            sort=True,
            search=True,
            example="PY-2026-11-000001",
            description="In the format of the setting `finance_payment_number`; by default, the number of its voucher.",
        ),
        "direction": choice(
            "in",
            "out",
            label=("收付方向", "Direction"),
            required=True,
            filter=True,
            description="`in`: money comes in and settles receivables; `out`: it goes out and settles payables.",
        ),
        "account_id": object_id(
            label=("账户", "Account"), required=True, ref=ACCOUNTS.name, held=ACCOUNT_USED, filter=True
        ),
        "customer_id": CUSTOMER.but(
            description="The customer who pays or is paid back; a payment has a customer or a supplier, not both."
        ),
        "supplier_id": SUPPLIER.but(description="The supplier who is paid or pays back."),
        "counterparty": COUNTERPARTY.but(
            filter=False,
            description="Unless given, that of the customer or supplier, or of what the payment settles or pays back.",
        ),
        "amount": money(
            label=("金额", "Amount"),
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            sort=True,
            example="100.00",
        ),
        "day": day(label=("业务日期", "Date"), past=True, filter=True, sort=True, description="Today unless given."),
        "method": text(
            dictionary="finance_payment_method",
            label=("收付方式", "Payment method"),
            max_length=32,
            example="transfer",
        ),
        "reference": text(
            label=("外部流水号", "Reference"),
            max_length=100,
            search=True,
            description="The reference of the bank or of the other party.",
        ),
        "category": CATEGORY.but(filter=False, description="The category of its voucher."),
        "remark": REMARK,
        "allocations": array(
            ALLOCATION,
            label=("核销明细", "Allocations"),
            max_items=100,
            description="The open items that the payment settles; the rest is an advance.",
        ),
        "taken_back": array(
            TAKEN_BACK,
            label=("已撤销的核销", "Allocations taken back"),
            read_only=True,
            description="What the payment settled until the allocation was taken back.",
        ),
        "repays_id": object_id(
            label=("退回的预收预付款", "Repaid advance"),
            ref="finance_payments",
            on_delete="keep",
            filter=True,
            description="The payment of the other direction whose advance this one pays back; it then has no "
            "allocations.",
        ),
        **service_fields(
            allocated=_SUM.but(label=("已核销金额", "Allocated")),
            unallocated=_SUM.but(label=("未核销金额", "Unallocated"), description="Neither allocated nor paid back."),
            repaid=_SUM.but(label=("已退回金额", "Paid back"), sort=False),
        ),
        "status": PAYMENT_STATES.choice(label=("单据状态", "Status"), filter=True),
        "voucher_id": object_id(label=("凭证", "Voucher"), read_only=True, ref="finance_vouchers"),
        "reversal_voucher_id": object_id(
            label=("冲销凭证", "Reversal voucher"), read_only=True, ref="finance_vouchers"
        ),
        "reversed_on": day(label=("冲销日期", "Reversed on"), read_only=True),
        "reversed_at": timestamp(label=("冲销时间", "Reversed at"), read_only=True),
        "reason": text(label=("冲销原因", "Reason"), max_length=500, read_only=True),
        "biz_type": text(
            label=("业务类型", "Business type"),
            max_length=64,
            read_only=True,
            description="The business type of the record with which it was entered.",
        ),
        "resource_id": text(label=("来源单据", "Source record"), max_length=100, read_only=True, filter=True),
    },
    indexes=(
        Index("number", unique=True),
        Index("account_id", "-day"),
        Index("customer_id", "day"),
        Index("supplier_id", "day"),
        Index("direction", "status", "day"),
        Index("day"),
        Index("allocations.open_item_id"),
        Index("repays_id"),
        Index("resource_id"),
    ),
    states=PAYMENT_STATES,
)

ALLOCATE_BODY = shape(
    "AllocateBody",
    allocations=array(ALLOCATION, min_items=1, max_items=100, required=True, nullable=False),
    day=day(past=True, description="Today unless given; not before the payment."),
)

TAKE_BACK_BODY = shape(
    "TakeBackBody",
    open_item_id=_ITEM.but(nullable=False),
    amount=_PART.but(required=False, description="All that the payment allocates to the item unless given."),
    day=day(past=True, description="Today unless given; not before the allocation."),
    reason=_REASON,
)

CREDIT_ITEMS_BODY = shape(
    "CreditItemsBody",
    allocations=array(ALLOCATION, min_items=1, max_items=100, required=True, nullable=False),
    day=day(past=True, description="Today unless given; not before it was paid."),
    reason=_REASON,
)

REVERSE_PAYMENT_BODY = shape(
    "ReversePaymentBody",
    day=day(past=True, description="Today unless given."),
    reason=text(max_length=500, example="重复登记"),
)

# this format describes the number of the voucher, which a payment takes unless another format is set
PAYMENT_NUMBERS = Numbering(
    "finance_payment_number", PAYMENTS.noun, "PY", "finance:PY", "{prefix}-{yyyy}-{MM}-{seq:6}", gapless=True
)
