"""Demonstration data: employees hired over two years, and three weeks of attendance of the demo accounts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from plugins.api import Actor, Collection, Record, Service, day_of, utc_now
from plugins.api.records import Demonstration
from plugins.api.values import Typed
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.assignments import new_timeline, save
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.record_types import AttendancePlace, Employee, JobPosition
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.hrm.results import mark_stale, reconcile
from plugins.rbac.api import people_of_the_demo

_DAYS = 21
_HEAD_OFFICE = {"lng": 121.4737, "lat": 31.2304}
# name, months since they joined and left, and the account whose department they share
_COLLEAGUES = (
    ("陈静", 22, None, "manager"),
    ("刘洋", 17, None, "sales"),
    ("周杰", 15, 4, "sales"),
    ("吴敏", 11, None, "staff"),
    ("郑爽", 8, None, "staff"),
    ("孙丽", 6, 1, "staff"),
    ("钱进", 3, None, "sales"),
    ("冯雪", 1, None, "manager"),
)
# minutes after nine and after six at which people arrive and leave, day by day; None is a forgotten punch
_COMING = (-12, -5, -20, 18, -8, -3, None, -15, 42, -7, -10)
_GOING = (6, 15, 3, 25, None, 40, 12, -35, 8, 5, 31)


async def load(service: Service) -> None:
    """Create positions, a group with its shift and place, employees, punches and leave."""
    people = await people_of_the_demo(service)
    if people:
        await _Staff(service, people).run()


class _Staff:
    def __init__(self, service: Service, people: Mapping[str, Actor]) -> None:
        self.service, self.people, self.now = service, people, utc_now()
        self.demo = Demonstration(service)
        self.zone = service.settings.zone
        self.today = day_of(self.now, self.zone)

    async def run(self) -> None:
        """Create master data first, then employees, then their punches and leave."""
        positions = [await self._create(POSITIONS, name=name) for name in ("销售经理", "销售代表", "行政专员")]
        shift = await self._create(
            SHIFTS, name="早九晚六", start="09:00", end="18:00", break_start="12:00", break_end="13:00", grace_minutes=5
        )
        place = await self._create(
            PLACES,
            name="上海总部",
            address="上海市黄浦区",
            location=_HEAD_OFFICE,
            coordinate_system="gcj02",
            radius=300,
            bssids=["9c:54:1c:00:a1:b2"],
        )
        group = await self._create(GROUPS, name="总部考勤组", shift_id=shift["id"], place_ids=[place["id"]])
        attends = {"attendance_group_id": group["id"], "attends_from": (self.today - timedelta(days=_DAYS)).isoformat()}
        accounts = [(name, self.people[name]) for name in ("manager", "sales", "staff")]
        for number, (name, person) in enumerate(accounts):
            own = {**attends, "user_id": person.user_id}
            employee = await self._create_employee(name, person.name, 20, None, positions[number], number, own)
            await self._create_punches(name, employee, place, number)
            await self._create(ALLOWANCES, type="annual", employee_id=employee["id"], days="10")
        for number, (real_name, came, left, like) in enumerate(_COLLEAGUES, len(accounts)):
            await self._create_employee(like, real_name, came, left, positions[number % 3], number, {})
        await self._create_leave("staff", -5, "annual", approved=True)
        await self._create_leave("sales", 5, "personal", approved=False)
        await reconcile(self.service, self.now)

    async def _create_employee(
        self, of: str, name: str, came: int, left: int | None, position: JobPosition, number: int, own: Record
    ) -> Employee:
        employee = await self._create(
            EMPLOYEES,
            number=f"E-{number + 1:04}",
            name=name,
            department_id=self.people[of].department_id,
            position_id=position["id"],
            hired_on=self._months_ago(came),
            left_on=self._months_ago(left) if left else None,
            **own,
        )
        assignments = self.service.database.store(ASSIGNMENTS, self.people["manager"], now=self.now)
        await save(assignments, employee["id"], new_timeline(employee), self.today)
        return employee

    async def _create_punches(self, name: str, employee: Employee, place: AttendancePlace, shift: int) -> None:
        rows = []
        for back in range(_DAYS, 0, -1):
            day = self.today - timedelta(days=back)
            times = ((9, _COMING[(back + 4 * shift) % 11]), (18, _GOING[(back + 4 * shift) % 11]))
            rows += [self._build_punch(employee, place, day, hour, late) for hour, late in times if late is not None]
        working = [row for row in rows if date.fromisoformat(row["day"]).isoweekday() < 6]
        await self.service.database.store(PUNCHES, self.people[name]).create_many(working)
        await mark_stale(self.service, employee["id"])

    def _build_punch(self, employee: Employee, place: AttendancePlace, day: date, hour: int, late: int) -> Record:
        at = (datetime.combine(day, time(hour), self.zone) + timedelta(minutes=late)).astimezone(self.now.tzinfo)
        return {
            "location": _HEAD_OFFICE,
            "coordinate_system": "gcj02",
            "accuracy": 12.0,
            "fix_at": at,
            "mock": False,
            "point": place["point"],
            "employee_id": employee["id"],
            "employee_name": employee["name"],
            "user_id": employee["user_id"],
            "at": at,
            "day": day.isoformat(),
            "result": "accepted",
            "counts": True,
            "place_id": place["id"],
            "method": "gps",
            "distance": 0.0,
            "risks": [],
        }

    async def _create_leave(self, name: str, step: int, type: str, *, approved: bool) -> None:
        """Create a day of leave `step` days from today, moved further in that direction if it is on a weekend."""
        day = self.today + timedelta(days=step)
        while day.isoweekday() > 5:
            day += timedelta(days=1 if step > 0 else -1)
        starts, ends = (datetime.combine(day, time(hour), self.zone).astimezone(self.now.tzinfo) for hour in (9, 18))
        body, person = {"type": type, "starts_at": starts, "ends_at": ends}, self.people[name]
        leave = await self.demo.create(LEAVES, body, person, self.now)
        # set directly, so that no approval is left pending for it
        values = {"status": "approved", "decided_at": self.now} if approved else {"status": "pending"}
        await self.service.database.store(LEAVES, person).update(leave["id"], {**values, "submitted_at": self.now})

    async def _create(self, collection: Collection[Typed], **values: Any) -> Typed:
        return await self.demo.create(collection, values, self.people["manager"], self.now)

    def _months_ago(self, months: int) -> str:
        return (self.today - timedelta(days=30 * months)).isoformat()
