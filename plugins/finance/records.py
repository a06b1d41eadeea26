"""Accounts, the vouchers that move their balances, and the periods that vouchers are dated into."""

from __future__ import annotations

from plugins.api import Collection, Index, boolean, choice, day, integer, money, obj, object_id, text, timestamp

MAX_AMOUNT = "9999999999999.99"
VOUCHER_KINDS = ("income", "expense", "transfer")
REMARK = text(max_length=2000)
CATEGORY = text(max_length=64, filter=True, example="office")
COUNTERPARTY = text(max_length=200, filter=True, search=True, example="晨光科技")

ACCOUNTS = Collection(
    name="finance_accounts",
    title="Account",
    scoped=True,
    fields={
        "code": text(required=True, max_length=64, sort=True, filter=True, search=True, example="1002-01"),
        "name": text(required=True, max_length=200, sort="folded", search=True, example="招商银行基本户"),
        "type": choice("cash", "bank", "other", required=True, filter=True),
        "balance": money(
            read_only=True, nullable=False, sort=True, filter=True, description="The sum of its vouchers."
        ),
        "status": choice("enabled", "disabled", default="enabled", filter=True, nullable=False),
        "remark": REMARK,
    },
    indexes=(Index("code", unique=True),),
)

VOUCHERS = Collection(
    name="finance_vouchers",
    title="Voucher",
    scoped=True,
    fields={
        "number": text(
            max_length=32, read_only=True, nullable=False, sort=True, filter=True, search=True, example="2026-11-000001"
        ),
        "kind": choice(*VOUCHER_KINDS, required=True, filter=True),
        "account_id": object_id(required=True, ref=ACCOUNTS.name, filter=True),
        "to_account_id": object_id(ref=ACCOUNTS.name, filter=True, description="Of a transfer, and of nothing else."),
        "amount": money(
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            sort=True,
            filter=True,
            example="120.00",
            description="Above zero; the amount of a reversal is below.",
        ),
        "day": day(past=True, filter=True, sort=True, description="Today unless given."),
        "category": CATEGORY,
        "counterparty": COUNTERPARTY,
        "remark": REMARK,
        "invoice_id": object_id(read_only=True, filter=True),
        "claim_id": object_id(read_only=True, filter=True),
        "open_item_id": object_id(
            read_only=True, filter=True, ref="finance_open_items", description="The payable that it pays."
        ),
        "reverses_id": object_id(read_only=True, filter=True),
        "reversed_by_id": object_id(read_only=True),
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

PERIODS = Collection(
    name="finance_periods",
    title="Period",
    ids="text",
    default_sort="-id",
    fields={
        "closed": boolean(read_only=True, nullable=False, filter=True),
        "closed_at": timestamp(read_only=True),
        "closed_by": integer(minimum=1, read_only=True),
        "last_number": integer(minimum=0, read_only=True, nullable=False, description="Of its vouchers."),
    },
)

REVERSE_BODY = obj(
    "ReverseBody", {"day": day(past=True, description="Today unless given."), "remark": REMARK}, nullable=False
)
