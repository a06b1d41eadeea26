"""A year that HR, leaders and their people play through the API, while the clock is moved, and what the model is told of it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from plugins.boot.runtime import Running
from plugins.hrm.assignments import move_on
from plugins.hrm.contracts import remind
from plugins.hrm.results import reconcile
from plugins.testing import PASSWORD, Client, People, Reply, expect
from tests.support.attendance_model import DAY, Assigned, Fact, Group, Person, Shift, Time, View

AT, SYSTEM = "/api/v1/hrm", "/api/v1/system"
FIRST = date(2030, 12, 1)  # no date that the database takes for one of the past
DAYS = 365
OFFICE = {"lng": 121.4737, "lat": 31.2304}
_CLOSES_ON = 5
_MIDNIGHT = datetime(2030, 11, 30, 16, tzinfo=UTC)  # of the first day, in Shanghai
LATE = {"after_closing": True}

DESK = Shift(540, 1080, (720, 780), flexible=30)
SUMMER = Shift(510, 1050, (720, 780), flexible=30)
EARLY = Shift(360, 840, (600, 630), grace=5)
AFTERNOON = Shift(840, 1320, (1080, 1110), grace=5)
NIGHT = Shift(1320, 1800, (1560, 1590), grace=5)
KITCHEN = Shift(420, 900, (660, 690), grace=5)
SHIFTS = {"desk": DESK, "summer": SUMMER, "early": EARLY, "afternoon": AFTERNOON, "night": NIGHT, "kitchen": KITCHEN}
_WEEKDAYS = frozenset({5})  # people work a day or two a week, so that the year takes minutes
GROUPS = {
    "desk": Group(DESK, _WEEKDAYS),
    "summer": Group(SUMMER, _WEEKDAYS),
    "early": Group(EARLY, _WEEKDAYS, holiday_overtime=True),
    "kitchen": Group(KITCHEN, frozenset({2})),
}
ROTATION = (EARLY, *[None] * 3, AFTERNOON, *[None] * 3, NIGHT, NIGHT, *[None] * 6)
NOTICE = (
    *((f"2031-01-{day:02}", "holiday", "春节") for day in (1, *range(23, 30))),
    *((f"2031-05-{day:02}", "holiday", "劳动节") for day in range(1, 4)),
    *((f"2031-10-{day:02}", "holiday", "国庆节") for day in range(1, 8)),
    *((day, "workday", "调休") for day in ("2031-01-18", "2031-02-08", "2031-09-27", "2031-10-11")),
)
# department → who leads it
DEPARTMENTS = {"总部": "gm", "研发部": "lead_rd", "车间": "lead_ws", "后勤部": "lead_lo"}
_OWN = ("attendance:punch", "attendance:list", "roster:list", "roster:read", "roster:take")
_ASKING = ("list", "read", "create", "update", "submit")
ROLES: Mapping[str, tuple[str, list[str]]] = {
    "employee": (
        "self",
        [f"hrm:{one}" for one in (*_OWN, *(f"{what}:{how}" for what in ("leave", "request") for how in _ASKING))],
    ),
    "leader": (
        "department_and_below",
        [
            *(f"hrm:{what}:{how}" for what in ("leave", "request") for how in ("list", "read", "approve")),
            *(f"hrm:punch:{how}" for how in ("list", "read", "review")),
            *("hrm:employee:list", "hrm:employee:read", "hrm:attendance:list", "hrm:roster:list"),
        ],
    ),
    "hr": ("all", ["hrm:*", "dashboard:*", *(f"system:user:{how}" for how in ("list", "read", "create"))]),
}


@dataclass
class Clock:
    """What the server takes for the time: minutes since the first midnight."""

    minute: int = 0

    def time_ns(self) -> int:
        """In place of `time.time_ns`."""
        return int(_MIDNIGHT.timestamp() + 60 * self.minute) * 1_000_000_000


def moment(minute: int) -> str:
    """A time as clients send it."""
    return f"{_MIDNIGHT + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%S.000Z}"


def day_at(number: int) -> str:
    """A day as clients send it."""
    return (FIRST + timedelta(days=number)).isoformat()


def number_of(day: str) -> int:
    """The number of a day."""
    return (date.fromisoformat(day) - FIRST).days


@dataclass(frozen=True)
class Hire:
    """Somebody who is hired: where, whether with an account, and on which day; None: two years ago."""

    department: str
    group: str | None
    account: bool = True
    on: str | None = None
    roles: tuple[str, ...] = ("employee",)


STAFF: Mapping[str, Hire] = {
    "gm": Hire("总部", None, roles=("employee", "leader")),
    "hr1": Hire("总部", "desk", roles=("employee", "hr")),
    "hr2": Hire("总部", "desk", roles=("employee", "hr")),
    **{who: Hire(place, "desk", roles=("employee", "leader")) for place, who in list(DEPARTMENTS.items())[1:]},
    **{f"rd{number}": Hire("研发部", "desk") for number in range(1, 7)},
    **{f"ws{number}": Hire("车间", "early") for number in range(1, 9)},
    **{f"lo{number}": Hire("后勤部", "kitchen", account=number > 6) for number in range(1, 9)},
    "rd7": Hire("研发部", "desk", on="2031-02-10"),
    "ws9": Hire("车间", "early", on="2031-04-16"),
}
ROTATING = [f"ws{number}" for number in range(1, 9)]


@dataclass(eq=False)
class Company:
    """Who works there, what the model was told, and what was closed when."""

    running: Running
    clock: Clock
    chance: Random
    people: dict[str, Person] = field(default_factory=dict)
    common: list[Fact] = field(default_factory=list)
    clients: dict[str, Client] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    closings: list[tuple[int, int]] = field(default_factory=list)  # when, and the last closed day
    waiting: list[tuple[int, int, bool, Callable[[], Awaitable[Any]]]] = field(default_factory=list)
    serial: itertools.count[int] = field(default_factory=itertools.count)
    planned: set[tuple[str, int]] = field(default_factory=set)  # days of people about which something is known already
    absences: list[tuple[str, int]] = field(default_factory=list)
    doubtful: list[tuple[str, Any, int]] = field(default_factory=list)
    granted: list[tuple[str, Time, str]] = field(default_factory=list)  # leave and its id
    unwritten: dict[str, list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )  # punches of people without account
    headcounts: dict[int, dict[str, int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # what did not go as planned

    @property
    def now(self) -> int:
        return self.clock.minute

    def later(self, minute: int, work: Callable[[], Awaitable[Any]], *, together: bool = False) -> None:
        """Let something happen at a time; `together` with the others of that time."""
        heapq.heappush(self.waiting, (minute, next(self.serial), together, work))

    async def run_until(self, minute: int) -> None:
        """Let everything happen that is due before a time."""
        while self.waiting and self.waiting[0][0] < minute:
            due, _, together, work = heapq.heappop(self.waiting)
            self.clock.minute, batch = due, [work]
            while together and self.waiting and (self.waiting[0][0], self.waiting[0][2]) == (due, True):
                batch.append(heapq.heappop(self.waiting)[3])
            done = await asyncio.gather(*(one() for one in batch), return_exceptions=True)
            self.faults += [f"{day_at(due // DAY)}: {one!r}" for one in done if isinstance(one, Exception)]

    async def do(self, who: str, method: str, path: str, body: Any = None) -> Any:
        """Let somebody send a request that must succeed."""
        reply: Reply = await self.clients[who].call(method, path, body)
        if reply.code:
            raise AssertionError(f"{who} {method} {path} {body}: {reply.body.decode()[:1500]}")
        return reply.data

    async def post(self, who: str, path: str, body: Any = None) -> Any:
        return await self.do(who, "POST", f"{AT}/{path}", {} if body is None else body)

    def view(self, who: str, by: int | None = None) -> View:
        return View(FIRST, self.people[who], self.common, self.now if by is None else by)

    def tell(self, who: str, *facts: Fact) -> None:
        self.people[who].facts.extend(facts)

    def take_back(self, who: str, fact: Fact) -> None:
        facts = self.people[who].facts
        facts[facts.index(fact)] = replace(fact, over=self.now)

    def approver(self, who: str) -> str:
        """Who decides: the leader of today's department; of leaders and HR the general manager."""
        leader = DEPARTMENTS[self.view(who).assignment(self.now // DAY).department]
        return "gm" if who == leader else leader


async def found(running: Running, clock: Clock, seed: str) -> Company:
    """The administrator makes departments, roles, and the accounts of HR; HR does everything else."""
    company = Company(running, clock, Random(seed))
    clock.minute = -DAY
    admin = await Client(running.url).log_in("admin")
    menus = await People(admin).menus()
    above = None
    for name in DEPARTMENTS:
        made = expect(await admin.post(f"{SYSTEM}/departments", {"name": name, "parent_id": above}))
        company.ids[name] = made["id"]
        above = above or made["id"]
    for code, (scope, permissions) in ROLES.items():
        made = expect(await admin.post(f"{SYSTEM}/roles", {"code": code, "name": code, "data_scope": scope}))
        company.ids[code] = made["id"]
        wanted = [one.removesuffix("*") for one in permissions]
        granted = [
            menu["id"]
            for menu in menus
            if any((menu["permission"] or "").startswith(one) for one in wanted if one.endswith(":"))
            or menu["permission"] in permissions
        ]
        expect(await admin.put(f"{SYSTEM}/roles/{made['id']}/menus", {"menu_ids": granted}))
    for who in ("hr1", "hr2"):
        user = {"username": who, "password": PASSWORD, "must_change_password": False}
        roles = {"department_id": company.ids["总部"], "role_ids": [company.ids[one] for one in STAFF[who].roles]}
        company.ids[f"user {who}"] = expect(await admin.post(f"{SYSTEM}/users", {**user, **roles}))["id"]
        company.clients[who] = await Client(running.url).log_in(who)
    leaders = {"role_ids": [company.ids[one] for one in ("employee", "leader")], "password": PASSWORD}
    for department, who in DEPARTMENTS.items():
        user = {"username": who, "must_change_password": False, "department_id": company.ids[department], **leaders}
        company.ids[f"user {who}"] = expect(await admin.post(f"{SYSTEM}/users", user))["id"]
        company.clients[who] = await Client(running.url).log_in(who)
    await _set_up(company)
    return company


async def _set_up(company: Company) -> None:
    """HR declares shifts, groups, types of leave and the rotation, and enters everybody."""
    place = await company.post("hr1", "places", {"name": "总部", "location": OFFICE, "radius": 300})
    for name, one in SHIFTS.items():
        clocks = {"start": one.start, "end": one.end % DAY}
        clocks |= dict(zip(("break_start", "break_end"), (at % DAY for at in one.pause or ()), strict=True))
        hours = {key: f"{at // 60:02}:{at % 60:02}" for key, at in clocks.items()}
        allowed = {"flexible_minutes": one.flexible, "grace_minutes": one.grace}
        company.ids[name] = (await company.post("hr1", "shifts", {"name": name, **hours, **allowed}))["id"]
    for name, group in GROUPS.items():
        body = {"shift_id": company.ids[name], "working_days": sorted(group.weekdays), "place_ids": [place["id"]]}
        body["holiday_shifts"] = "overtime" if group.holiday_overtime else "ordinary"
        company.ids[f"group {name}"] = (await company.post("hr1", "attendance-groups", {"name": name, **body}))["id"]
    steps = [{"shift_id": _shift_id(company, one)} for one in ROTATION]
    company.ids["rotation"] = (await company.post("hr1", "roster-patterns", {"name": "三班倒", "days": steps}))["id"]
    types = (await company.do("hr1", "GET", f"{AT}/leave-types?page_size=100"))["items"]
    by_code = {one["code"]: one for one in types}
    annual = {"accrual": "yearly", "amount": "10", "starts_on": "2030-01-01", "carry_over": "3", "carry_over_months": 3}
    rates = {"working_day": "1", "rest_day": "1", "holiday": "2"}
    earned = {"accrual": "overtime", "overtime_rates": rates, "starts_on": "2030-12-01", "carry_over": "20"}
    for code, values in (("annual", annual), ("compensatory", earned)):
        at = f"{AT}/leave-types/{by_code[code]['id']}"
        await company.do("hr1", "PATCH", at, {"version": by_code[code]["version"], **values})
    care = {"code": "care", "name": "护理假", "unit": "hour", "accrual": "monthly", "amount": "24"}
    await company.post("hr1", "leave-types", {**care, "starts_on": "2030-12-01"})
    for who in STAFF:
        if STAFF[who].on is None:
            await hire(company, who)


def _shift_id(company: Company, shift: Shift | None) -> str | None:
    return next((company.ids[name] for name, one in SHIFTS.items() if one == shift), None)


async def hire(company: Company, who: str) -> None:
    """HR makes the account, the employee and the contract."""
    one = STAFF[who]
    if one.account and who not in company.clients:
        user = {"username": who, "password": PASSWORD, "must_change_password": False}
        rights = {"department_id": company.ids[one.department], "role_ids": [company.ids["employee"]]}
        made = await company.do("hr2", "POST", f"{SYSTEM}/users", {**user, **rights})
        company.ids[f"user {who}"] = made["id"]
        company.clients[who] = await Client(company.running.url).log_in(who)
    hired = one.on or "2029-03-01"
    first = max(hired, FIRST.isoformat())
    body = {
        "number": who,
        "name": who,
        "user_id": company.ids.get(f"user {who}"),
        "department_id": company.ids[one.department],
        "hired_on": hired,
        "manager_id": company.ids.get(f"employee {DEPARTMENTS[one.department]}"),
    }
    if one.group:
        body |= {"attendance_group_id": company.ids[f"group {one.group}"], "attends_from": first}
    company.ids[f"employee {who}"] = (await company.post("hr1", "employees", body))["id"]
    company.people[who] = Person(who, number_of(first))
    group = GROUPS[one.group] if one.group else Group(DESK, frozenset())
    company.tell(who, Assigned(told=company.now, first=number_of(first), department=one.department, group=group))
    ends = {"from": hired, "to": f"{int(hired[:4]) + 3}-01-31", "remind_days": 20}
    if one.on:
        ends["probation_until"] = day_at(number_of(hired) + 59)
    await company.post("hr1", f"employees/{company.ids[f'employee {who}']}/contracts", ends)


async def live(company: Company, plan_day: Callable[[Company, int], None], days: int) -> None:
    """Play so many days, one by one, and those after them, in which the last month is closed."""
    for day in range(days + _CLOSES_ON + 1):
        company.clock.minute = day * DAY
        company.later(day * DAY + 3, lambda: keep_house(company))
        company.later(day * DAY + 720, lambda: count_heads(company))
        plan_day(company, day)
        await company.run_until((day + 1) * DAY)
    await reconcile(company.running.service)


async def keep_house(company: Company) -> None:
    """The jobs: what changes with the day every day, results on Mondays, and before a month is closed."""
    today = FIRST + timedelta(days=company.now // DAY)
    await move_on(company.running.service, today)
    await remind(company.running.service)
    if today.weekday() == 0 or today.day == _CLOSES_ON:
        await reconcile(company.running.service)


async def count_heads(company: Company) -> None:
    """HR looks at how many people there are in each department today."""
    found = await company.do("hr1", "GET", "/api/dashboard/employee-distribution")
    company.headcounts[company.now // DAY] = {one["name"]: one["value"] for one in found["items"]}
