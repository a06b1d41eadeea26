"""What is open for documents, and the payments that settle it."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
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
from plugins.api.business import (
    RATES_TABLE,
    base_amount,
    currency,
    currency_fields,
    discount_fields,
    rate,
    terms_fields,
)
from plugins.api.records import Numbering
from plugins.finance.messages import ACCOUNT_USED
from plugins.finance.record_types import Adjustment, FinancePayment, OpenItem
from plugins.finance.records import ACCOUNTS, CATEGORY, COUNTERPARTY, CUSTOMER, MAX_AMOUNT, REMARK, SUM, SUPPLIER
from plugins.finance.states import OPEN_ITEM_STATES, PAYMENT_STATES

_PART = obj(
    "OpenItemPart",
    {
        "due_on": day(label=("到期日", "Due date"), nullable=False),
        "amount": money(label=("金额", "Amount"), nullable=False),
        "paid": money(label=("已结算金额", "Paid"), nullable=False),
    },
)

SHOWN_OF_ITEMS = ("number", "status", "counterparty", "day", "due_on", "currency", "amount", "invoiced", "paid")
OPEN_ITEMS: Collection[OpenItem] = Collection(
    name="finance_open_items",
    title="OpenItem",
    noun=Message("应收应付款项", "open item"),
    scoped=True,
    fields={
        **service_fields(
            direction=choice(
                "in", "out", label=("款项方向", "Direction"), description="`out`: a receivable; `in`: a payable."
            ),
            biz_type=text(label=("业务类型", "Business type"), max_length=64, filter=True, example="CONTRACT"),
            resource_id=text(label=("来源单据", "Source record"), max_length=100, filter=True),
        ),
        "number": text(
            label=("单据编号", "Document number"), max_length=64, read_only=True, sort=True, filter=True, search=True
        ),
        "counterparty": COUNTERPARTY.but(read_only=True),
        "customer_id": CUSTOMER.but(read_only=True, description=None),
        "supplier_id": SUPPLIER.but(read_only=True, description=None),
        "day": day(label=("发生日期", "Date"), read_only=True, filter=True, sort=True, description="When it arose."),
        "booked_on": day(
            label=("入账日期", "Booked on"),
            read_only=True,
            description="From which day on it counts: `day`, or the first open day after it if its month was closed.",
        ),
        "amount": SUM.but(
            description="What is owed: `document_amount` and `billed_ahead`, less what credit notes and adjustments take off."
        ),
        "document_amount": money(
            label=("单据金额", "Document amount"),
            read_only=True,
            description="What the contract or the delivered goods come to by themselves; null for other records.",
        ),
        "undelivered": money(
            label=("未交付金额", "Undelivered"),
            read_only=True,
            history=False,
            description="What is still to come of an order; invoices may bill it ahead.",
        ),
        "billed_ahead": money(
            label=("提前开票金额", "Billed ahead"),
            read_only=True,
            history=False,
            description="What invoices bill of goods that are still to come: it is owed already.",
        ),
        "net": money(
            label=("可开票不含税金额", "Net to invoice"),
            read_only=True,
            history=False,
            description="What invoices may bill without tax; null: not known.",
        ),
        "tax": money(
            label=("可开票税额", "Tax to invoice"),
            read_only=True,
            history=False,
            description="What invoices may bill as tax; null: not known.",
        ),
        "invoiced": money(
            label=("已开票金额", "Invoiced"), read_only=True, description="The sum of the invoices that bill it."
        ),
        "credited": money(
            label=("已红冲金额", "Credited"), read_only=True, description="The credit notes of these invoices."
        ),
        "returned": money(
            label=("已退货金额", "Returned"),
            read_only=True,
            history=False,
            description="Goods that came back, with tax.",
        ),
        "credited_returns": money(
            label=("已红冲退货金额", "Credited returns"),
            read_only=True,
            history=False,
            description="What the credit notes credit of the goods that came back: it is not owed by the document already.",
        ),
        "adjusted": money(
            label=("已调整金额", "Adjusted"),
            read_only=True,
            description="By how much adjustments lowered it: rebates, cash discounts, write-offs, charges and differences.",
        ),
        "paid": SUM.but(label=("已结算金额", "Paid"), description="How much of the amount is paid."),
        **{name: field.but(read_only=True) for name, field in currency_fields().items()},
        "base_amount": base_amount(),
        "base_paid": money(
            label=("本位币已结算金额", "Paid in own currency"),
            read_only=True,
            only_with=RATES_TABLE,
            description="How much of `base_amount` is settled, by the rate of the item.",
        ),
        "due_on": day(
            label=("到期日", "Due date"),
            read_only=True,
            filter=True,
            sort=True,
            description="When the next payment is due.",
        ),
        **{
            name: field.but(read_only=True)
            for name, field in terms_fields(
                days="How many days after a shipment, or an invoice, its payment is due; null: not agreed."
            ).items()
        },
        **{
            name: field.but(description=f"{field.description} Of an order, that of its last invoice with one.")
            for name, field in discount_fields().items()
        },
        "schedule": array(
            _PART,
            label=("收付款计划", "Payment schedule"),
            max_items=1000,
            read_only=True,
            description="Which amounts are due on which days, if that is agreed.",
        ),
        "status": OPEN_ITEM_STATES.choice(label=("结算状态", "Status"), filter=True, sort=True),
        "paid_elsewhere": boolean(
            label=("在来源单据收付", "Paid at the source"),
            read_only=True,
            nullable=False,
            description="Whether payments are entered in the source record.",
        ),
    },
    indexes=(
        Index("biz_type", "resource_id", unique=True),
        Index("direction", "status", "due_on"),
        Index("resource_id"),
        Index("day"),
        Index("customer_id", "day"),
        Index("customer_id", "billed_ahead", where={"billed_ahead": {"$gt": 0}}),
        Index("customer_id", "status", where={"currency": {"$type": "string"}}),
        Index("supplier_id", "day"),
    ),
    internal=("billings",),
    states=OPEN_ITEM_STATES,
)


MAX_ALLOCATIONS = 1000
_TOTAL = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True)

_ITEM = object_id(label=("应收应付款项", "Open item"), required=True, ref=OPEN_ITEMS.name, on_delete="keep")
_ALLOCATED = money(label=("金额", "Amount"), minimum="0.01", maximum=MAX_AMOUNT, required=True, example="60.00")
_REASON = text(label=("原因", "Reason"), max_length=500, example="核销到了错误的单据")

ALLOCATION = obj(
    "Allocation",
    {
        "open_item_id": _ITEM,
        "amount": _ALLOCATED,
        "day": day(label=("日期", "Date"), read_only=True, description="When it was allocated."),
    },
)

TAKEN_BACK = obj(
    "AllocationTakenBack",
    {
        "open_item_id": _ITEM,
        "amount": _ALLOCATED,
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
            labelled_by="finance_payment_direction",
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
        "currency": currency().but(description="That of what it settles, or else of the account, unless given."),
        "rate": rate(),
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
            allocated=_TOTAL.but(label=("已核销金额", "Allocated")),
            unallocated=_TOTAL.but(
                label=("未核销金额", "Unallocated"), description="Neither allocated nor paid back.", filter=True
            ),
            repaid=_TOTAL.but(label=("已退回金额", "Paid back"), sort=False),
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
        Index("taken_back.open_item_id", where={"taken_back.open_item_id": {"$type": "objectId"}}),
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
    amount=_ALLOCATED.but(required=False, description="All that the payment allocates to the item unless given."),
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

ADJUSTMENT_KINDS = ("rebate", "cash_discount", "write_off", "charge", "difference")
_ADJUSTMENT_KIND = choice(
    *ADJUSTMENT_KINDS,
    label=("调整类型", "Kind of adjustment"),
    description="`rebate`: after delivery; `cash_discount`: for paying early; `write_off`: given up; `charge`: what the bank "
    "took off; `difference`: of cents.",
)
_ADJUSTMENT_REASON = text(label=("原因", "Reason"), max_length=1000, example="质量折让")

ADJUSTMENTS: Collection[Adjustment] = Collection(
    name="finance_adjustments",
    title="Adjustment",
    noun=Message("款项调整", "adjustment"),
    scoped=True,
    fields={
        "number": text(
            label=("单据编号", "Document number"),
            max_length=32,
            read_only=True,
            nullable=False,
            sort=True,
            filter=True,
            search=True,
            example="AJ-00000001",
        ),
        **service_fields(
            direction=choice(
                "in", "out", label=("款项方向", "Direction"), filter=True, description="That of the open item."
            ),
            kind=_ADJUSTMENT_KIND.but(filter=True),
            day=day(label=("日期", "Date"), filter=True, sort=True),
            amount=money(
                label=("金额", "Amount"),
                sort=True,
                filter=True,
                description="How much less is owed; below zero in a reversal.",
            ),
        ),
        "open_item_id": object_id(
            label=("应收应付款项", "Open item"), read_only=True, ref=OPEN_ITEMS.name, filter=True
        ),
        **{name: field.but(read_only=True) for name, field in currency_fields().items()},
        "document_number": text(label=("来源单据编号", "Number of the document"), max_length=64, read_only=True),
        "counterparty": COUNTERPARTY.but(read_only=True),
        "customer_id": CUSTOMER.but(read_only=True, description=None),
        "supplier_id": SUPPLIER.but(read_only=True, description=None),
        "reason": _ADJUSTMENT_REASON.but(read_only=True, search=True),
        "reverses_id": object_id(label=("被冲销调整", "Reverses"), read_only=True, ref="finance_adjustments"),
        "reversed_by_id": object_id(label=("冲销单据", "Reversed by"), read_only=True, ref="finance_adjustments"),
    },
    indexes=(Index("number", unique=True), Index("open_item_id"), Index("day"), Index("counterparty")),
)

ADJUST_BODY = shape(
    "AdjustBody",
    kind=_ADJUSTMENT_KIND.but(required=True, nullable=False),
    amount=money(
        minimum="0.01", maximum=MAX_AMOUNT, required=True, nullable=False, description="Not more than is open."
    ),
    day=day(past=True, description="Today unless given; not before the item was owed."),
    reason=_ADJUSTMENT_REASON,
)
REVERSE_ADJUSTMENT_BODY = shape(
    "ReverseAdjustmentBody",
    day=day(past=True, description="Today unless given; not before the adjustment."),
    reason=_ADJUSTMENT_REASON,
)

# this format describes the number of the voucher, which a payment takes unless another format is set
PAYMENT_NUMBERS = Numbering(
    "finance_payment_number", PAYMENTS.noun, "PY", "finance:PY", "{prefix}-{yyyy}-{MM}-{seq:6}", gapless=True
)
