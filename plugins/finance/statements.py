"""Statements of account, change by change: of a customer, of a supplier, or of what is open of one item."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from plugins.api import (
    ApiError,
    Collection,
    Field,
    Message,
    Page,
    Record,
    Request,
    Route,
    array,
    day,
    exact,
    integer,
    invalid,
    money,
    obj,
    object_id,
    route,
    service_fields,
    shape,
    tables,
    text,
)
from plugins.api.business import RATES_TABLE, Rates, currency
from plugins.api.data import RecordNames
from plugins.api.values import rounded
from plugins.finance.ageing import (
    ADVANCES,
    AMOUNTS,
    BUCKETS,
    PARTY,
    bucket_of_entry,
    day_asked,
    signed_amount,
    undescribed,
)
from plugins.finance.entries import ENTRIES, FOREIGN, RESCHEDULED
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import OpenItemEntry
from plugins.finance.statement_sources import SOURCES, name_sources

_PARTIES = ("customer_id", "supplier_id")
_OF = (*_PARTIES, "open_item_id")
_ZERO = Decimal("0.00")

# a row as responses and tables have it; nothing is stored in this shape
LINES = Collection(
    name=ENTRIES.name,
    title="StatementLine",
    noun=Message("对账单明细", "statement line"),
    plain=True,
    fields={
        **service_fields(
            day=day(label=("日期", "Date")),
            kind=ENTRIES.fields["kind"].but(description=None),
        ),
        **{name: ENTRIES.fields[name] for name in ("number", "biz_type", "resource_id", "open_item_id", "due_on")},
        "resource_id": ENTRIES.fields["resource_id"].but(named_by="number"),
        **SOURCES,
        "currency": ENTRIES.fields["currency"],
        "currency_amount": ENTRIES.fields["currency_amount"].but(
            description="How much more is open in this currency; negative: how much less."
        ),
        **service_fields(
            debit=money(label=("借方", "Debit"), description="Customer: more is owed. Supplier: less is owed."),
            credit=money(label=("贷方", "Credit"), description="Customer: less is owed. Supplier: more is owed."),
            balance=money(label=("余额", "Balance"), description="What is open after this line."),
        ),
    },
)
READ = (
    *("day", "kind", "number", "biz_type", "resource_id", "open_item_id", "due_on", "direction", "amount"),
    *("currency", "currency_amount"),
)
FILTERS: Mapping[str, Field] = {
    "customer_id": object_id(
        label=("客户", "Customer"),
        nullable=False,
        description="This, `supplier_id` or `open_item_id` is required. With both customer and supplier, what they owe "
        "and what they are owed are set off.",
    ),
    "supplier_id": object_id(label=("供应商", "Supplier"), nullable=False),
    "open_item_id": object_id(
        label=("应收应付款项", "Open item"), nullable=False, description="Only the changes of this item."
    ),
    "from": day(label=("开始日期", "From"), nullable=False, description="From the beginning unless given."),
    "to": day(label=("结束日期", "To"), nullable=False, description="Today unless given."),
    "currency": currency().but(filter=False, nullable=False, description="Amounts in this currency alone."),
}
_QUERY: Mapping[str, Field] = {
    **FILTERS,
    "page_size": integer(minimum=1, maximum=1000, default=200, nullable=False, example=200),
    "cursor": text(
        max_length=100,
        nullable=False,
        description="`next_cursor` of the page before.",
        example="2026-11-20_65f0c0ffee65f0c0ffee65f0",
    ),
}


@dataclass(frozen=True)
class _Account:
    """The account of a customer, of a supplier, or of a company that is both, for the days that the query asks for.

    `open_item_id` limits it to the changes of one item, and `item_direction` is the direction of that item. Both are
    None unless the query names an item. `of_currency` is the filter on the entries of the currency that the query names;
    `counted` is the field of an entry with the amount that counts.
    """

    customer_id: Any
    supplier_id: Any
    open_item_id: Any
    item_direction: str | None
    since: str
    until: str
    of_currency: Record
    counted: Literal["amount", "currency_amount"]

    @property
    def entries(self) -> Record:
        """The filter on its entries until the last day."""
        parties = [{name: id} for name in _PARTIES if (id := getattr(self, name)) is not None]
        of_party = {"$or": parties} if len(parties) > 1 else parties[0] if parties else {}
        of_item = {"open_item_id": self.open_item_id} if self.open_item_id is not None else {}
        return {**of_party, **of_item, **self.of_currency, "day": {"$lte": self.until}}

    @property
    def side(self) -> str:
        """The direction of the items that add to its balance; the others are set off."""
        return self.item_direction or ("out" if self.customer_id is not None else "in")

    @property
    def amount(self) -> Any:
        """The expression for what an entry adds to its balance."""
        return signed_amount(self.side, f"${self.counted}")

    def amount_of(self, entry: OpenItemEntry) -> Decimal:
        """Return what an entry adds to its balance."""
        amount = exact(entry[self.counted])
        return amount if entry["direction"] == self.side else -amount


async def _find_account(req: Request) -> _Account:
    """Return the account that the query asks for. Raises 40001 if it names none, or if `to` is before `from`."""
    customer_id, supplier_id, item_id = (req.query.get(name) for name in _OF)
    if customer_id is None and supplier_id is None and item_id is None:
        raise invalid("customer_id", "required")
    item = await req.store(OPEN_ITEMS).find_one({"_id": item_id}) if item_id is not None else None
    direction = item["direction"] if item is not None else None
    since, until = req.query.get("from") or "", req.query.get("to") or day_asked(req)
    if until < since and req.query.get("to"):
        raise invalid("to", "minimum")
    code = req.query.get("currency")
    own = code in (None, await req.part(Rates).find_base())
    of_currency: Record = {} if code is None else {"currency": None if own else code}
    counted: Literal["amount", "currency_amount"] = "amount" if own else "currency_amount"
    return _Account(customer_id, supplier_id, item_id, direction, since, until, of_currency, counted)


async def read_statement(req: Request) -> Record:
    """Return a page of a statement, with the balances before the first day and after the last."""
    account = await _find_account(req)
    (page, sums), currencies = await asyncio.gather(_read_page(req, account, named=True), _sum_currencies(req, account))
    return {
        **{name: req.query.get(name) for name in (*_OF, "from")},
        "to": account.until,
        **_describe(account, sums),
        "currencies": currencies,
        "items": page.items,
        "page_size": page.page_size,
        "next_cursor": page.next_cursor,
    }


def _describe(account: _Account, sums: Mapping[str, Decimal]) -> Record:
    """Return the balances and the sums of both sides as the response has them."""
    debit, credit = (sums["more"], -sums["less"]) if account.side == "out" else (-sums["less"], sums["more"])
    return {
        "opening_balance": sums["opening"],
        "debit": debit,
        "credit": credit,
        "closing_balance": sums["closing"],
    }


async def list_lines(req: Request) -> Page:
    """Return a page of the lines of a statement, for tables."""
    return (await _read_page(req, await _find_account(req)))[0]


async def _read_page(req: Request, account: _Account, *, named: bool = False) -> tuple[Page, dict[str, Decimal]]:
    """Return a page of lines, and the sums. With `named`, note the names that the response shows beside references."""
    size = req.query["page_size"]
    place = _read_cursor(req.query.get("cursor"))
    later: Record = {"day": {"$gte": account.since}}
    if place is not None:
        later = {"$or": [{"day": {"$gt": place[0]}}, {"day": place[0], "_id": {"$gt": place[1]}}]}
    shown = {"$and": [account.entries, later, {"kind": {"$ne": RESCHEDULED}}]}
    reading = _read_rows(req, shown, size, named)
    rows, sums = await asyncio.gather(reading, _sum_up(req, account, place))
    sources = await name_sources(req, rows[:size], account.until)
    balance, items = sums["before"], []
    for row in rows[:size]:
        amount = account.amount_of(row)
        balance += amount
        more, less = max(amount, _ZERO), max(-amount, _ZERO)
        debit, credit = (more, less) if account.side == "out" else (less, more)
        items.append({**row, **sources[row["id"]], "debit": debit, "credit": credit, "balance": balance})
    last = rows[size - 1] if len(rows) > size else None
    cursor = f"{last['day']}_{last['id']}" if last is not None else None
    return Page(items, None, 1, size, cursor), sums


async def _read_rows(req: Request, shown: Record, size: int, named: bool) -> list[OpenItemEntry]:
    """Return the rows of a page, and the next one if there is one. With `named`, look up their names as well."""
    rows = await req.store(ENTRIES).find(shown, sort="day,id", limit=size + 1, fields=READ)
    if named:
        wanted = {ENTRIES.references[name]: [req.query.get(name)] for name in _PARTIES}
        wanted[OPEN_ITEMS.name] = [row["open_item_id"] for row in rows[:size]]
        req.note_names(await req.part(RecordNames).look_up(wanted, req.language))
    return rows


async def _sum_up(req: Request, account: _Account, place: tuple[str, Any] | None) -> dict[str, Decimal]:
    """Return the balances before the first day, before the page and after the last day, and the sums of both sides."""
    before: Record = {"$lt": ["$day", account.since]}
    if place is not None:
        same_day = {"$and": [{"$eq": ["$day", place[0]]}, {"$lte": ["$_id", place[1]]}]}
        before = {"$or": [{"$lt": ["$day", place[0]]}, same_day]}
    sums = _sums(account, account.amount, before=before)
    found = await req.store(ENTRIES).aggregate([{"$match": account.entries}, {"$group": {"_id": None, **sums}}])
    return {name: rounded(exact(found[0][name]) if found else Decimal(0)) for name in sums}


def _sums(account: _Account, amount: Any, **further: Record) -> Record:
    """Return the sums over the entries of an account, of an amount: the balances, both sides, and where `further` holds."""
    counted = [{"$gte": ["$day", account.since]}, {"$ne": ["$kind", RESCHEDULED]}]
    tests: Record = {
        "opening": {"$lt": ["$day", account.since]},
        "more": {"$and": [*counted, {"$gt": [amount, 0]}]},
        "less": {"$and": [*counted, {"$lt": [amount, 0]}]},
        "closing": True,
        **further,
    }
    return {name: {"$sum": {"$cond": [test, amount, 0]}} for name, test in tests.items()}


async def _sum_currencies(req: Request, account: _Account) -> list[Record] | None:
    """Return the sums in each currency, the company's own first, with the ageing on the last day; None if all is in that."""
    entries = req.store(ENTRIES)
    if not await entries.find({"$and": [account.entries, FOREIGN]}, limit=1, fields=("day",)):
        return None
    amount = signed_amount(account.side, {"$ifNull": ["$currency_amount", "$amount"]})
    key = {"currency": {"$ifNull": ["$currency", ""]}, "bucket": bucket_of_entry(account.until)}
    grouped = {"$group": {"_id": key, **_sums(account, amount)}}
    rows: defaultdict[str, dict[str, Record]] = defaultdict(dict)
    for row in await entries.aggregate([{"$match": account.entries}, grouped]):
        rows[row["_id"]["currency"]][row["_id"]["bucket"]] = row
    base = await req.part(Rates).find_base()
    found = {code or base: _describe_currency(account, rows[code]) for code in sorted(rows)}
    return [{"currency": code, **sums} for code, sums in found.items() if any(sums.values())] or None


