"""The part of the dashboards that finance computes: income and expense, from its vouchers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import Request, exact
from plugins.api.data import Filter
from plugins.api.reports import ByTime, Dashboard, Figures, Period, period_of
from plugins.finance.records import VOUCHERS

_SIGNS = {"income": 1, "expense": -1}
_WORTH = {"$ifNull": ["$base_amount", "$amount"]}  # in the company's currency
_INCOME, _EXPENSE = ({"$cond": [{"$eq": ["$kind", kind]}, _WORTH, 0]} for kind in _SIGNS)


def _of_both_kinds(period: Period) -> Filter:
    return {"kind": {"$in": list(_SIGNS)}}


FIGURES = Figures(
    VOUCHERS,
    {"income": _INCOME, "expense": _EXPENSE, "profit": {"$subtract": [_INCOME, _EXPENSE]}},
    where=_of_both_kinds,
    by=ByTime("day", "month"),
    totals=True,
)


async def finance_summary(req: Request) -> dict[str, Any]:
    """Return income, expense and profit by month. Transfers do not count; a reversal takes away what it reverses."""
    period = period_of(req)
    rows = await req.store(VOUCHERS).aggregate(
        [
            {"$match": FIGURES.filter(period)},
            {
                # by kind too, so that each record is added to one sum and not to one for each figure
                "$group": {
                    "_id": {"month": {"$substrBytes": ["$day", 0, 7]}, "kind": "$kind"},
                    "amount": {"$sum": _WORTH},
                }
            },
        ],
        collection_scan=period.open,
    )
    # the dashboard merges the items of one month by adding them up
    items = [{"month": row["_id"]["month"], **_add_profit(row["_id"]["kind"], exact(row["amount"]))} for row in rows]
    totals = {name: sum((item.get(name, Decimal(0)) for item in items), Decimal(0)) for name in (*_SIGNS, "profit")}
    return {**totals, "items": items}


def _add_profit(kind: str, amount: Decimal) -> dict[str, Any]:
    return {kind: amount, "profit": _SIGNS[kind] * amount}


DASHBOARDS = (Dashboard("finance-summary", finance_summary, figures=(FIGURES,)),)
