"""The dashboards in plain Python, over the records that a user can list."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

Records = Mapping[str, Sequence[Mapping[str, Any]]]
SHANGHAI = ZoneInfo("Asia/Shanghai")
CENT = Decimal("0.01")
STAGES = ("initial", "qualified", "proposal", "negotiation", "won", "lost")


def day(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(SHANGHAI).date().isoformat()


def money(amounts: Iterable[Any]) -> str:
    return f"{sum(map(Decimal, amounts), Decimal(0)):.2f}"


def last_days(count: int, today: date) -> list[str]:
    return [(today - timedelta(days=back)).isoformat() for back in reversed(range(count))]


def last_months(count: int, today: date) -> list[str]:
    months = today.year * 12 + today.month - 1
    return [f"{month // 12}-{month % 12 + 1:02}" for month in range(months - count + 1, months + 1)]


def agreed(found: Records) -> list[Mapping[str, Any]]:
    return [one for one in found["contracts"] if one["status"] in ("in_force", "completed")]


def overview(found: Records) -> dict[str, Any]:
    return {
        "customers": len(found["customers"]),
        "opportunities": len(found["opportunities"]),
        "contract_amount": money(one["amount"] for one in agreed(found)),
        "received_amount": money(one["amount"] for one in found["payments"]),
        "pending_approvals": sum(one["status"] == "pending" for one in found["instances"]),
    }


def sales_trend(found: Records, days: Sequence[str]) -> list[dict[str, Any]]:
    by_day = defaultdict(list)
    for payment in found["payments"]:
        by_day[day(payment["paid_at"])].append(payment["amount"])
    return [{"date": one, "amount": money(by_day[one]), "count": received(by_day[one])} for one in days]


def received(amounts: Iterable[Any]) -> int:
    """How many payments these are: a reversal takes one away."""
    return max(sum(1 if Decimal(amount) > 0 else -1 for amount in amounts), 0)


def contract_trend(found: Records, months: Sequence[str]) -> list[dict[str, Any]]:
    by_month = defaultdict(list)
    for contract in agreed(found):
        by_month[contract["signed_date"][:7]].append(contract["amount"])
    return [{"month": one, "count": len(by_month[one]), "amount": money(by_month[one])} for one in months]


def sold_by(one: Mapping[str, Any]) -> Any:
    """Whose it is, whoever owns it now; a record of an earlier version is its owner's."""
    return one["owner_id"] if one["salesperson_id"] is None else one["salesperson_id"]


def ranking(found: Records, first: str, last: str, by: str) -> list[dict[str, Any]]:
    rows = (
        [(sold_by(one), one["amount"]) for one in found["payments"] if first <= day(one["paid_at"]) <= last]
        if by == "payments"
        else [(sold_by(one), one["amount"]) for one in agreed(found) if first <= one["signed_date"] <= last]
    )
    people = {owner: [Decimal(amount) for other, amount in rows if other == owner] for owner, _ in rows}
    order = sorted(people, key=lambda owner: (-sum(people[owner]), owner))
    return [
        {"rank": rank, "user_id": owner, "amount": money(people[owner]), "count": received(people[owner])}
        for rank, owner in enumerate(order, 1)
    ]


def finance(found: Records, first: str, last: str) -> dict[str, Any]:
    # what came to an account counts by its voucher
    flows = [(day(one["paid_at"]), "income", one["amount"]) for one in found["payments"] if one["account_id"] is None]
    flows += [(one["day"], one["kind"], one["amount"]) for one in found["vouchers"] if one["kind"] != "transfer"]
    flows = [flow for flow in flows if first <= flow[0] <= last]
    count = (int(last[:4]) - int(first[:4])) * 12 + int(last[5:7]) - int(first[5:7]) + 1
    months = last_months(count, date.fromisoformat(last))
    return {
        **_result(flows),
        "items": [{"month": month, **_result([flow for flow in flows if flow[0][:7] == month])} for month in months],
    }


def _result(flows: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    income, expense = (money(amount for _, kind, amount in flows if kind == one) for one in ("income", "expense"))
    return {"income": income, "expense": expense, "profit": money([income, -Decimal(expense)])}


LABELS = {
    "": "未填写",
    "A": "重点",
    "B": "普通",
    "retail": "零售",
    "energy": "能源",
    "website": "官网",
    "phone": "电话",
}


def slices(records: Sequence[Mapping[str, Any]], field: str) -> list[dict[str, Any]]:
    counts = Counter(one[field] or "" for one in records)
    order = sorted(counts, key=lambda code: (-counts[code], code))
    return [{"name": LABELS[code], "code": code or None, "value": counts[code]} for code in order]


def funnel(found: Records) -> list[dict[str, Any]]:
    stages = {stage: [one["amount"] for one in found["opportunities"] if one["stage"] == stage] for stage in STAGES}
    return [{"stage": stage, "count": len(stages[stage]), "amount": money(stages[stage])} for stage in STAGES]


def stock(found: Records) -> dict[str, tuple[Decimal, Decimal]]:
    held: dict[str, tuple[Decimal, Decimal]] = {one["id"]: (Decimal(0), Decimal(0)) for one in found["warehouses"]}
    for row in found["stock"]:
        if row["warehouse_id"] in held:
            quantity, value = held[row["warehouse_id"]]
            held[row["warehouse_id"]] = quantity + Decimal(row["quantity"]), value + Decimal(row["value"])
    return held


def trade(found: Records, months: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "month": month,
            "sales": _ordered(found["sales-orders"], month, "delivered"),
            "purchase": _ordered(found["purchase-orders"], month, "received"),
        }
        for month in months
    ]


def _ordered(orders: Sequence[Mapping[str, Any]], month: str, done: str) -> str:
    return money(
        (_shipped(one, done) if one["status"] == "closed" else Decimal(one["amount"]))
        - Decimal(one["returned_amount"] or 0)
        for one in orders
        if one["status"] not in ("draft", "pending", "cancelled") and one["ordered_on"][:7] == month
    )


def _shipped(order: Mapping[str, Any], done: str) -> Decimal:
    if order["shipped_amount"] is not None:
        return Decimal(order["shipped_amount"])
    lines = [
        Decimal(line[done]) * Decimal(line["price"]) * (1 - Decimal(line["discount"] or 0)) for line in order["lines"]
    ]
    return sum((amount.quantize(CENT, ROUND_HALF_UP) for amount in lines), Decimal(0))
