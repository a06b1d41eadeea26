"""What of finance is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plugins.api import Field, Message, Record, Request, exact, invalid, shape, text
from plugins.api.business import TAX_TABLE, Rates, currency, state_lines, stated_reader, stated_shape
from plugins.api.fields import NOTHING
from plugins.api.reports import Printable
from plugins.api.values import ReadOnlyRecord
from plugins.finance import dunning, statements
from plugins.finance.ageing import ADVANCES, BUCKETS
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.entries import ENTRIES
from plugins.finance.payment_records import PAYMENTS
from plugins.finance.records import CREDIT_NOTES, INVOICES, VOUCHERS
from plugins.finance.statement_sources import SOURCES, find_unpaid

_AT = "/api/v1/finance"
_MOST_LINES = 1000
_SUMS = ("amount", "tax", "total")
_APPROVED, _CASHIER = Message("审核", "Approved by"), Message("出纳", "Cashier")


_BY_CURRENCY = Message("按币种汇总", "By currency")
_PRINTED = {
    "stated_in": currency().but(
        label=("合计币种", "Totals in"), description="Null: the company's own, as all is in it."
    ),
}


_OF_INVOICE, _OF_LINE = ("vat_number", "billing_address"), ("unit", "tax_id")


def _with_fields(lines: Field, further: Mapping[str, Field]) -> Field:
    """Return the field of a list of objects that have these fields, too."""
    inside = lines.items or NOTHING
    return lines.but(items=inside.but(fields={**(inside.fields or {}), **further}))


_BILLED = (INVOICES.fields["lines"].items or NOTHING).fields or {}
_NOTE = stated_shape(
    CREDIT_NOTES.read,
    **{name: INVOICES.fields[name] for name in _OF_INVOICE},
    lines=_with_fields(CREDIT_NOTES.fields["lines"], {name: _BILLED[name] for name in _OF_LINE}),
)


async def _read_note(req: Request) -> Record:
    """Return a credit note with what only its invoice says: of its party, of units, and of taxes."""
    note = await req.store(CREDIT_NOTES).get(req.path["id"])
    invoice: ReadOnlyRecord = await req.system_store(INVOICES).find_one({"_id": note["invoice_id"]}) or {}
    billed: dict[int | None, Record] = dict(enumerate(invoice.get("lines") or (), 1))
    lines = [
        {**line, **{name: billed.get(line["line"], {}).get(name) for name in _OF_LINE}} for line in note["lines"] or ()
    ]
    return await state_lines(req, {**note, **{name: invoice.get(name) for name in _OF_INVOICE}, "lines": lines})


async def _read_statement(req: Request) -> Record:
    """Return a whole statement; with amounts in other currencies, the lines of each are in it.

    Raises 40001 if it has more lines than one paper takes.
    """
    whole = await _read_whole(req)
    codes = [part["currency"] for part in whole["currencies"] or ()]
    if not codes:
        return whole
    parts = [await _read_whole(replace(req, query={**req.query, "currency": code})) for code in codes]
    lines = [{**line, "currency": code} for code, part in zip(codes, parts, strict=True) for line in part["items"]]
    sums = {name: (parts[0] if len(parts) == 1 else whole)[name] for name in ("debit", "credit", "closing_balance")}
    return {**whole, **sums, "opening_balance": None, "items": lines, "stated_in": await _find_common(req, codes)}


async def _find_common(req: Request, codes: Sequence[str]) -> str | None:
    """Return the only one of these currencies, or the company's own, in which sums of several are."""
    return codes[0] if len(codes) == 1 else await req.part(Rates).find_base()


async def _read_whole(req: Request) -> Record:
    whole = await statements.read_statement(replace(req, query={**req.query, "page_size": _MOST_LINES}))
    if whole["next_cursor"] is not None:
        raise invalid("from", "maxItems")
    return {**whole, "items": [_name_once(line) for line in whole["items"]]}


def _name_once(line: Record) -> Record:
    """Return a line without the number of its document where that is its invoice."""
    return {**line, "number": None} if line["number"] == line["invoice_numbers"] else line


