"""Sums of records by the business day or month of one of their timestamps.

If every day has 24 hours, records are assigned to days by arithmetic, in half the time of MongoDB's calendar functions;
only the few rows of the result are then formatted as dates.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from config.database import Filter
from handlers.data.store import Store
from handlers.reports.periods import MOST_POINTS, Period
from handlers.schema.calendar import settled_since, start_of
from handlers.schema.values import Operators, Record

Stage = dict[str, Any]
_DAY_MS = 86_400_000
_DAY, _MONTH = "%Y-%m-%d", "%Y-%m"


async def by_day(
    store: Store, field: str, period: Period, sums: Operators, where: Filter | None = None
) -> dict[str, Record]:
    """Return `sums`, which are accumulators of `$group`, by the day (`2026-11-20`) of `field`."""
    even = _even_from(period)
    if even is None:
        return await _group_rows(store, field, period, [_group(_text(f"${field}", _DAY, period.zone), sums)], where)
    named = {"$set": {"_id": _text("$_id", _DAY, period.zone)}}
    return await _group_rows(store, field, period, [_group(_midnight(field, period, even), sums), named], where)


async def by_month(
    store: Store, field: str, period: Period, sums: Operators, where: Filter | None = None
) -> dict[str, Record]:
    """Return `sums` by the month (`2026-11`) of `field`, as `by_day` does by day."""
    even = _even_from(period)
    # of the accumulators, only the sums of a month can be computed from those of its days
    if even is None or any(accumulator.keys() != {"$sum"} for accumulator in sums.values()):
        return await _group_rows(store, field, period, [_group(_text(f"${field}", _MONTH, period.zone), sums)], where)
    months = _group(_text("$_id", _MONTH, period.zone), {name: {"$sum": f"${name}"} for name in sums})
    return await _group_rows(store, field, period, [_group(_midnight(field, period, even), sums), months], where)


async def _group_rows(
    store: Store, field: str, period: Period, stages: list[Stage], where: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    matching = {field: {"$ne": None}, **period.moments(field), **(where or {})}
    rows = await store.aggregate([{"$match": matching}, *stages], collection_scan=period.open)
    return {row.pop("_id"): row for row in rows}


def _group(key: Mapping[str, Any], sums: Mapping[str, Any]) -> Stage:
    return {"$group": {"_id": key, **sums}}


def _text(moment: str, format: str, zone: ZoneInfo) -> Stage:
    return {"$dateToString": {"date": moment, "format": format, "timezone": zone.key}}


def _midnight(field: str, period: Period, even: datetime) -> Stage:
    """Return the moment at which the business day of `field` began; before `even` MongoDB's calendar computes it."""
    moment = f"${field}"
    counted = {"$subtract": [moment, {"$mod": [{"$subtract": [moment, even]}, _DAY_MS]}]}
    if period.first and start_of(period.first, period.zone) >= even:
        return counted
    looked_up = {"$dateTrunc": {"date": moment, "unit": "day", "timezone": period.zone.key}}
    return {"$cond": [{"$gte": [moment, even]}, counted, looked_up]}


def _even_from(period: Period) -> datetime | None:
    """Return the start of a day from which all days of the period have 24 hours; None if no such day helps."""
    since = settled_since(period.zone)
    if since <= period.today:
        return start_of(max(since, period.first or since), period.zone)
    if not (period.first and period.last) or (period.last - period.first).days > MOST_POINTS:
        return None
    days = [period.first + timedelta(days=number) for number in range((period.last - period.first).days + 2)]
    begins = [start_of(day, period.zone) for day in days]
    even = all(after - before == timedelta(days=1) for before, after in pairwise(begins))
    return begins[0] if even else None
