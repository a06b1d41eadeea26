"""Sums of records by the business day or month that a moment of theirs is in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from handlers.calendar import start_of
from handlers.dashboards import MOST_POINTS, Period
from handlers.data.store import Store

_DAY_MS = 86_400_000


async def by_day(
    store: Store, field: str, period: Period, sums: Mapping[str, Any], where: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Day (`2026-11-20`) → `sums`, which are accumulators of `$group`, of the records whose `field` is in it."""
    zone = period.zone
    if period.first and period.last and _even(period.first, period.last, zone):
        # by arithmetic: half the time of `$dateToString`, and all of it is one subtraction and one division
        begin, first = start_of(period.first, zone), period.first
        number = {"$toInt": {"$floor": {"$divide": [{"$subtract": [f"${field}", begin]}, _DAY_MS]}}}
        rows = await _grouped(store, field, period, number, sums, where)
        return {(first + timedelta(days=day)).isoformat(): row for day, row in rows.items()}
    return await _grouped(store, field, period, _local(field, "%Y-%m-%d", zone), sums, where)


async def by_month(
    store: Store, field: str, period: Period, sums: Mapping[str, Any], where: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Month (`2026-11`) → `sums`, as `by_day`."""
    zone = period.zone
    return await _grouped(store, field, period, _local(field, "%Y-%m", zone), sums, where)


async def _grouped(
    store: Store, field: str, period: Period, key: Mapping[str, Any], sums: Mapping[str, Any],
    where: Mapping[str, Any] | None,
) -> dict[Any, dict[str, Any]]:  # fmt: skip
    matching = {field: {"$ne": None}, **period.moments(field), **(where or {})}
    unbounded = period.first is None and period.last is None
    rows = await store.aggregate([{"$match": matching}, {"$group": {"_id": key, **sums}}], whole=unbounded)
    return {row.pop("_id"): row for row in rows}


def _local(field: str, format: str, zone: ZoneInfo) -> dict[str, Any]:
    return {"$dateToString": {"date": f"${field}", "format": format, "timezone": zone.key}}


def _even(first: date, last: date, zone: ZoneInfo) -> bool:
    """Whether every day of the period has 24 hours, of not too many."""
    if (last - first).days > MOST_POINTS:
        return False
    begins = [start_of(first + timedelta(days=number), zone) for number in range((last - first).days + 2)]
    return all(after - before == timedelta(days=1) for before, after in pairwise(begins))
