"""Open items: what is owed for a document, by customers or to suppliers."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, array, boolean, choice, day, money, obj, service_fields, text
from plugins.api.business import payment_terms
from plugins.finance.books.records import COUNTERPARTY, CUSTOMER, SUPPLIER
from plugins.finance.record_types import OpenItem
from plugins.finance.states import OPEN_ITEM_STATES

_SUM = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True, filter=True)

_PART = obj(
    "OpenItemPart",
    {
        "due_on": day(label=("到期日", "Due date"), nullable=False),
        "amount": money(label=("金额", "Amount"), nullable=False),
        "paid": money(label=("已结算金额", "Paid"), nullable=False),
    },
)

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