_ROW = dunning.ROW.fields or {}
_LETTER = {
    **_ROW,
    "items": _with_fields(_ROW["items"], {"invoice_numbers": SOURCES["invoice_numbers"]}),
    "day": dunning.QUERY["day"],
    "owed": text(),
}


async def _read_dunning(req: Request) -> Record:
    """Return what one customer has past due, with its invoices, in the currencies in which it is; nothing may be."""
    listed = await dunning.list_overdue(replace(req, query={"page": 1, "page_size": 1, **req.query}))
    nothing = {"customer_id": req.query["customer_id"], "amount": listed["amount"], "days_overdue": 0, "items": []}
    row: Record = {**(listed["items"] or [nothing])[0], "day": listed["day"]}
    unpaid = await find_unpaid(req, row["items"])
    row["items"] = [_name_once({**one, "invoice_numbers": unpaid[one["open_item_id"]]}) for one in row["items"]]
    parts = row.get("currencies")
    if not parts:
        return row
    base, sums = await req.part(Rates).find_base(), {part["currency"]: exact(part["amount"]) for part in parts}
    items = [
        {**one, "amount": one["currency_amount"] or one["amount"], "currency": one["currency"] or base}
        for one in row["items"]
    ]
    return {
        **row,
        "amount": parts[0]["amount"] if len(parts) == 1 else row["amount"],
        "items": sorted(items, key=lambda one: [*sums].index(one["currency"])),
        "stated_in": await _find_common(req, [*sums]),
        "owed": " + ".join(f"{amount:,.2f} {code}" for code, amount in sums.items()),
    }


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
            *("category", "reference", "open_item_id", "prices_include_tax", "delivery_address"),
        ),
        lines="lines",
        columns=(
            *("product_id", "description", "reference", "quantity", "unit", "price", "price_per"),
            *("discount", "discount_amount", "tax_rate", "net"),
        ),
        tables=(TAX_TABLE,),
        totals=_SUMS,
        notes=("remark",),
        shape=stated_shape(INVOICES.read),
        read=stated_reader(INVOICES),
    ),
    Printable(
        "credit-note",
        Message("红字发票", "Credit note"),
        f"{_AT}/credit-notes/{{id}}",
        "finance:credit-note:read",
        CREDIT_NOTES,
        number="number",
        total="total",
        party=("counterparty", *_OF_INVOICE),
        facts=("direction", "day", "currency", "invoice_id"),
        lines="lines",
        columns=("product_id", "description", "quantity", "unit", "tax_rate", "net", "tax"),
        tables=(TAX_TABLE,),
        totals=_SUMS,
        notes=("reason",),
        shape=_NOTE,
        read=_read_note,
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
        columns=(
            *("day", "kind", "invoice_numbers", "number", "reference", "due_on"),
            *("currency", "debit", "credit", "balance"),
        ),
        tables=(
            (
                _BY_CURRENCY,
                "currencies",
                ("currency", "opening_balance", "debit", "credit", "closing_balance"),
            ),
            (Message("账龄", "Ageing"), "currencies", ("currency", *BUCKETS, ADVANCES)),
        ),
        totals=("stated_in", "debit", "credit", "closing_balance"),
        signed_by=(Message("我方", "For us"), Message("贵方确认", "Confirmed by you")),
        query=statements.FILTERS,
        shape=shape("PrintedStatement", **(statements.STATEMENT.fields or {}), **_PRINTED),
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
        foreign_letter=Message(
            "截至 {day}，贵方尚有下列款项逾期未付，合计 {owed}。请于收到本函后七日内付清；如已付款，请忽略本函并告知付款日期。",
            "On {day} the amounts below were past due, {owed} in all. Please pay within seven days. If you have paid already, "
            "please disregard this letter and tell us the date of your payment.",
        ),
        lines="items",
        columns=("invoice_numbers", "number", "oldest_due_on", "days_overdue", "currency", "amount"),
        tables=((_BY_CURRENCY, "currencies", ("currency", "amount")),),
        totals=("stated_in", "amount"),
        query={"customer_id": dunning.QUERY["customer_id"].but(required=True), "day": dunning.QUERY["day"]},
        shape=shape("DunningLetter", **_LETTER, **_PRINTED),
        read=_read_dunning,
    ),
)
