"""Parts of open items that are due on different days: payments pay the earliest part first."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import exact, store_money
from plugins.finance.open_items.entries import split_by_due_day


def pay_earliest(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schedule` and `due_on` of an item whose payments name no part of it; an empty dict without a schedule.

    If another plugin counts the payments, it has said which parts they paid: then only `due_on`, as in the entries.
    """
    if not item.get("schedule"):
        return {}
    if item["paid_elsewhere"]:
        return {"due_on": _find_next(item)}
    left, parts = exact(item["paid"]), []
    for part in sorted(item["schedule"], key=lambda one: one["due_on"]):
        paid = max(min(left, exact(part["amount"])), Decimal(0))
        left -= paid
        parts.append({**part, "paid": store_money(paid)})
    return {"schedule": parts, "due_on": _find_next({**item, "schedule": parts})}


def _find_next(item: Mapping[str, Any]) -> str | None:
    """Return the first day for which something is open, or None."""
    return next((due for due, left in split_by_due_day(item).items() if due and left > 0), None)
