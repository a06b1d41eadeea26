"""Closed days, whose results no longer change because wages were paid by them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from plugins.api import CONFLICT, ApiError, Message, Option, Request, Service, day as a_day, day_of
from plugins.hrm.messages import CLOSED, NOT_OVER
from plugins.system.api import Configs

MAX_DAYS = 366  # older results, and the days of older leave, are not computed again
_CLOSED_TO = "hrm_attendance_closed_to"

CLOSING = Option(
    _CLOSED_TO,
    a_day(example="2026-10-31"),
    Message("考勤结果封账至（含当日）", "Last day whose attendance is closed"),
)


async def get_closed_day(service: Service) -> date | None:
    """Return the last day that is closed, or None."""
    chosen = await service.part(Configs).value(_CLOSED_TO)
    return date.fromisoformat(chosen) if chosen else None


async def refuse_closing_ahead(_: Service, payload: Mapping[str, Any]) -> None:
    """Raise 40901 if the changed options would close a day that is not over."""
    req: Request = payload["request"]
    day = payload["values"].get(_CLOSED_TO)
    if day is not None and day >= day_of(req.now, req.service.settings.zone).isoformat():
        raise ApiError(CONFLICT, NOT_OVER.filled(day=day))


async def find_open_day(service: Service, day: date) -> date:
    """Return `day`, or the first open day if `day` is closed."""
    closed = await get_closed_day(service)
    return max(day, closed + timedelta(days=1)) if closed else day


async def refuse_closed(service: Service, day: date) -> None:
    """Raise 40901 if `day` is closed."""
    closed = await get_closed_day(service)
    if closed is not None and day <= closed:
        raise ApiError(CONFLICT, CLOSED.filled(day=closed.isoformat()))
