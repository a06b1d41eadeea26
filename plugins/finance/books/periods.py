"""Periods: a month numbers its vouchers without a gap, and takes none once it is closed.

The last number and the lock are in one document, so booking a voucher and closing its month conflict with each other.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from typing import Any, TypeVar

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    ApiError,
    Refusal,
    Request,
    Route,
    Service,
    conflicts,
    crud,
    day_of,
    invalid,
    route,
    utc_now,
)
from plugins.api.fields import FIRST_DAY, LAST_DAY
from plugins.api.reports import end_of_month
from plugins.finance.books.records import PERIODS
from plugins.finance.messages import NO_MONTH, PERIOD_CLOSED, PERIOD_NOT_OVER
from plugins.finance.record_types import Period

Result = TypeVar("Result")
# what the listener for DATED may refuse
DATED_REFUSALS = conflicts(PERIOD_CLOSED)
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


async def ensure_period(req: Request, month: str) -> None:
    """Create the document of the month unless it exists."""
    periods = req.system_store(PERIODS)
    if await periods.find_one({"_id": month}):
        return

    async def create() -> None:
        # whoever waited for the lock sees the document that its last holder created
        await req.service.database.lock(PERIODS, month)
        if not await periods.find_one({"_id": month}):
            await periods.create({"closed": False, "last_number": 0}, id=month)

    await req.transaction(create)


async def take_turn(service: Service, month: str) -> None:
    """Make the transactions that book into a month run one after the other: each takes the next number of the month.

    Call it at the start of the transaction.
    """
    await service.database.take_turn(PERIODS, month)


class PeriodMissing(Exception):
    """The month has no document yet: it is created outside the transaction that needs it, which then runs again."""


async def in_period(req: Request, day: str, book: Callable[[], Awaitable[Result]]) -> Result:
    """Return the result of `book`, which takes a number of the month, in a transaction, before it writes anything.

    For the first voucher of a month, the document of the month is created and `book` runs again.
    """
    try:
        return await book()
    except PeriodMissing:
        await ensure_period(req, day[:7])
        return await book()


async def take_number(req: Request, month: str) -> str:
    """Take the next voucher number of the month, in the transaction.

    Raises 40901 if the month is closed, and PeriodMissing if it has no document yet.
    """
    periods = req.system_store(PERIODS)
    period = await periods.update_unversioned({"_id": month, "closed": False}, {"$inc": {"last_number": 1}})
    if period is None:
        if await periods.find_one({"_id": month}) is None:
            raise PeriodMissing
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))
    return f"{month}-{period['last_number']:06}"


async def check_open(service: Service, payload: Mapping[str, Any]) -> None:
    """Raise 40901 if the `day` of the payload is in a closed month. A `booked` one first waits for its turn.

    For records that take no voucher number: invoices, payments of contracts. The month stays open until the
    transaction ends: its closing waits. A month that is not over is open, and is not looked up.
    """
    month, current = payload["day"][:7], day_of(utc_now(), service.settings.zone).isoformat()[:7]
    if payload.get("booked"):
        await take_turn(service, month)
    if month >= current:
        return
    await service.database.share(PERIODS, month)
    if await service.database.store(PERIODS).find_one({"_id": month, "closed": True}):
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))


async def find_open_day(service: Service, day: str) -> str:
    """Return the day on which the effect of something dated `day` is booked: the first day from then on in an open month.

    For dates that stand beside a booking, such as the signing of a contract; the month stays open as in `check_open`.
    """
    month, current = day[:7], day_of(utc_now(), service.settings.zone).isoformat()[:7]
    if month >= current:
        return day
    later = {"_id": {"$gte": month, "$lt": current}, "closed": True}
    closed = {period["id"] for period in await service.database.store(PERIODS).find(later, fields=("closed",))}
    while day[:7] in closed:
        day = (end_of_month(date.fromisoformat(day)) + timedelta(days=1)).isoformat()
    if day[:7] < current:
        await service.database.share(PERIODS, day[:7])
    return day


async def close(req: Request) -> Period:
    """Close a month for good: nothing can be dated into it afterwards, and corrections go into an open month.

    Raises 40001 for a month out of bounds and 40901 for a month that is not over.
    """
    month = req.path["month"]
    if not _MONTH.fullmatch(month):
        raise ApiError(NOT_FOUND)
    if not FIRST_DAY[:7] <= month <= LAST_DAY[:7]:
        raise invalid("month", "bounds")
    if month >= day_of(req.now, req.service.settings.zone).isoformat()[:7]:
        raise ApiError(CONFLICT, PERIOD_NOT_OVER.filled(month=month))
    await ensure_period(req, month)
    closed = {"closed": True, "closed_at": req.now, "closed_by": req.actor.user_id}

    async def work() -> Period:
        await req.service.database.lock_all(PERIODS, month)  # so that what is being dated into it is in it, or refused
        return await req.system_store(PERIODS).update(
            month, closed, where={"closed": False}, reason=PERIOD_CLOSED.filled(month=month)
        )

    return await req.transaction(work)


ROUTES: tuple[Route, ...] = (
    *crud(PERIODS, at="/api/v1/finance/periods", resource="finance:period", only=("list",)),
    route(
        "POST /api/v1/finance/periods/{month}/close",
        close,
        summary="Close a month, such as 2026-10",
        access="finance:period:close",
        returns=PERIODS.read,
        refusals=(Refusal(NOT_FOUND, hint=NO_MONTH), *conflicts(PERIOD_CLOSED, PERIOD_NOT_OVER)),
    ),
)
