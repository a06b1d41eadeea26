"""Who is on leave, and when people work: the answers of this plugin to others that ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from plugins.api import Service
from plugins.api.ports import Absences, WorkingTime
from plugins.api.values import start_of
from plugins.hrm.calendars import week_of_group
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.records import GROUPS
from plugins.hrm.states import LEAVE_STATES
from plugins.hrm.timetable import OFFICE_WEEK, WorkingWeek, minutes_since

_MOST_DAYS = 1000


class PeopleOnLeave(Absences):
    """Whoever is on approved leave."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def away(self, user_ids: Sequence[int], at: datetime) -> frozenset[int]:
        """Return those of the people who are on approved leave at a moment."""
        status = LEAVE_STATES.after("approve")
        running = {"status": status, "starts_at": {"$lte": at}, "ends_at": {"$gt": at}}
        rows = await self._service.database.store(LEAVES).find({"user_id": {"$in": [*user_ids]}, **running})
        return frozenset(row["user_id"] for row in rows if row["user_id"] is not None)


class CompanyHours(WorkingTime):
    """The working time of the first attendance group, as the company's; without one, of an office."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def after(self, start: datetime, duration: timedelta) -> datetime:
        """Return the moment at which this much working time has passed; by the clock if nobody ever works."""
        rows = await self._service.database.store(GROUPS).find({}, sort="created_at", limit=1)
        week = (await week_of_group(self._service, rows[0]) if rows else None) or OFFICE_WEEK
        zone, left = self._service.settings.zone, int(duration.total_seconds() // 60)
        first = start.astimezone(zone).date() - timedelta(days=1)  # a night shift may not be over
        for day in (first + timedelta(days=number) for number in range(_MOST_DAYS)):
            passed = minutes_since(start.astimezone(zone), day, zone)
            for begins, ends in self._spans(week, day):
                worked = max(0, ends - max(begins, passed))
                if worked >= left:
                    return start_of(day, zone) + timedelta(minutes=max(begins, passed) + left)
                left -= worked
        return start + duration

    def _spans(self, week: WorkingWeek, day: date) -> Iterator[tuple[int, int]]:
        if not week.works_on(day):
            return
        hours = week.timetable.on(day, self._service.settings.zone)
        if hours.pause is None:
            yield hours.start, hours.end
        else:
            yield hours.start, hours.pause[0]
            yield hours.pause[1], hours.end
