"""Credit notes: documents that take an invoice back, or a part of it."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, choice, day, money, object_id, service_fields, shape, text
from plugins.finance.documents import INVOICES
from plugins.finance.records import COUNTERPARTY, MAX_AMOUNT

_REASON = text(label=("原因", "Reason"), max_length=1000, example="数量开错")
_AMOUNT = money(label=("不含税金额", "Net amount"), sort=True, filter=True, description="Without tax.")

CREDIT_NOTES = Collection(
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