def _describe_currency(account: _Account, rows: Mapping[str, Record]) -> Record:
    """Return the sums in a currency from the sums of each bucket."""
    names = ("opening", "more", "less", "closing")
    sums = {name: rounded(sum((exact(row[name]) for row in rows.values()), _ZERO)) for name in names}
    aged = {name: rounded(exact(rows[name]["closing"]) if name in rows else _ZERO) for name in (*BUCKETS, ADVANCES)}
    total = sum((aged[name] for name in BUCKETS), _ZERO)
    return {**_describe(account, sums), **aged, "total": total, ADVANCES: -aged[ADVANCES]}


def _read_cursor(cursor: str | None) -> tuple[str, Any] | None:
    """Return the day and the id of the last line before the page, from the cursor; raise 40001 if it is malformed."""
    if cursor is None:
        return None
    at, _, id = cursor.partition("_")
    try:
        return date.fromisoformat(at).isoformat(), ENTRIES.parse_id(id)
    except (ValueError, ApiError) as error:
        raise invalid("cursor", "cursor") from error


_SUMS: Mapping[str, Field] = {
    "opening_balance": money(
        label=("期初余额", "Opening balance"), nullable=False, description="What was open before the first day."
    ),
    "debit": money(
        label=("借方", "Debit"),
        nullable=False,
        description="The sum of the debit side from the first day to the last.",
    ),
    "credit": money(
        label=("贷方", "Credit"),
        nullable=False,
        description="The sum of the credit side from the first day to the last.",
    ),
    "closing_balance": money(
        label=("期末余额", "Closing balance"), nullable=False, description="What is open after the last day."
    ),
}
_IN_A_CURRENCY = {
    "currency": currency().but(filter=False, description=None),
    **undescribed({**_SUMS, **AMOUNTS}),
}
STATEMENT = shape(
    "Statement",
    **{name: PARTY[name] for name in _PARTIES},
    open_item_id=object_id(label=("应收应付款项", "Open item"), ref=OPEN_ITEMS.name),
    **{"from": day(label=("开始日期", "From"), description="Null: from the beginning.")},
    to=day(label=("结束日期", "To"), nullable=False),
    **_SUMS,
    currencies=array(
        obj("StatementCurrency", _IN_A_CURRENCY),
        max_items=200,
        label=("按币种", "By currency"),
        only_with=RATES_TABLE,
        description="With the ageing on the last day. Null: all is in the company's own.",
    ),
    items=array(LINES.read, max_items=1000, nullable=False, label=("明细", "Lines")),
    page_size=integer(minimum=1, nullable=False),
    next_cursor=text(max_length=100, description="Give it as `cursor` for the next page; null at the end."),
)

ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/statements",
        read_statement,
        summary="Show the statement of account of a customer or supplier, or of an open item",
        access="finance:statement:read",
        query=_QUERY,
        returns=STATEMENT,
        collection=ENTRIES.name,
    ),
    *tables(
        LINES,
        at="/api/v1/finance/statements",
        resource="finance:statement",
        only=("export",),
        lister=list_lines,
        query=FILTERS,
    ),
)
