"""Balances of leave on any day, and the entries that explain them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from plugins.api import (
    CONFLICT,
    ApiError,
    Message,
    Page,
    Record,
    Request,
    Route,
    Service,
    day_of,
    dictionary,
    exact,
    invalid,
    route,
)
from plugins.api.data import rows_before
from plugins.api.values import ReadOnlyRecord, RecordId, rounded, start_of, store_quantity
from plugins.hrm.calendars import OFFICE, find_employee, load_calendars
from plugins.hrm.corrections import Overtime, find_overtime
from plugins.hrm.leave_counts import days_taken, of_person
from plugins.hrm.leave_ledger import (
    Employment,
    Entry,
    Fact,
    Kind,
    Rules,
    group,
    is_limited,
    keep_account,
    round_down,
    worst,
)
from plugins.hrm.leave_records import (
    ADJUSTMENTS,
    ALLOWANCES,
    BALANCE_QUERY,
    BALANCES,
    DAY_QUERY,
    ENTRY,
    ENTRY_QUERY,
    LEAVES,
    OF_PERSON,
    PEOPLE_QUERY,
)
from plugins.hrm.leave_types import is_for, load_types, rate_of, rules_of
from plugins.hrm.messages import HOURS_LEFT, NOTHING_LEFT
from plugins.hrm.record_types import Employee, Leave, LeaveAdjustment, LeaveAllowance, LeaveType
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.timetable import Calendar

_ZERO = Decimal(0)
_STATUS: Mapping[str, Kind] = {"approved": "taken", "pending": "pending"}
_GIVEN = ("carried_over", "earned", "adjusted", "expired")
KINDS = dictionary(
    "hrm_leave_entry",
    ("假期余额变动", "Entry of a leave balance"),
    carried_over=("上年结转", "Carried over"),
    earned=("发放", "Earned"),
    granted=("额度", "Allowance"),
    adjusted=("调整", "Adjusted"),
    taken=("已休", "Taken", "blue"),
    pending=("审批中", "Pending", "orange"),
    expired=("过期", "Expired", "gray"),
)
_TEXTS: Mapping[str, Message] = {
    "carried_over": Message("由 {before} 年结转", "Carried over from {before}"),
    "yearly": Message("{year} 年发放", "Earned in {year}"),
    "monthly": Message("{year} 年 {month} 月发放", "Earned in {year}-{month:02}"),
    "overtime": Message("{day} 加班换休", "Earned by overtime of {day}"),
    "granted": Message("{year} 年额度", "Allowance of {year}"),
    "adjusted": Message("调整：{reason}", "Adjusted: {reason}"),
    "taken": Message("{day} 至 {until} 请假", "Taken from {day} to {until}"),
    "taken_once": Message("{day} 请假", "Taken on {day}"),
    "pending": Message("{day} 至 {until} 请假（审批中）", "Requested from {day} to {until}"),
    "pending_once": Message("{day} 请假（审批中）", "Requested on {day}"),
    "expired": Message("未休过期", "Expired"),
}


@dataclass(frozen=True)
class _Person:
    """From what the balances of somebody follow; `employee` is None for an account that belongs to no employee."""

    service: Service
    employee: Employee | None
    calendar: Calendar
    types: Mapping[str, LeaveType]
    allowances: Sequence[LeaveAllowance]
    adjustments: Sequence[LeaveAdjustment]
    leaves: Sequence[Leave]
    overtime: Sequence[Overtime]

    def rules(self, code: str) -> Rules:
        return rules_of(self.types.get(code)) if self.employee else Rules("unlimited")

    def unit(self, code: str) -> str:
        return self.types[code]["unit"] if code in self.types else "half"

    def allowed(self, code: str, last: int) -> Mapping[int, Decimal]:
        """Return the allowances of a type by year. Those of the employee and of the year take precedence."""
        since = self.rules(code).since
        years = range(min(since.year if since else last, last), last + 1)
        found: dict[int, Decimal] = {}
        mine = (one for one in self.allowances if one["type"] == code)
        for one in sorted(mine, key=lambda one: (one["employee_id"] is not None, one["year"] is not None)):
            found |= dict.fromkeys((year for year in years if one["year"] in (year, None)), exact(one["days"]))
        return found

    def facts(self, code: str, but: RecordId | None = None) -> Iterator[Fact]:
        """Yield what was decided about a type; `but` is the id of leave that does not count."""
        for one in self.adjustments:
            if one["type"] == code:
                until = date.fromisoformat(one["expires_on"]) if one["expires_on"] else None
                amount = exact(one["amount"])
                yield Fact(date.fromisoformat(str(one["day"])), "adjusted", amount, one["id"], until)
        if self.rules(code).accrual == "overtime":
            yield from self.earned_by_overtime(code)
        for leave in self.leaves:
            if leave["type"] == code and leave["id"] != but:
                yield from self.taken(leave, _STATUS[leave["status"]])

    def earned_by_overtime(self, code: str) -> Iterator[Fact]:
        """Yield what overtime earns, when its sum reaches another step. A day of leave is as long as the shift."""
        rules, total, earned = self.rules(code), Fraction(0), _ZERO
        for one in self.overtime:
            table, minutes = (
                self.calendar.timetable_of(one.day),
                Fraction(rate_of(self.types[code], one.kind)) * one.minutes,
            )
            total += minutes / (60 if self.unit(code) == "hour" else table.worked(table.start, table.end))
            if (reached := round_down(total, rules.step)) != earned:
                yield Fact(one.booked_on, "earned", reached - earned)
                earned = reached

    def taken(self, leave: ReadOnlyRecord, kind: Kind) -> Iterator[Fact]:
        """Yield what leave takes of which day."""
        in_hours = self.unit(leave["type"]) == "hour"
        for one in days_taken(self.service, self.calendar, leave):
            amount = rounded(Decimal(one["minutes"]) / 60) if in_hours else exact(one["days"])
            if amount:
                yield Fact(date.fromisoformat(one["day"]), kind, -amount, leave.get("id"))

    def entries(self, code: str, last: int, facts: Iterable[Fact]) -> list[Entry]:
        """Return the entries of the account of a type up to the end of a year."""
        employment = Employment(date(last, 1, 1))
        if self.employee:
            hired, left = self.employee["hired_on"], self.employee["left_on"]
            since = (
                self.employee["service_since"] if code in self.types and self.types[code]["earlier_service"] else None
            )
            days = (date.fromisoformat(day) if day else None for day in (left, since))
            employment = Employment(date.fromisoformat(hired), *days)
        return keep_account(self.rules(code), employment, self.allowed(code, last), list(facts), last)

    def limited(self, code: str, year: int) -> bool:
        """Return whether there is a balance of a type in a year."""
        return is_limited(self.rules(code), self.allowed(code, year), year)

    def figures(self, code: str, until: date) -> Record:
        """Return the balance of a type on a day, and what it consists of since the beginning of the year."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for one in self.of_year(code, until):
            sums["earned" if one.kind == "granted" else one.kind] += one.amount
        given = sum((sums[name] for name in _GIVEN), _ZERO) if self.limited(code, until.year) else None
        left = None if given is None else given + sums["taken"] + sums["pending"]
        amounts = {**{name: sums[name] for name in _GIVEN}, "taken": -sums["taken"], "pending": -sums["pending"]}
        return {
            "type": code,
            "unit": self.unit(code),
            "days": None if given is None else store_quantity(given),
            **{name: store_quantity(amount) for name, amount in amounts.items()},
            "remaining": None if left is None else store_quantity(left),
        }

    def of_year(self, code: str, until: date) -> list[Entry]:
        """Return the entries of the year of a day up to that day."""
        all = self.entries(code, until.year, self.facts(code))
        return [one for one in all if one.day.year == until.year and one.day <= until]

    def shown(self, until: date) -> Iterator[Record]:
        """Yield the figures of the types that the person may request, or has taken."""
        for code, type in self.types.items():
            figures = self.figures(code, until)
            usable = type["status"] == "enabled" and is_for(type, self.employee)
            if usable or any(exact(figures[name]) for name in ("taken", "pending", "remaining")):
                yield figures


