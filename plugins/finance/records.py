"""Accounts, vouchers, periods, invoices and credit notes."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
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
    quantity,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.business import (
    LINE_DESCRIPTION,
    LINE_KIND,
    LINE_NUMBER,
    MAX_QUANTITY,
    MOST_LINES,
    RATES_TABLE,
    TAX_RATE,
    base_amount,
    copied_fields,
    currency,
    currency_fields,
    discount_fields,
    priced_line,
    rate,
    terms_fields,
)
from plugins.api.fields import record_code
from plugins.finance.e_invoice_marks import KEPT
from plugins.finance.messages import ACCOUNT_USED, STILL_CASHIER
from plugins.finance.record_types import Account, CreditNote, Invoice, Period, Voucher
from plugins.finance.states import INVOICE_STATES

MAX_AMOUNT = "9999999999999.99"
VOUCHER_KINDS = ("income", "expense", "transfer")
SUM = money(label=("金额", "Amount"), read_only=True, nullable=False, sort=True, filter=True)
REFERENCE = text(
    label=("参考号", "Reference"), max_length=100, filter=True, description="Your own number or keyword for it."
)
REMARK = text(label=("备注", "Remarks"), max_length=2000)
CATEGORY = text(
    dictionary="finance_category", label=("收支类别", "Category"), max_length=64, filter=True, example="office"
)
COUNTERPARTY = text(label=("往来单位", "Counterparty"), max_length=200, filter=True, search=True, example="晨光科技")

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

ACCOUNTS: Collection[Account] = Collection(
    name="finance_accounts",
    title="Account",
    noun=Message("账户", "account"),
    keepers="cashier_ids",
    fields={
        "code": record_code(label=("账户编码", "Account code"), example="1002-01"),
        "name": record_name(label=("账户名称", "Account name"), example="招商银行基本户"),
        "type": choice("cash", "bank", "other", label=("账户类型", "Account type"), required=True, filter=True),
        "balance": money(
            label=("账户余额", "Balance"),
            read_only=True,
            nullable=False,
            sort=True,
            filter=True,
            description="The sum of the vouchers of the account, in its currency.",
            history=False,
        ),
        "currency": currency().but(description="ISO 4217; null: the company's own. Fixed once something is booked."),
        "cashier_ids": array(
            integer(minimum=1, ref="rbac_users", held=STILL_CASHIER),
            label=("出纳", "Cashiers"),
            unique=True,
            max_items=100,
            default=[],
            nullable=True,
            description="Who may book on it, in addition to those who see every row. If it names nobody, everybody "
            "with the permission may.",
        ),
        "status": choice(
            "enabled", "disabled", label=("状态", "Status"), default="enabled", filter=True, nullable=False
        ),
        "remark": REMARK,
    },
    indexes=(Index("code", unique=True),),
)

VOUCHERS: Collection[Voucher] = Collection(
    name="finance_vouchers",
    title="Voucher",
    noun=Message("凭证", "voucher"),
    scoped=True,
    fields={
        "number": text(
            label=("凭证号", "Voucher number"),
            max_length=32,
            read_only=True,
            nullable=False,
            sort=True,
            filter=True,
            search=True,
            example="2026-11-000001",
        ),
        "kind": choice(*VOUCHER_KINDS, label=("凭证类型", "Voucher type"), required=True, filter=True),
        "account_id": object_id(
            label=("账户", "Account"), required=True, ref=ACCOUNTS.name, held=ACCOUNT_USED, filter=True
        ),
        "to_account_id": object_id(
            label=("转入账户", "To account"),
            ref=ACCOUNTS.name,
            held=ACCOUNT_USED,
            filter=True,
            description="Required for a transfer, refused for anything else.",
        ),
        "amount": money(
            label=("金额", "Amount"),
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            sort=True,
            filter=True,
            example="120.00",
            description="Greater than zero, in the currency of the account; negative in a reversal.",
        ),
        "to_amount": money(
            label=("转入金额", "Amount transferred"),
            only_with=RATES_TABLE,
            minimum="0.01",
            maximum=MAX_AMOUNT,
            description="What arrives, where the other account has another currency; required there, refused elsewhere.",
        ),
        "currency": currency().but(read_only=True, description="That of the account; null: the company's own."),
        "rate": rate(),
        "base_amount": base_amount(),
        "day": day(
            label=("凭证日期", "Voucher date"), past=True, filter=True, sort=True, description="Today unless given."
        ),
        "category": CATEGORY,
        "counterparty": COUNTERPARTY,
        "remark": REMARK,
        "invoice_id": object_id(label=("发票", "Invoice"), read_only=True, filter=True, ref="finance_invoices"),
        "claim_id": object_id(
            label=("报销单", "Expense claim"), read_only=True, filter=True, ref="finance_expense_claims"
        ),
        "open_item_id": object_id(
            label=("应付款项", "Payable"),
            read_only=True,
            filter=True,
            ref="finance_open_items",
            description="The payable that the voucher pays.",
        ),
        "payment_id": object_id(label=("收付款单", "Payment"), read_only=True, ref="finance_payments"),
        "reverses_id": object_id(label=("被冲销凭证", "Reverses"), read_only=True, filter=True, ref="finance_vouchers"),
        "reversed_by_id": object_id(label=("冲销凭证", "Reversed by"), read_only=True, ref="finance_vouchers"),
    },
    indexes=(
        Index("number", unique=True),
        Index("account_id", "-created_at"),
        Index("to_account_id", "-created_at"),
        # holds all that the figures of a range of days need
        Index("kind", "day", "amount", "base_amount"),
        Index("day"),
        Index("invoice_id"),
        Index("open_item_id"),
    ),
)

PERIODS: Collection[Period] = Collection(
    name="finance_periods",
    title="Period",
    noun=Message("会计期间", "period"),
    ids="text",
    default_sort="-id",
    fields={
        "closed": boolean(label=("已结账", "Closed"), read_only=True, nullable=False, filter=True),
        "closed_at": timestamp(label=("结账时间", "Closed at"), read_only=True),
        "closed_by": integer(label=("结账人", "Closed by"), minimum=1, read_only=True),
        "last_number": integer(
            label=("最后凭证序号", "Last voucher number"),
            minimum=0,
            read_only=True,
            nullable=False,
            description="The last number that a voucher of the month was given.",
            history=False,
        ),
    },
)

REVERSE_BODY = shape("ReverseBody", day=day(past=True, description="Today unless given."), remark=REMARK)

PRODUCT = object_id(label=("商品", "Product"), ref="inventory_products", ref_optional=True, on_delete="keep")
_UNITS = quantity(label=("数量", "Quantity"), minimum="0", maximum=MAX_QUANTITY)


def _invoice_line() -> dict[str, Field]:
    fields = priced_line(
        product_id=PRODUCT.but(description="Null on a line of text, and perhaps of a service."),
        tax_id=object_id(
            label=("税种", "Tax code"),
            ref="inventory_taxes",
            ref_optional=True,
            on_delete="keep",
            description="That of the customer or supplier, or else of the product, unless this or `tax_rate` is given.",
        ),
    )
    credited = money(label=("已红冲金额", "Credited"), read_only=True, description="With tax; null: nothing.")
    return {
        **fields,
        # the dictionary of units is there only with products, and the units of others' invoices are theirs
        "unit": fields["unit"].but(
            dictionary=None,
            labelled_by=fields["unit"].dictionary or "",
            description="That of its product; of an order, that of its line.",
        ),
        "quantity": fields["quantity"].but(
            nullable=True,
            rules={**fields["quantity"].rules, "minimum": f"-{MAX_QUANTITY}"},
            description="Above zero; a line of text has none, which is zero. Of an order: all that is open unless given. Below "
            "zero only where a final invoice takes a prepayment off.",
        ),
        "order_line": integer(
            label=("订单行号", "Order line"),
            minimum=0,
            maximum=MOST_LINES,
            description="Required in an invoice that bills an order: the number of the line there; 0: the freight. Product, "
            "price, discount and tax are those of that line.",
        ),
        "shipment_id": object_id(
            label=("出入库单", "Shipment"), description="The delivery or receipt of the order that the line bills."
        ),
        "open_item_id": object_id(
            label=("应收应付款项", "Open item"),
            ref="finance_open_items",
            on_delete="keep",
            description="Which of several contracts and orders the line bills.",
        ),
        "prepayment_id": object_id(
            label=("预付款发票", "Prepayment invoice"),
            ref="finance_invoices",
            read_only=True,
            description="Which prepayment the line of a final invoice takes off. Such lines are made by the service.",
        ),
        "prepayment_line": integer(
            label=("预付款发票行号", "Prepayment line"), minimum=1, maximum=MOST_LINES, read_only=True
        ),
        "credited_quantity": quantity(
            label=("已红冲数量", "Credited quantity"), read_only=True, description="By credit notes; null: nothing."
        ),
        "credited": credited,
        "credited_tax": credited.but(label=("已红冲税额", "Credited tax"), description=None),
    }


MOST_ITEMS = 100  # that one invoice bills
INVOICE_KINDS = STANDARD, PREPAYMENT, PART, FINAL = ("standard", "prepayment", "part", "final")


def _share(title: str, *further: str) -> Field:
    """Return the field with what an invoice claims of one of several open items, or a credit note takes off it."""
    sums = {"amount": ("不含税金额", "Net amount"), "tax": ("税额", "Tax"), "total": ("价税合计", "Total")}
    sums |= {"paid": ("已结算金额", "Paid"), "credited": ("已红冲金额", "Credited")}
    sums |= {"credited_tax": ("已红冲税额", "Credited tax"), "adjusted": ("已调整金额", "Adjusted")}
    item = object_id(label=("应收应付款项", "Open item"), ref="finance_open_items", on_delete="keep")
    return obj(title, {"open_item_id": item, **{name: money(label=sums[name]) for name in ("amount", "tax", *further)}})


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
        "kind": choice(
            *INVOICE_KINDS,
            label=("开票类型", "Kind"),
            default=STANDARD,
            filter=True,
            nullable=True,
            description="Of an order: `prepayment`, a share before its goods come; `part`, some of its lines; `final`, the rest, "
            "with lines below zero that take off all prepayment invoices. Null in earlier versions: `standard`.",
        ),
        "prepayment_rate": quantity(
            label=("预付比例", "Prepayment rate"),
            minimum="0",
            maximum="1",
            description="Which share of its order a prepayment invoice asks for, with the tax in it; unless given, it asks for "
            "`amount`.",
            example="0.3",
        ),
        "number": record_code(
            label=("发票号码", "Invoice number"),
            required=False,
            example="24312000000012345678",
            description="Required of an invoice that is received. One that is sent takes the next of its series when it is "
            "confirmed, unless it has one.",
        ),
        "counterparty": COUNTERPARTY.but(
            nullable=False,
            rules={**COUNTERPARTY.rules, "minLength": 1},
            description="With `open_item_id` it is that of the item; otherwise the name of the customer or supplier "
            "unless given. Required without one of them.",
        ),
        "customer_id": CUSTOMER.but(description="Only for invoices that are sent."),
        "supplier_id": SUPPLIER.but(description="Only for invoices that are received."),
        **copied_fields(),
        "day": day(label=("开票日期", "Invoice date"), filter=True, sort=True, description="Today unless given."),
        **currency_fields(),
        "due_on": day(
            label=("到期日", "Due date"),
            filter=True,
            sort=True,
            description=(
                "Unless given, when the first of what it bills is due, or else when all of it is due by its payment terms; "
                "none without terms. In a draft it follows them when they, the day, or the customer or supplier change."
            ),
        ),
        **terms_fields(
            days="How many days after its date it is due. Unless given, its terms are those of what it bills, or of the "
            "customer or supplier."
        ),
        **discount_fields(),
        "amount": money(
            label=("不含税金额", "Net amount"),
            minimum="0.01",
            maximum=MAX_AMOUNT,
            nullable=False,
            sort=True,
            filter=True,
            example="1000.00",
            description="Without tax. Required unless there are lines, whose sum it is.",
        ),
        "tax": money(
            label=("税额", "Tax"), minimum="0", maximum=MAX_AMOUNT, default="0.00", nullable=False, example="130.00"
        ),
        "lines": array(
            obj("InvoiceLine", _invoice_line()),
            label=("发票明细", "Lines"),
            min_items=1,
            max_items=MOST_LINES,
            description="`amount` and `tax` are their sums. Where `open_item_id` is that of an order they are lines of it: all "
            "that is open unless these or `amount` are given. Null: only the sums are known.",
        ),
        "prices_include_tax": boolean(
            label=("单价含税", "Prices include tax"),
            description="Of lines that are not of an order; they do not unless given.",
        ),
        "shipment_ids": array(
            object_id(),
            write_only=True,
            unique=True,
            max_items=100,
            label=("出入库单", "Shipments"),
            description="Begins the lines: all that is open of these deliveries or receipts of the order.",
        ),
        "open_item_ids": array(
            object_id(ref="finance_open_items", on_delete="keep"),
            write_only=True,
            unique=True,
            max_items=MOST_ITEMS,
            label=("多个应收应付款项", "Open items"),
            description="Instead of `open_item_id`, of several orders of one customer or supplier: begins the lines, all that is "
            "open of them. Lines may also name their `open_item_id` themselves.",
        ),
        "total": SUM.but(label=("价税合计", "Total"), description="`amount` plus `tax`."),
        "paid": SUM.but(label=("已结算金额", "Paid"), description="How much of the total is paid."),
        "credited": money(
            label=("已红冲金额", "Credited"),
            read_only=True,
            description="How much of the total is not owed because of credit notes.",
        ),
        "credited_tax": money(
            label=("已红冲税额", "Credited tax"), read_only=True, description="How much of the credited amount is tax."
        ),
        "adjusted": money(
            label=("已调整金额", "Adjusted"),
            read_only=True,
            description="How much of the total is not owed because of adjustments of its open item.",
        ),
        "open_item_id": object_id(
            label=("应收应付款项", "Open item"),
            ref="finance_open_items",
            on_delete="keep",
            filter=True,
            description="The receivable or payable of a contract or an order that the invoice bills. It is paid "
            "there, and the invoice adds none of its own.",
        ),
        "billed_items": array(
            _share("InvoiceShare", "total", "paid", "credited", "credited_tax", "adjusted"),
            label=("各款项金额", "Shares"),
            read_only=True,
            max_items=MOST_ITEMS,
            description="What the invoice claims of each of several open items; null: it bills one or none.",
        ),
        "status": INVOICE_STATES.choice(label=("发票状态", "Status"), filter=True, sort=True),
        **KEPT,
        "category": CATEGORY,
        "reference": REFERENCE,
        "remark": REMARK,
    },
    indexes=(
        # the last field is the one that the error for a duplicate names
        Index("counterparty", "number", unique=True, where={"number": {"$type": "string"}}),
        Index("party_key", "number_key", unique=True, where={"number_key": {"$type": "string"}}),
        Index("number_key", where={"number_key": {"$type": "string"}}),
        Index("number"),
        Index("direction", "status", "due_on"),
        Index("reference", where={"reference": {"$type": "string"}}),
        Index("day"),
        Index("open_item_id", "day"),
        Index("billed_items.open_item_id", "day", where={"billed_items.open_item_id": {"$type": "objectId"}}),
    ),
    internal=("party_key", "number_key"),
    states=INVOICE_STATES,
    dated="day",
)

PAY_INVOICE_BODY = shape(
    "PayInvoiceBody",
    account_id=object_id(required=True, ref=ACCOUNTS.name),
    amount=money(minimum="0.01", maximum=MAX_AMOUNT, description="The whole open amount unless given."),
    day=day(past=True, description="Today unless given."),
    rate=rate().but(
        label=None,
        description="Of the payment, where what it pays is in another currency; that of the day unless given.",
    ),
)

_REASON = text(label=("原因", "Reason"), max_length=1000, example="数量开错")
_AMOUNT = money(label=("不含税金额", "Net amount"), sort=True, filter=True, description="Without tax.")

_LINE = LINE_NUMBER.but(description="Of the invoice.")
_CREDITED_LINE = obj(
    "CreditNoteLine",
    {
        "line": _LINE,
        "product_id": PRODUCT,
        "kind": LINE_KIND.but(description=None),
        "description": LINE_DESCRIPTION.but(description=None),
        "quantity": _UNITS.but(rules={}),
        "tax_rate": TAX_RATE,
        "net": money(label=("不含税金额", "Net amount")),
        "tax": money(label=("税额", "Tax")),
        "amount": money(label=("金额", "Amount"), description="With tax."),
    },
)

_FOR_RETURN = boolean(
    label=("退货红冲", "For goods that came back"),
    nullable=True,
    description="Such goods lowered what is owed for the order already. Null: if it credits goods, as far as some came back.",
)
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
        **{name: field.but(read_only=True) for name, field in currency_fields().items()},
        "lines": array(
            _CREDITED_LINE,
            label=("红冲明细", "Lines"),
            read_only=True,
            max_items=MOST_LINES,
            description="Of an invoice with lines. Null where an amount was credited and no goods.",
        ),
        "billed_items": array(
            _share("CreditNoteShare"),
            label=("各款项金额", "Shares"),
            read_only=True,
            max_items=MOST_ITEMS,
            description="What is credited of each of several open items that the invoice bills.",
        ),
        "counterparty": COUNTERPARTY.but(read_only=True),
        "for_return": _FOR_RETURN.but(read_only=True),
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
    lines=array(
        obj(
            "CreditedUnits",
            {
                "line": _LINE.but(required=True, nullable=False),
                "quantity": _UNITS.but(description="All that is left unless given."),
            },
        ),
        min_items=1,
        max_items=MOST_LINES,
        description="What is credited, by the lines of the invoice; `amount` and `tax` follow from them and are left out.",
    ),
    day=_DAY,
    for_return=_FOR_RETURN,
    reason=_REASON,
)
REVERSE_NOTE_BODY = shape("ReverseCreditNoteBody", day=_DAY, reason=_REASON)
