"""Periods: a month numbers its vouchers without a gap, and takes none once it is closed.

Number and lock are one document, so that a voucher and the closing of its month cannot happen side by side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    DUPLICATE,
    FIRST_DAY,
    LAST_DAY,
    NOT_FOUND,
    ApiError,
    Request,
    Service,
    day_of,
    invalid,
)
from plugins.finance.messages import PERIOD_CLOSED, PERIOD_NOT_OVER
from plugins.finance.records import PERIODS

DATED_EVENT = "finance.dated"
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


async def opened(req: Request, month: str) -> None:
    """Make sure that the month has its document. Outside of transactions: two may come first at once."""
    periods = req.system_store(PERIODS)
    if await periods.find_one({"_id": month}):
        return
    try:
        await periods.create({"closed": False, "last_number": 0}, id=month)
    except ApiError as error:
        if error.kind is not DUPLICATE:
            raise


async def next_number(req: Request, month: str) -> str:
    """The next voucher number of the month, as part of the transaction; 40901 once the month is closed."""
    period = await req.system_store(PERIODS).change_quietly(
        {"_id": month, "closed": False}, {"$inc": {"last_number": 1}}
    )
    if period is None:
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))
    return f"{month}-{period['last_number']:06}"


async def check_open(service: Service, payload: Mapping[str, Any]) -> None:
    """40901 for what is dated (`day`) into a closed month and takes no voucher number: invoices, payments of contracts.

    It looks and locks nothing: what is entered in the very moment of the closing may still be dated before it.
    """
    month = payload["day"][:7]
    if await service.database.store(PERIODS).find_one({"_id": month, "closed": True}):
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))


async def close(req: Request) -> dict[str, Any]:
    """Close a month for good: nothing is dated into it afterwards; corrections go into an open one.

    40001 for a month that is out of bounds, 40901 for one that is not over.
    """
    month = req.path["month"]
    if not _MONTH.fullmatch(month):
        raise ApiError(NOT_FOUND)
    if not FIRST_DAY[:7] <= month <= LAST_DAY[:7]:
        raise invalid("month", "bounds")
    if month >= day_of(req.now, req.service.settings.zone).isoformat()[:7]:
        raise ApiError(CONFLICT, PERIOD_NOT_OVER.filled(month=month))
    await opened(req, month)
    closed = {"closed": True, "closed_at": req.now, "closed_by": req.actor.user_id}
    return await req.system_store(PERIODS).update(
        month, closed, where={"closed": False}, reason=PERIOD_CLOSED.filled(month=month)
    )
