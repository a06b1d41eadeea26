"""What of finance is printed."""

from __future__ import annotations

from dataclasses import replace

from plugins.api import Message, Record, Request, invalid, shape
from plugins.api.reports import Printable
from plugins.finance import dunning, statements
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.entries import ENTRIES
from plugins.finance.payment_records import PAYMENTS
from plugins.finance.records import CREDIT_NOTES, INVOICES, VOUCHERS

_AT = "/api/v1/finance"
_MOST_LINES = 1000
_SUMS = ("amount", "tax", "total")
_APPROVED, _CASHIER = Message("审核", "Approved by"), Message("出纳", "Cashier")


async def _read_statement(req: Request) -> Record:
    """Return a whole statement. Raises 40001 if it has more lines than one paper takes."""
    whole = await statements.read_statement(replace(req, query={**req.query, "page_size": _MOST_LINES}))
    if whole["next_cursor"] is not None:
        raise invalid("from", "maxItems")
    return whole


async def _read_dunning(req: Request) -> Record:
    """Return what one customer has past due; nothing may be."""
    listed = await dunning.list_overdue(replace(req, query={"page": 1, "page_size": 1, **req.query}))
    nothing = {"customer_id": req.query["customer_id"], "amount": listed["amount"], "days_overdue": 0, "items": []}
    return {**(listed["items"] or [nothing])[0], "day": listed["day"]}


PRINTS = (
    Printable(
        "invoice",
        Message("发票", "Invoice"),
        f"{_AT}/invoices/{{id}}",
        "finance:invoice:read",
        INVOICES,
        number="number",
        total="total",
        party=("counterparty", "vat_number", "billing_address"),
        facts=(
            *("direction", "kind", "day", "currency", "due_on", "terms_from", "instalments"),
            *("discount_percent", "discount_until", "discount_amount"),
            *("category", "reference", "open_item_id", "delivery_address"),
        ),
        lines="lines",
        columns=("product_id", "description", "reference", "quantity", "price", "discount", "tax_rate", "net"),
        totals=_SUMS,
        notes=("remark",),
    ),
    Printable(
        "credit-note",
        Message("红字发票", "Credit note"),
        f"{_AT}/credit-notes/{{id}}",
        "finance:credit-note:read",
        CREDIT_NOTES,
        number="number",
        total="total",
        party=("counterparty",),
        facts=("direction", "day", "currency", "invoice_id"),
        lines="lines",
        columns=("product_id", "description", "quantity", "tax_rate", "net", "tax"),
        totals=_SUMS,
        notes=("reason",),
    ),
    Printable(
        "receipt",
        Message("收付款单", "Receipt"),
        f"{_AT}/payments/{{id}}",
        "finance:payment:read",
        PAYMENTS,
        number="number",
        total="amount",
        party=("counterparty",),
        facts=("direction", "day", "currency", "method", "account_id", "reference", "category"),
        lines="allocations",
        columns=("open_item_id", "day", "amount"),
        totals=("amount",),
        notes=("remark",),
        signed_by=(_CASHIER, Message("交款人或收款人", "Payer or payee")),
    ),
    Printable(
        "expense-claim",
        Message("费用报销单", "Expense claim"),
        f"{_AT}/expense-claims/{{id}}",
        "finance:expense-claim:read",
        EXPENSE_CLAIMS,
        number="number",
        total="amount",
        party=("title",),
        facts=("submitted_by", "submitted_at", "decided_by", "decided_at"),
        lines="lines",
        columns=("day", "category", "description", "receipt_number", "amount"),
        totals=("amount",),
        notes=("remark",),
        signed_by=(Message("报销人", "Claimed by"), _APPROVED, _CASHIER),
    ),
    Printable(
        "voucher",
        Message("记账凭证", "Voucher"),
        f"{_AT}/vouchers/{{id}}",
        "finance:voucher:read",
        VOUCHERS,
        number="number",
        total="amount",
        party=("counterparty",),
        facts=("kind", "day", "currency", "account_id", "to_account_id", "category", "invoice_id", "claim_id"),
        totals=("amount",),
        notes=("remark",),
        signed_by=(Message("制单", "Entered by"), _APPROVED, _CASHIER),
    ),
    Printable(
        "statement",
        Message("对账单", "Statement of account"),
        f"{_AT}/statements",
        "finance:statement:read",
        ENTRIES,
        total="closing_balance",
        party=("customer_id", "supplier_id", "open_item_id"),
        facts=("from", "to", "opening_balance"),
        lines="items",
        columns=("day", "kind", "number", "due_on", "debit", "credit", "balance"),
        totals=("debit", "credit", "closing_balance"),
        signed_by=(Message("我方", "For us"), Message("贵方确认", "Confirmed by you")),
        query=statements.FILTERS,
        shape=statements.STATEMENT,
        read=_read_statement,
    ),
    Printable(
        "dunning-letter",
        Message("催款函", "Reminder of payment"),
        f"{_AT}/dunning",
        "finance:dunning:read",
        ENTRIES,
        total="amount",
        party=("counterparty",),
        facts=("day", "days_overdue"),
        letter=Message(
            "截至 {day}，贵方尚有下列款项逾期未付，合计 {amount} 元。请于收到本函后七日内付清；如已付款，请忽略本函并告知付款日期。",
            "On {day} the amounts below were past due, {amount} in all. Please pay within seven days. If you have paid already, "
            "please disregard this letter and tell us the date of your payment.",
        ),
        lines="items",
        columns=("number", "oldest_due_on", "days_overdue", "amount"),
        totals=("amount",),
        query={"customer_id": dunning.QUERY["customer_id"].but(required=True), "day": dunning.QUERY["day"]},
        shape=shape("DunningLetter", day=dunning.QUERY["day"], **(dunning.ROW.fields or {})),
        read=_read_dunning,
    ),
)
