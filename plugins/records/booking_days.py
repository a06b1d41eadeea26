"""On which day an effect is booked whose date may be in a closed month."""

from __future__ import annotations

from handlers.service import Service
from plugins.records.shared_events import OPEN_DAY_ASKED


async def find_booked_on(service: Service, day: str) -> str:
    """Return the first day from `day` on that is in no closed month: `day` itself unless a plugin that keeps books says so.

    For a date that is a fact beside the booking, such as the signing of a contract: it stays, and the effect is booked on
    the day that is returned. What is dated by the booking itself emits `DATED`, which refuses a closed month.
    """
    found: dict[str, str] = {}
    await service.events.emit(OPEN_DAY_ASKED, {"day": day, "found": found})
    return found.get("day", day)
