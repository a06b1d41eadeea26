"""Dashboards of crm: customers, leads, opportunities, contracts and payments received."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from plugins.api import (
    Dashboard,
    Dictionaries,
    Field,
    Message,
    RecordNames,
    Request,
    Store,
    by_day,
    by_month,
    exact,
    period_of,
)
from plugins.crm.contract_records import CONTRACTS, PAYMENTS
from plugins.crm.payments import PAYABLE
from plugins.crm.records import CUSTOMERS, LEADS, OPPORTUNITIES
from plugins.crm.states import OPPORTUNITY_STAGES

Part = dict[str, Any]
_NONE = Message("未填写", "Unspecified")
_TOTAL: Mapping[str, Any] = {"amount": {"$sum": "$amount"}, "count": {"$sum": 1}}
# a reversal, whose amount is below zero, takes away the payment that it reverses
_RECEIVED: Mapping[str, Any] = {"amount": {"$sum": "$amount"}, "count": {"$sum": {"$cmp": ["$amount", 0]}}}
# what came to an account is in the books, and counts by its voucher
_NOT_IN_BOOKS: Mapping[str, Any] = {"amount": {"$sum": {"$cond": [{"$gt": ["$account_id", None]}, 0, "$amount"]}}}
# figures of contracts count those in force or completed
_AGREED: Mapping[str, Any] = {"status": {"$in": list(PAYABLE)}}


async def overview(req: Request) -> Part:
    """Totals of what the caller may see."""
    customers, opportunities, agreed, received = await asyncio.gather(
        req.store(CUSTOMERS).count(),
        req.store(OPPORTUNITIES).count(),
        _sum_amount(req.store(CONTRACTS), _AGREED),
        _sum_amount(req.store(PAYMENTS), {}),
    )
    return {
        "customers": customers,
        "opportunities": opportunities,
        "contract_amount": agreed,
        "received_amount": received,
    }


async def _sum_amount(store: Store, where: Mapping[str, Any]) -> Any:
    rows = await store.aggregate([{"$match": where}, {"$group": {"_id": None, **_TOTAL}}], collection_scan=not where)
    return rows[0]["amount"] if rows else None


async def sales_trend(req: Request) -> Part:
    """Payments by the day on which they were received."""
    days = await by_day(req.store(PAYMENTS), "paid_at", period_of(req), _RECEIVED)
    return {"items": [{"date": day, **_with_count(row)} for day, row in days.items()]}


def _with_count(row: Part) -> Part:
    """The row without a count below zero, as on a day with nothing but reversals."""
    return {**row, "count": max(row["count"], 0)}


async def finance_summary(req: Request) -> Part:
    """Income by month: payments received, without those that are in the books, which have vouchers."""
    months = await by_month(req.store(PAYMENTS), "paid_at", period_of(req), _NOT_IN_BOOKS)
    items = [{"month": month, "income": row["amount"], "profit": row["amount"]} for month, row in months.items()]
    income = sum(exact(item["income"]) for item in items)
    return {"income": income, "profit": income, "items": items}


async def contract_trend(req: Request) -> Part:
    """Contracts by the month in which they were signed."""
    rows = await req.store(CONTRACTS).aggregate(
        [
            {"$match": {**_AGREED, **period_of(req).days("signed_date")}},
            {"$group": {"_id": {"$substrBytes": ["$signed_date", 0, 7]}, **_TOTAL}},
        ]
    )
    return {"items": [{"month": row["_id"], **row} for row in rows]}


async def sales_ranking(req: Request) -> Part:
    """Owners of payments or contracts, the highest amount first; equal amounts by user id."""
    period = period_of(req)
    by_payments = req.query["by"] == "payments"
    store = req.store(PAYMENTS if by_payments else CONTRACTS)
    where = period.moments("paid_at") if by_payments else {**_AGREED, **period.days("signed_date")}
    rows = await store.aggregate(
        [
            {"$match": {**where, "owner_id": {"$ne": None}}},
            {"$group": {"_id": "$owner_id", **(_RECEIVED if by_payments else _TOTAL)}},
            {"$sort": {"amount": -1, "_id": 1}},
            {"$limit": req.query["limit"]},
        ],
        collection_scan=by_payments and not where,
    )
    names = (await req.part(RecordNames).look_up({"users": [row["_id"] for row in rows]}, req.language))["users"]
    return {
        "items": [
            {**_with_count(row), "rank": number, "user_id": row["_id"], "name": names.get(row["_id"], "")}
            for number, row in enumerate(rows, 1)
        ]
    }


async def customer_distribution(req: Request) -> Part:
    """Customers by industry and by level, the largest count first."""
    # one pass over the collection for both fields
    rows = await req.store(CUSTOMERS).aggregate(
        [{"$group": {"_id": {"industry": "$industry", "level": "$level"}, "value": {"$sum": 1}}}], collection_scan=True
    )
    return {
        f"by_{name}": await _to_slices(
            req, CUSTOMERS.fields[name], ((row["_id"].get(name), row["value"]) for row in rows)
        )
        for name in ("industry", "level")
    }


async def lead_source_distribution(req: Request) -> Part:
    """Leads by source, the largest count first."""
    rows = await req.store(LEADS).aggregate(
        [{"$group": {"_id": "$source", "value": {"$sum": 1}}}], collection_scan=True
    )
    return {"items": await _to_slices(req, LEADS.fields["source"], ((row["_id"], row["value"]) for row in rows))}


async def _to_slices(req: Request, field: Field, counted: Iterable[tuple[str | None, int]]) -> list[Part]:
    """Slices of a pie chart by the values of a field, the largest first. Empty and missing values are one slice."""
    totals: Counter[str] = Counter()
    for code, count in counted:
        totals[code or ""] += count
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    dictionaries, none = req.part(Dictionaries), _NONE.text(req.language)
    return [
        {
            "name": await dictionaries.label(field, code, req.language) if code else none,
            "code": code or None,
            "value": count,
        }
        for code, count in ordered
    ]


async def opportunity_funnel(req: Request) -> Part:
    """Count and amount of opportunities by stage, in the order of a deal."""
    rows = await req.store(OPPORTUNITIES).aggregate([{"$group": {"_id": "$stage", **_TOTAL}}], collection_scan=True)
    found = {row["_id"]: row for row in rows}
    return {
        "items": [
            {"stage": stage, "name": label.text(req.language), **found.get(stage, {})}
            for stage, label in OPPORTUNITY_STAGES.states.items()
        ]
    }


DASHBOARDS = (
    Dashboard("overview", overview),
    Dashboard("sales-trend", sales_trend),
    Dashboard("finance-summary", finance_summary),
    Dashboard("contract-trend", contract_trend),
    Dashboard("sales-ranking", sales_ranking),
    Dashboard("customer-distribution", customer_distribution),
    Dashboard("lead-source-distribution", lead_source_distribution),
    Dashboard("opportunity-funnel", opportunity_funnel),
)
