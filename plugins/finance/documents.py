"""Expense claims, invoices and open items."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
    choice,
    day,
    integer,
    money,
    obj,
    object_id,
    payment_terms,
    record_code,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.finance.records import ACCOUNTS, CATEGORY, COUNTERPARTY, MAX_AMOUNT, REFERENCE, REMARK
from plugins.finance.states import CLAIM_STATES, INVOICE_STATES, OPEN_ITEM_STATES

_SUM = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True, filter=True)

CLAIM_LINE = obj(
    "ExpenseLine",
    {
        "day": day(label=("发生日期", "Date"), past=True, required=True, example="2026-11-18"),
        "category": text(label=("费用类别", "Category"), required=True, max_length=64, example="travel"),
        "amount": money(label=("金额", "Amount"), minimum="0.01", maximum=MAX_AMOUNT, required=True, example="86.50"),
        "description": text(label=("费用说明", "Description"), max_length=500),
    },
)

EXPENSE_CLAIMS = Collection(
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
        "amount": _SUM,
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
        "remark": REMARK,
    },
    indexes=(Index("number", unique=True), Index("status", "-created_at")),
    states=CLAIM_STATES,
)

CUSTOMER = object_id(
    label=("客户", "Customer"),
    ref="crm_customers",
    ref_optional=True,
    filter=True,
    description="Must exist if the plugin `crm` is loaded.",
)
SUPPLIER = object_id(
    label=("供应商", "Supplier"),
    ref="inventory_suppliers",
    ref_optional=True,
    filter=True,
    description="Must exist if the plugin `inventory` is loaded.",
)

INVOICES = Collection(
    name="finance_invoices",
    title="Invoice",
    noun=Message("发票", "invoice"),
    scoped=True,
    fields={
        "direction": choice(
            "in",
            "out",
            label=("发票方向", "Direction"),
            required=True,
            filter=True,
            description="`in`: received, to be paid; `out`: sent, to be collected.",
        ),
        "number": record_code(label=("发票号码", "Invoice number"), example="24312000000012345678"),
        "counterparty": COUNTERPARTY.but(
            required=True,
            nullable=False,
            rules={**COUNTERPARTY.rules, "minLength": 1},
            description="With `open_item_id` it is that of the item.",
        ),
        "customer_id": CUSTOMER.but(description="Only for invoices that are sent."),
        "supplier_id": SUPPLIER.but(description="Only for invoices that are received."),
        "day": day(label=("开票日期", "Invoice date"), filter=True, sort=True, description="Today unless given."),
        "due_on": day(
            label=("到期日", "Due date"),
            filter=True,
            sort=True,
            description=(
                "Unless given, by the payment terms of the customer or supplier; none without terms. "
                "In a draft it follows them when the day or the customer or supplier changes."
            ),
        ),
        "amount": money(
            label=("不含税金额", "Net amount"),
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            sort=True,
            filter=True,
            example="1000.00",
            description="Without tax.",
        ),
        "tax": money(
            label=("税额", "Tax"), minimum="0", maximum=MAX_AMOUNT, default="0.00", nullable=False, example="130.00"
        ),
        "total": _SUM.but(label=("价税合计", "Total"), description="`amount` plus `tax`."),
        "paid": _SUM.but(label=("已结算金额", "Paid"), description="How much of the total is paid."),
        "credited": money(
            label=("已红冲金额", "Credited"),
            read_only=True,
            description="How much of the total is not owed because of credit notes.",
        ),
        "credited_tax": money(
            label=("已红冲税额", "Credited tax"), read_only=True, description="How much of the credited amount is tax."
        ),
        "open_item_id": object_id(
            label=("应收应付款项", "Open item"),
            ref="finance_open_items",
            on_delete="keep",
            filter=True,
            description="The receivable or payable of a contract or an order that the invoice bills. It is paid "
            "there, and the invoice adds none of its own.",
        ),
        "status": INVOICE_STATES.choice(label=("发票状态", "Status"), filter=True, sort=True),
        "category": CATEGORY,
        "reference": REFERENCE,
        "remark": REMARK,
    },
    indexes=(
        # the last field is the one that the error for a duplicate names
        Index("counterparty", "number", unique=True),
        Index("party_key", "number_key", unique=True, where={"number_key": {"$type": "string"}}),
        Index("number"),
        Index("direction", "status", "due_on"),
        Index("reference", where={"reference": {"$type": "string"}}),
        Index("day"),
        Index("open_item_id", "day"),
    ),
    internal=("party_key", "number_key"),
    states=INVOICE_STATES,
)

_PART = obj(
    "OpenItemPart",
    {
        "due_on": day(label=("到期日", "Due date"), nullable=False),
        "amount": money(label=("金额", "Amount"), nullable=False),
        "paid": money(label=("已结算金额", "Paid"), nullable=False),
    },
)
OPEN_ITEMS = Collection(
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
        "amount": _SUM.but(
            description="What is owed: `document_amount` and `billed_ahead`, less what credit notes take off."
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
        "paid": _SUM.but(label=("已结算金额", "Paid"), description="How much of the amount is paid."),
        "due_on": day(
            label=("到期日", "Due date"),
            read_only=True,
            filter=True,
            sort=True,
            description="When the next payment is due.",
        ),
        "terms_days": payment_terms(
            read_only=True, description="How many days after a shipment its payment is due; null: not agreed."
        ),
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
        Index("supplier_id", "day"),
    ),
    internal=("billings",),
    states=OPEN_ITEM_STATES,
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

PAY_INVOICE_BODY = shape(
    "PayInvoiceBody",
    account_id=object_id(required=True, ref=ACCOUNTS.name),
    amount=money(minimum="0.01", maximum=MAX_AMOUNT, description="The whole open amount unless given."),
    day=day(past=True, description="Today unless given."),
)

REJECT_BODY = shape("RejectBody", reason=text(max_length=500))
