"""A statement run: the balances of all customers or suppliers over a period, and the lines of all of their statements."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

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
    choice,
    day,
    exact,
    invalid,
    money,
    object_id,
    service_fields,
    store_money,
)
from plugins.api.data import page_of_rows, query_of_rows, rows_before
from plugins.api.reports import report_list
from plugins.finance.ageing import DIRECTIONS, PARTY, day_asked, signed_amount, undescribed
from plugins.finance.entries import ENTRIES, RESCHEDULED, unsettled
from plugins.finance.statement_sources import name_sources
from plugins.finance.statements import LINES, READ

_OF_SIDE = {"receivable": "customer_id", "payable": "supplier_id"}
_ZERO = Decimal(0)
_MOST_PARTIES = 200
_PARTIES = {name: PARTY[name].but(read_only=True) for name in _OF_SIDE.values()}
# rows as responses and tables have them; nothing is stored in these shapes
BALANCES = Collection(
    name=ENTRIES.name,
    title="PartyBalance",
    noun=Message("往来余额", "balance of a party"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        **_PARTIES,
        **service_fields(
            opening_balance=money(label=("期初余额", "Opening balance"), description="Open before the first day."),
            debit=money(label=("借方", "Debit"), sort=True),
            credit=money(label=("贷方", "Credit"), sort=True),
            closing_balance=money(
                label=("期末余额", "Closing balance"), sort=True, description="Open after the last day."
            ),
        ),
    },
)
PARTY_LINES = Collection(
    name=ENTRIES.name,
    title="PartyStatementLine",
    noun=Message("对账单明细", "statement line of a party"),
    plain=True,
    fields={**_PARTIES, **undescribed(LINES.fields)},
)
_PERIOD: Mapping[str, Field] = {
    "kind": choice(*DIRECTIONS, default="receivable", nullable=False, label=("方向", "Side")),
    "from": day(label=("开始日期", "From"), nullable=False, description="The first day of this month unless given."),
    "to": day(label=("结束日期", "To"), nullable=False, description="Today unless given."),
    "parties": array(
        object_id(nullable=False),
        label=("往来单位", "Parties"),
        max_items=_MOST_PARTIES,
        nullable=False,
        description="Only these customers or suppliers; all unless given.",
    ),
}
_QUERY = {**query_of_rows(BALANCES), **_PERIOD}
_LINE_QUERY = {
    **{name: ENTRIES.list_query[name] for name in ("page", "page_size", "with_total")},
    "cursor": ENTRIES.list_query["cursor"].but(example="65f0c0ffee65f0c0ffee65f0_2026-11-20_65f0c0ffee65f0c0ffee65f0"),
    **_PERIOD,
}


async def list_balances(req: Request) -> Page:
    """Return a page of the parties with a change in the period, or a balance before or after it, the largest first."""
    since, until = days_asked(req)
    before = (date.fromisoformat(since) - timedelta(days=1)).isoformat()
    name, amount = _OF_SIDE[req.query["kind"]], _amount(req)
    within = [{"$gte": ["$day", since]}, {"$ne": ["$kind", RESCHEDULED]}]
    tests: Mapping[str, Any] = {
        "opening_balance": {"$lt": ["$day", since]},
        "more": {"$and": [*within, {"$gt": [amount, 0]}]},
        "less": {"$and": [*within, {"$lt": [amount, 0]}]},
        "closing_balance": True,
    }
    sums = {one: {"$sum": {"$cond": [test, amount, 0]}} for one, test in tests.items()}
    found = await req.store(ENTRIES).aggregate(
        [
            # what was settled before the first day adds nothing
            {"$match": {**_parties(req), "day": {"$lte": until}, **unsettled(before)}},
            {"$group": {"_id": f"${name}", **sums}},
            {"$match": {"$nor": [dict.fromkeys(tests, 0)]}},
            {"$sort": {"closing_balance": -1, "_id": 1}},
        ]
    )
    return page_of_rows(req.query, [_describe(name, row) for row in found])


def _describe(name: str, row: Mapping[str, Any]) -> Record:
    more, less = exact(row["more"]), -exact(row["less"])
    debit, credit = (more, less) if name == "customer_id" else (less, more)
    return {
        **dict.fromkeys(_PARTIES),
        "id": str(row["_id"]),
        name: row["_id"],
        **{one: store_money(exact(row[one])) for one in ("opening_balance", "closing_balance")},
        "debit": store_money(debit),
        "credit": store_money(credit),
    }


async def list_party_lines(req: Request) -> Page:
    """Return a page of the lines of the statements of all parties, one party after the other."""
    since, until = days_asked(req)
    name, size, place = _OF_SIDE[req.query["kind"]], req.query["page_size"], _read_cursor(req.query.get("cursor"))
    skipped = rows_before({**req.query, "cursor": None}) if place is None else 0
    within = {**_parties(req), "day": {"$gte": since, "$lte": until}, "kind": {"$ne": RESCHEDULED}}
    rows = await req.store(ENTRIES).aggregate(
        [
            {"$match": {"$and": [within, _after(name, place)]}},
            {"$sort": {name: 1, "day": 1, "_id": 1}},
            # with the last row before the page, whose balance goes on
            {"$skip": max(skipped - 1, 0)},
            {"$limit": size + 1 + bool(skipped)},
            {"$project": dict.fromkeys((*_PARTIES, *READ), 1)},
        ]
    )
    if skipped and rows:
        before, *rows = rows
        place = before[name], before["day"], before["_id"]
    shown = rows[:size]
    balances = await _read_balances(req, name, since, {row[name] for row in shown}, place)
    sources = await name_sources(req, [{**row, "id": row["_id"]} for row in shown], until)
    items = [_line(row, name, balances) | sources[row["_id"]] for row in shown]
    cursor = "_".join((str(shown[-1][name]), shown[-1]["day"], str(shown[-1]["_id"]))) if len(rows) > size else None
    total = await req.store(ENTRIES).count(within) if req.query.get("with_total", True) else None
    return Page(items, total, req.query["page"], size, cursor)


def _after(name: str, place: tuple[Any, str, Any] | None) -> Record:
    """Return the filter on the entries after a place in the order of parties, days and ids."""
    if place is None:
        return {}
    party, at, id = place
    of_party = ({"day": {"$gt": at}}, {"day": at, "_id": {"$gt": id}})
    return {"$or": [{name: {"$gt": party}}, *({name: party, **one} for one in of_party)]}


def _line(row: Mapping[str, Any], name: str, balances: dict[Any, Decimal]) -> Record:
    side = "out" if name == "customer_id" else "in"
    amount = exact(row["amount"]) * (1 if row["direction"] == side else -1)
    balances[row[name]] += amount
    more, less = max(amount, _ZERO), max(-amount, _ZERO)
    debit, credit = (more, less) if side == "out" else (less, more)
    amounts = {"debit": debit, "credit": credit, "balance": balances[row[name]]}
    kept = {one: row.get(one) for one in READ if one in PARTY_LINES.fields}
    return {
        **dict.fromkeys(_PARTIES),
        "id": row["_id"],
        name: row[name],
        **kept,
        **{one: store_money(value) for one, value in amounts.items()},
    }


async def _read_balances(
    req: Request, name: str, since: str, ids: set[Any], place: tuple[Any, str, Any] | None
) -> dict[Any, Decimal]:
    """Return what is open of each party before its first line of the page."""
    earlier: Any = {"$lt": ["$day", since]}
    if place is not None:
        party, at, id = place
        same_day = {"$and": [{"$eq": ["$day", at]}, {"$lte": ["$_id", id]}]}
        earlier = {"$cond": [{"$eq": [f"${name}", party]}, {"$or": [{"$lt": ["$day", at]}, same_day]}, earlier]}
    found = await req.store(ENTRIES).aggregate(
        [
            {"$match": {name: {"$in": [*ids]}}},
            {"$group": {"_id": f"${name}", "open": {"$sum": {"$cond": [earlier, _amount(req), 0]}}}},
        ]
    )
    return {row["_id"]: exact(row["open"]) for row in found}


def _amount(req: Request) -> Mapping[str, Any]:
    return signed_amount(DIRECTIONS[req.query["kind"]])


def _parties(req: Request) -> Record:
    chosen = req.query.get("parties")
    return {_OF_SIDE[req.query["kind"]]: {"$in": chosen} if chosen else {"$type": "objectId"}}


def days_asked(req: Request) -> tuple[str, str]:
    """Return the first and the last day. Raises 40001 for a last day before the first."""
    since = req.query.get("from") or f"{day_asked(req)[:7]}-01"
    until = req.query.get("to") or max(day_asked(req), since)
    if until < since:
        raise invalid("to", "minimum")
    return since, until


def _read_cursor(cursor: str | None) -> tuple[Any, str, Any] | None:
    """Return the party, the day and the id of the last line before the page. Raises 40001 for another cursor."""
    if cursor is None:
        return None
    parts = cursor.split("_")
    try:
        party, at, id = parts
        return ENTRIES.parse_id(party), date.fromisoformat(at).isoformat(), ENTRIES.parse_id(id)
    except (ValueError, ApiError) as error:
        raise invalid("cursor", "cursor") from error


ROUTES: tuple[Route, ...] = (
    *report_list(
        BALANCES,
        list_balances,
        at="/api/v1/finance/balances",
        resource="finance:balance",
        summary="List the balances of customers or suppliers over a period",
        title=("往来余额", "Balances"),
        query=_QUERY,
        collection=ENTRIES.name,
    ),
    *report_list(
        PARTY_LINES,
        list_party_lines,
        at="/api/v1/finance/balances/lines",
        resource="finance:balance",
        summary="List the lines of the statements of all customers or suppliers",
        title=("对账明细", "Statement lines"),
        query=_LINE_QUERY,
        collection=ENTRIES.name,
    ),
)
