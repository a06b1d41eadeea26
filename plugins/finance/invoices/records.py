"""Invoices, sent and received, and the credit notes that take them back, or a part of them."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, choice, day, money, object_id, service_fields, shape, text
from plugins.api.fields import record_code
from plugins.finance.books.records import (
    ACCOUNTS,
    CATEGORY,
    COUNTERPARTY,
    CUSTOMER,
    MAX_AMOUNT,
    REFERENCE,
    REMARK,
    SUPPLIER,
)
from plugins.finance.record_types import CreditNote, Invoice
from plugins.finance.states import INVOICE_STATES

_SUM = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True, filter=True)

INVOICES: Collection[Invoice] = Collection(
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

PAY_INVOICE_BODY = shape(
    "PayInvoiceBody",
    account_id=object_id(required=True, ref=ACCOUNTS.name),
    amount=money(minimum="0.01", maximum=MAX_AMOUNT, description="The whole open amount unless given."),
    day=day(past=True, description="Today unless given."),
)


_REASON = text(label=("原因", "Reason"), max_length=1000, example="数量开错")
_AMOUNT = money(label=("不含税金额", "Net amount"), sort=True, filter=True, description="Without tax.")

CREDIT_NOTES: Collection[CreditNote] = Collection(
    name="finance_credit_notes",
    title="CreditNote",
    noun=Message("红字发票", "credit note"),
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
            example="CN-00000001",
        ),
        **service_fields(
            invoice_id=object_id(label=("发票", "Invoice"), ref=INVOICES.name, filter=True),
            direction=choice(
                "in", "out", label=("发票方向", "Direction"), filter=True, description="The direction of the invoice."
            ),
            day=day(label=("开票日期", "Date"), filter=True, sort=True),
            amount=_AMOUNT,
            tax=money(label=("税额", "Tax")),
            total=_AMOUNT.but(
                label=("价税合计", "Total"), description="`amount` plus `tax`: how much less is owed for the invoice."
            ),
        ),
        "counterparty": COUNTERPARTY.but(read_only=True),
        "reason": _REASON.but(read_only=True, search=True),
        "reverses_id": object_id(
            label=("被冲销红字发票", "Reverses"),
            read_only=True,
            ref="finance_credit_notes",
            description="The credit note that this one reverses; its amounts are then negative.",
        ),
        "reversed_by_id": object_id(label=("冲销单据", "Reversed by"), read_only=True, ref="finance_credit_notes"),
    },
    indexes=(
        Index("number", unique=True),
        Index("invoice_id"),
        Index("day"),
        Index("direction", "day"),
        Index("counterparty"),
    ),
)

_DAY = day(past=True, description="Today unless given.")
CREDIT_BODY = shape(
    "CreditInvoiceBody",
    amount=money(
        minimum="0.01", maximum=MAX_AMOUNT, example="20.00", description="Without tax; all that is left unless given."
    ),
    tax=money(minimum="0", maximum=MAX_AMOUNT, description="Zero unless given; without an amount, all that is left."),
    day=_DAY,
    reason=_REASON,
)
REVERSE_NOTE_BODY = shape("ReverseCreditNoteBody", day=_DAY, reason=_REASON)
