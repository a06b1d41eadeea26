"""What moved the balances of accounts: their balances over a period, and the journal of one, with transfers both ways."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Message,
    Page,
    Record,
    Request,
    Route,
    day,
    exact,
    money,
    object_id,
    service_fields,
    store_money,
)
from plugins.api.business import currency
from plugins.api.data import page_of_rows, query_of_rows, rows_before
from plugins.api.reports import report_list
from plugins.api.values import RecordId
from plugins.finance.balances import days_asked
from plugins.finance.books import compute_balance_changes
from plugins.finance.records import ACCOUNTS, VOUCHERS

_ZERO = Decimal(0)
_COPIED = ("counterparty", "category", "remark")
_ACCOUNT = object_id(label=("账户", "Account"), ref=ACCOUNTS.name)
_IN = money(label=("收入", "Money in"), sort=True)
_OUT = money(label=("支出", "Money out"), sort=True)
# rows as responses and tables have them; nothing is stored in these shapes
JOURNALS = Collection(
    name=VOUCHERS.name,
    title="AccountBalance",
    noun=Message("账户收支余额", "balance of an account"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        **service_fields(
            account_id=_ACCOUNT,
            opening_balance=money(label=("期初余额", "Opening balance"), description="Before the first day."),
            money_in=_IN,
            money_out=_OUT,
            closing_balance=money(label=("期末余额", "Closing balance"), description="At the end of the last day."),
        ),
        "currency": currency().but(read_only=True, description="That of the account; null: the company's own."),
    },
)
LINES = Collection(
    name=VOUCHERS.name,
    title="AccountJournalLine",
    noun=Message("账户日记账", "line of an account's journal"),
    plain=True,
    fields={
        **service_fields(
            account_id=_ACCOUNT,
            day=day(label=("日期", "Day")),
            voucher_id=object_id(label=("凭证", "Voucher"), ref=VOUCHERS.name),
            kind=VOUCHERS.fields["kind"].but(required=False),
        ),
        **{name: VOUCHERS.fields[name].but(read_only=True) for name in _COPIED},
        "other_account_id": _ACCOUNT.but(
            label=("对方账户", "Other account"), read_only=True, description="Of a transfer."
        ),
        **service_fields(
            money_in=_IN.but(sort=False),
            money_out=_OUT.but(sort=False),
            balance=money(label=("余额", "Balance"), description="After this voucher, in the currency of the account."),
        ),
    },
)
# what a voucher adds to its account, and to the one to which it transfers
_OF_ACCOUNT = {"$cond": [{"$eq": ["$kind", "income"]}, "$amount", {"$multiply": ["$amount", -1]}]}
_ARRIVES = {"$ifNull": ["$to_amount", "$amount"]}
_PERIOD: Mapping[str, Field] = {
    "from": day(label=("开始日期", "From"), nullable=False, description="The first day of this month unless given."),
    "to": day(label=("结束日期", "To"), nullable=False, description="Today unless given."),
}
_QUERY = {**query_of_rows(JOURNALS), **_PERIOD}
_LINE_QUERY = {
    **{name: _QUERY[name] for name in ("page", "page_size", "with_total", "cursor")},
    "account_id": _ACCOUNT.but(nullable=False, description="The first one, by code, unless given."),
    **_PERIOD,
}


async def list_journals(req: Request) -> Page:
    """Return a page of the accounts with what came in and went out in the period, by the vouchers that the caller sees."""
    since, until = days_asked(req)
    sides = [{"account": "$account_id", "amount": _OF_ACCOUNT}, {"account": "$to_account_id", "amount": _ARRIVES}]
    tests: Mapping[str, Any] = {
        "opening_balance": {"$lt": ["$day", since]},
        "more": {"$and": [{"$gte": ["$day", since]}, {"$gt": ["$of.amount", 0]}]},
        "less": {"$and": [{"$gte": ["$day", since]}, {"$lt": ["$of.amount", 0]}]},
    }
    found = await req.store(VOUCHERS).aggregate(
        [
            {"$match": {"day": {"$lte": until}}},
            {"$project": {"day": 1, "of": sides}},
            {"$unwind": "$of"},
            {
                "$group": {
                    "_id": "$of.account",
                    **{name: {"$sum": {"$cond": [test, "$of.amount", 0]}} for name, test in tests.items()},
                }
            },
        ]
    )
    moved = {row["_id"]: row for row in found}
    accounts = await req.store(ACCOUNTS).find(sort="code")
    return page_of_rows(req.query, [_describe(one, moved.get(one["id"], {})) for one in accounts])


def _describe(account: Mapping[str, Any], row: Mapping[str, Any]) -> Record:
    opening, more, less = (exact(row.get(name)) for name in ("opening_balance", "more", "less"))
    amounts = {
        "opening_balance": opening,
        "money_in": more,
        "money_out": -less,
        "closing_balance": opening + more + less,
    }
    about = {"id": str(account["id"]), "account_id": account["id"], "currency": account["currency"]}
    return {**about, **{name: store_money(value) for name, value in amounts.items()}}


async def list_lines(req: Request) -> Page:
    """Return a page of the vouchers that move an account in the period, by day, each with the balance after it."""
    since, until = days_asked(req)
    account_id, start, size = await _choose_account(req), rows_before(req.query), req.query["page_size"]
    vouchers, of_account = req.store(VOUCHERS), {"$or": [{"account_id": account_id}, {"to_account_id": account_id}]}
    within = {"$and": [of_account, {"day": {"$gte": since, "$lte": until}}]}
    found = await vouchers.aggregate(
        [{"$match": within}, {"$sort": {"day": 1, "_id": 1}}, {"$skip": start}, {"$limit": size + 1}]
    )
    rows = [{**VOUCHERS.blank, **row} for row in found]
    shown, balance = rows[:size], _ZERO
    if shown:
        first = shown[0]
        earlier = {"$or": [{"day": {"$lt": first["day"]}}, {"day": first["day"], "_id": {"$lt": first["_id"]}}]}
        change = {"$cond": [{"$eq": ["$account_id", account_id]}, _OF_ACCOUNT, _ARRIVES]}
        before = await vouchers.aggregate(
            [{"$match": {"$and": [of_account, earlier]}}, {"$group": {"_id": None, "sum": {"$sum": change}}}]
        )
        balance = sum((exact(row["sum"]) for row in before), _ZERO)
    items = []
    for row in shown:
        items.append(_line(row, account_id, balance))
        balance = exact(items[-1]["balance"])
    total = await vouchers.count(within) if req.query.get("with_total", True) else None
    return Page(items, total, req.query["page"], size, str(start + size) if len(rows) > size else None)


async def _choose_account(req: Request) -> RecordId | None:
    chosen: RecordId | None = req.query.get("account_id")
    first = await req.store(ACCOUNTS).find(sort="code", limit=1, fields=["code"]) if chosen is None else []
    return first[0]["id"] if first else chosen


def _line(row: Mapping[str, Any], account_id: Any, balance: Decimal) -> Record:
    change = compute_balance_changes(row)[account_id]
    other = row["to_account_id"] if row["account_id"] == account_id else row["account_id"]
    amounts = {"money_in": max(change, _ZERO), "money_out": max(-change, _ZERO), "balance": balance + change}
    return {
        "id": row["_id"],
        "account_id": account_id,
        "voucher_id": row["_id"],
        "other_account_id": other,
        **{name: row.get(name) for name in ("day", "kind", *_COPIED)},
        **{name: store_money(value) for name, value in amounts.items()},
    }


ROUTES: tuple[Route, ...] = (
    *report_list(
        JOURNALS,
        list_journals,
        at="/api/v1/finance/journals",
        resource="finance:journal",
        summary="List the balances of accounts over a period",
        title=("账户收支余额", "Balances of accounts"),
        query=_QUERY,
        collection=VOUCHERS.name,
        description="Of the vouchers that the caller sees. With the same first and last day: the balance on that day.",
    ),
    *report_list(
        LINES,
        list_lines,
        at="/api/v1/finance/journals/lines",
        resource="finance:journal",
        summary="List what moved the balance of an account",
        title=("账户日记账", "Journal"),
        query=_LINE_QUERY,
        collection=VOUCHERS.name,
        description="Income, expenses, and transfers both ways, of the vouchers that the caller sees.",
    ),
)