async def _load_overtime(
    service: Service, types: Iterable[LeaveType], ids: Sequence[RecordId], until: date
) -> Mapping[RecordId, Sequence[Overtime]]:
    """Return the compensatory overtime of employees since types are earned by it, and up to a day."""
    starts = [str(one["starts_on"]) for one in types if one["accrual"] == "overtime"]
    return await find_overtime(service, ids, date.fromisoformat(min(starts)), until) if starts and ids else {}


async def _load(
    service: Service, employees: Sequence[Employee], first: int, last: int, account: int | None = None
) -> Mapping[RecordId, _Person]:
    """Return what the balances of employees in these years follow from, by the id of the employee.

    Without employees, that of an `account` that belongs to none, by None.
    """
    types, ids = await load_types(service), [one["id"] for one in employees]
    starts = [int(one["starts_on"][:4]) for one in types.values() if one["starts_on"]]
    since, until = (start_of(date(year, 1, 1), service.settings.zone) for year in (min([first, *starts]), last + 1))
    theirs = {"employee_id": {"$in": ids}} if employees else of_person(None, account)
    counted = {"status": {"$in": [*_STATUS]}, "starts_at": {"$lt": until}, "ends_at": {"$gt": since}}
    leaves = await service.database.store(LEAVES).find({**theirs, **counted}, sort="starts_at")
    allowances = await service.database.store(ALLOWANCES).find({"employee_id": {"$in": [*ids, None]}}) if ids else []
    adjustments = await service.database.store(ADJUSTMENTS).find({"employee_id": {"$in": ids}}) if ids else []
    overtime = await _load_overtime(service, types.values(), ids, date(last, 12, 31))
    found: dict[RecordId, _Person] = {}
    calendars = await load_calendars(service, employees)
    holders: Sequence[Employee | None] = employees or [None]
    for one in holders:
        id = one["id"] if one else None
        found[id] = _Person(
            service,
            one,
            calendars.get(id) or OFFICE,
            types,
            [allowance for allowance in allowances if allowance["employee_id"] in (id, None)],
            [adjustment for adjustment in adjustments if adjustment["employee_id"] == id],
            [leave for leave in leaves if leave["employee_id"] == id],
            overtime.get(id, ()),
        )
    return found


