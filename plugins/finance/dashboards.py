"""What finance knows of the dashboards (CONTRACT 9): income and expense by its vouchers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import Dashboard, Request, exact, period_of
from plugins.finance.records import VOUCHERS

_SIGNS = {"income": 1, "expense": -1}


async def finance_summary(req: Request) -> dict[str, Any]:
    """What was received and paid, by the month of the voucher. Transfers are neither; reversals count against theirs."""
    period = period_of(req)
    rows = await req.store(VOUCHERS).aggregate([
        {"$match": {"kind": {"$in": list(_SIGNS)}, **period.days("day")}},
        {"$group": {"_id": {"month": {"$substrBytes": ["$day", 0, 7]}, "kind": "$kind"}, "amount": {"$sum": "$amount"}}},
    ], whole=period.open)  # fmt: skip
    # the answer adds up the rows of a month
    items = [{"month": row["_id"]["month"], **_result(row["_id"]["kind"], exact(row["amount"]))} for row in rows]
    totals = {name: sum((item.get(name, Decimal(0)) for item in items), Decimal(0)) for name in (*_SIGNS, "profit")}
    return {**totals, "items": items}


def _result(kind: str, amount: Decimal) -> dict[str, Any]:
    return {kind: amount, "profit": _SIGNS[kind] * amount}


DASHBOARDS = (Dashboard("finance-summary", finance_summary),)
