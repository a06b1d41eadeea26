"""Accounts, the vouchers that move their balances, and the periods that vouchers are dated into."""

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
    object_id,
    record_name,
    shape,
    text,
    timestamp,
)
from plugins.api.fields import record_code
from plugins.finance.messages import ACCOUNT_USED, STILL_CASHIER
from plugins.finance.record_types import Account, Period, Voucher

MAX_AMOUNT = "9999999999999.99"
VOUCHER_KINDS = ("income", "expense", "transfer")
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
            description="The sum of the vouchers of the account.",
            history=False,
        ),
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
            description="Greater than zero; negative in a reversal.",
        ),
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
        Index("kind", "day", "amount"),
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