async def _load_person(service: Service, employee: Employee, first: int, last: int) -> _Person:
    return (await _load(service, [employee], first, last))[employee["id"]]


async def check_balance(service: Service, employee: Employee, leave: ReadOnlyRecord) -> None:
    """Raise 40901 for leave that exceeds a balance. The caller must hold the lock of the employee's attendance."""
    zone, code = service.settings.zone, leave["type"]
    first, last = (day_of(leave[name], zone) for name in ("starts_at", "ends_at"))
    person = await _load_person(service, employee, first.year, last.year + 1)
    known, wanted = list(person.facts(code, but=leave.get("id"))), list(person.taken(leave, "pending"))
    # what is carried over less is missing in the next year
    for year in range(first.year, last.year + 2):
        before, after = (person.entries(code, year, facts) for facts in (known, [*known, *wanted]))
        day = min((fact.day for fact in wanted), default=first)
        short = worst(person.rules(code), after, year, day)
        if short is not None and short > (worst(person.rules(code), before, year, day) or _ZERO):
            asked = -sum((fact.amount for fact in wanted if fact.day.year == year), _ZERO)
            message = HOURS_LEFT if person.unit(code) == "hour" else NOTHING_LEFT
            raise ApiError(CONFLICT, message.filled(year=year, left=f"{max(asked - short, _ZERO).normalize():f}"))


async def own_balances(req: Request) -> Record:
    """Return the caller's balances for a year. People who are not employees have no limits."""
    employee = await find_employee(req.service, req.actor.user_id)
    return await _balances(req, employee, _end_of(req))


async def balances_of_year(req: Request) -> Record:
    """Return the balances of a visible employee for a year, with leave that is still to come."""
    return await _balances(req, await req.store(EMPLOYEES).get(req.path["id"]), _end_of(req))


async def balances_on_day(req: Request) -> Record:
    """Return the balances of a visible employee on a day, past or to come."""
    return await _balances(req, await req.store(EMPLOYEES).get(req.path["id"]), _day(req))


def _end_of(req: Request) -> date:
    return date(req.query.get("year") or day_of(req.now, req.service.settings.zone).year, 12, 31)


def _day(req: Request) -> date:
    given = req.query.get("day")
    return date.fromisoformat(given) if given else day_of(req.now, req.service.settings.zone)


async def _balances(req: Request, employee: Employee | None, until: date) -> Record:
    found = await _load(req.service, [employee] if employee else [], until.year, until.year, req.actor.user_id)
    (person,) = found.values()
    about = {"employee_id": employee and employee["id"], "year": until.year, "day": until.isoformat()}
    return {**about, "items": list(person.shown(until))}


async def list_people(req: Request) -> Page:
    """Return a page of the visible employees who are employed on a day, with their balance of a type of leave."""
    query, until = dict(req.query), _day(req)
    types = await load_types(req.service)
    code = query.pop("type", None) or next(iter(types))
    query.pop("day", None)
    day = until.isoformat()
    employed = {"hired_on": {"$lte": day}, "$or": [{"left_on": None}, {"left_on": {"$gte": day}}]}
    shown = ("id", "number", "name", "department_id")
    page: Page = await req.store(EMPLOYEES).page(query, employed, shown=shown)
    people = await _load(req.service, page.items, until.year, until.year) if page.items else {}
    rows = [{**{name: one[name] for name in shown}, **people[one["id"]].figures(code, until)} for one in page.items]
    return replace(page, items=rows)


async def list_entries(req: Request) -> Page:
    """Return what explains the balances of a visible employee on a day: the entries since the beginning of the year."""
    employee, until = await req.store(EMPLOYEES).get(req.path["id"]), _day(req)
    person = await _load_person(req.service, employee, until.year, until.year)
    code = req.query.get("type")
    if code is not None and code not in person.types:
        raise invalid("type", "dictionary")
    of_types = [
        (one, entry) for one in ([code] if code else person.types) for entry in group(person.of_year(one, until))
    ]
    rows = [_show(req, person, one, entry) for one, entry in sorted(of_types, key=lambda pair: pair[1].day)]
    start, size = rows_before(req.query), req.query["page_size"]
    total = len(rows) if req.query["with_total"] else None
    cursor = str(start + size) if start + size < len(rows) else None
    return Page(rows[start : start + size], total, req.query["page"], size, cursor)


def _show(req: Request, person: _Person, code: str, entry: Entry) -> Record:
    adjustment = next((one for one in person.adjustments if one["id"] == entry.source), None)
    return {
        "day": entry.day.isoformat(),
        "until": entry.until and entry.until.isoformat(),
        "type": code,
        "kind": entry.kind,
        "amount": store_quantity(entry.amount),
        "balance": None if entry.balance is None else store_quantity(entry.balance),
        "text": _explain(person.rules(code), entry, adjustment["reason"] if adjustment else "").text(req.language),
        "leave_id": entry.source if entry.kind in _STATUS.values() else None,
        "adjustment_id": adjustment and adjustment["id"],
    }


def _explain(rules: Rules, entry: Entry, reason: str) -> Message:
    day, once = entry.day, "" if entry.until else "_once"
    kind = {"earned": rules.accrual, "taken": f"taken{once}", "pending": f"pending{once}"}.get(entry.kind, entry.kind)
    return _TEXTS[kind].filled(
        before=day.year - 1, year=day.year, month=day.month, day=day, until=entry.until, reason=reason
    )


_PEOPLE = "/api/v1/hrm/leave-balances/all"
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/leave-balances",
        own_balances,
        summary="Show my leave balances",
        access="hrm:leave:list",
        query=BALANCE_QUERY,
        returns=BALANCES,
    ),
    route(
        f"GET {_PEOPLE}",
        list_people,
        summary="List the leave balances of employees",
        title=("假期余额", "Leave balances"),
        access="hrm:leave-balance:list",
        query=PEOPLE_QUERY,
        returns=OF_PERSON,
        paged=True,
    ),
    route(
        "GET /api/v1/hrm/leave-balances/{id}",
        balances_on_day,
        summary="Show the leave balances of an employee on a day",
        access="hrm:leave:list",
        query=DAY_QUERY,
        returns=BALANCES,
        collection=EMPLOYEES.name,
    ),
    route(
        "GET /api/v1/hrm/leave-balances/{id}/entries",
        list_entries,
        summary="List what explains the leave balances of an employee",
        title=("余额明细", "Entries"),
        access="hrm:leave:list",
        query=ENTRY_QUERY,
        returns=ENTRY,
        paged=True,
        collection=EMPLOYEES.name,
    ),
    route(
        "GET /api/v1/hrm/employees/{id}/leave-balances",
        balances_of_year,
        summary="Show the leave balances of an employee",
        title=("假期余额", "Leave balances"),
        access="hrm:leave:list",
        query=BALANCE_QUERY,
        returns=BALANCES,
        collection=EMPLOYEES.name,
    ),
)
