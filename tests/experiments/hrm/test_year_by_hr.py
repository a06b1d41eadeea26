"""A year played by HR, leaders and thirty people: every sheet, balance and headcount is what the model makes of it.

Nobody is an administrator once the company is founded, and nobody corrects a figure by hand.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.hrm.leave_ledger import Employment, Fact, Rules
from plugins.testing import expect, serving
from tests.support.attendance_model import DAY, NEVER, sheet
from tests.support.leave_model import Case, balances
from tests.support.year_of_hr import AT, DAYS, FIRST, STAFF, Clock, Company, day_at, found, live, number_of
from tests.support.year_of_hr_script import plan_day

pytestmark = pytest.mark.gen_test(timeout=120)
MONTHS = [f"{year}-{month:02}" for year, month in ((2030, 12), *((2031, one) for one in range(1, 12)))]
_HALVES = ("absent", "leave", "days of")
_MINUTES = ("hours", "overtime")
_COUNTS = (
    *("working_days", "present", "late", "early_leave", "missed", "late_minutes", "early_minutes"),
    *("trip_days", "outside_days", "rest_days_worked"),
)
# of a type: its rules, and when they begin
TYPES = {
    "annual": Rules("yearly", Decimal(10), since=date(2030, 1, 1), carried=Decimal(3), carried_months=3),
    "care": Rules("monthly", Decimal(24), since=date(2030, 12, 1)),
    "compensatory": Rules("manual", since=date(2030, 12, 1), carried=Decimal(20)),
}
_RATES = {"working_day": 1, "rest_day": 1, "holiday": 2}
Figures = Mapping[str, Decimal]


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """The company after its year."""
    clock = Clock(-2 * DAY)
    long: dict[str, Any] = {"access_token_minutes": 1_000_000, "refresh_token_days": 1000, "response_checks": "some"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("handlers.data.database.time", clock)
        block = serving(mongodb_uri, tmp_path_factory.mktemp("year"), **long)
        server = io_loop.run_sync(block.__aenter__)

        async def lived() -> Company:
            made = await found(server, clock, "a year")
            await live(made, plan_day, days_of(MONTHS[-1])[1] + 1)
            return made

        try:
            yield io_loop.run_sync(lived)
        finally:
            io_loop.run_sync(lambda: block.__aexit__(None, None, None))


def days_of(month: str) -> tuple[int, int]:
    first = date.fromisoformat(f"{month}-01")
    following = (first + timedelta(days=31)).replace(day=1)
    return (first - FIRST).days, (following - FIRST).days - 1


def by_model(sums: Mapping[str, int]) -> Figures:
    """Sums of the model in days and hours, without those that are zero."""
    found = {}
    for name, number in sums.items():
        if name.startswith(_HALVES):
            found[name] = Decimal(number) / 2
        elif name.startswith(_MINUTES):
            found[name] = (Decimal(number) / 60).quantize(Decimal("0.01"), ROUND_HALF_UP)
        else:
            found[name] = Decimal(number)
    return {name: number for name, number in found.items() if number}


def by_service(row: Mapping[str, Any]) -> Figures:
    """Figures of a row in the same form."""
    found = {name: row[name] for name in (*_COUNTS, "absent", "leave", "hours", "overtime", "overtime_unproven")}
    for how in ("overtime_paid", "overtime_compensatory"):
        found |= {f"{how}.{kind}": hours for kind, hours in row[how].items()}
    for name, of in (("days of", "leave"), ("hours of", "leave_hours")):
        found |= {f"{name} {type}": one for kind in ("", "_own") for type, one in row[f"{of}_by{kind}_type"].items()}
    amounts = {name: Decimal(str(number)) for name, number in found.items()}
    return {name: number for name, number in amounts.items() if number}


def sums_of(company: Company, who: str, month: str, by: int) -> Counter[str]:
    """The sums of a month as known at a moment."""
    known = _cached(company)
    view = company.view(who, by)
    first, last = days_of(month)
    near = [
        (one.kind, one.starts, one.ends)
        for one in view.times
        if one.ends > (first - 2) * DAY and one.starts < (last + 3) * DAY
    ]
    punches = [at for at in view.punches if (first - 2) * DAY < at < (last + 3) * DAY]
    rosters = [one for one in view.rosters.items() if first - 2 <= one[0] <= last + 2]
    key = (who, month, repr((near, punches, rosters, view.special, view.assigned, view.last)))
    if key not in known:
        known[key] = sheet(view, first, last)
    return known[key]


@cache
def _cached(company_id: Any) -> dict[Any, Counter[str]]:
    return {}


def difference(after: Counter[str], before: Counter[str]) -> Counter[str]:
    return Counter({name: after[name] - before[name] for name in {*after, *before}})


async def rows_of(company: Company, month: str, reading: str) -> dict[str, dict[str, Any]]:
    page = await company.do("hr2", "GET", f"{AT}/attendance/monthly?month={month}&as={reading}&page_size=200")
    return {row["number"]: row for row in page["items"]}


@pytest.mark.parametrize("month", MONTHS)
async def test_a_month_is_paid_by_what_was_told_before_it_was_closed(month: str, company: Company) -> None:
    place = MONTHS.index(month)
    when, _ = company.closings[place]
    rows, wrong = await rows_of(company, month, "paid"), {}
    for who, row in rows.items():
        expected = by_model(sums_of(company, who, month, when))
        if by_service(row) != expected:
            wrong[who] = _differing(by_service(row), expected)
        booked = {}
        since = company.closings[place - 1][0] if place else 0
        for earlier in MONTHS[:place]:
            changed = by_model(difference(sums_of(company, who, earlier, when), sums_of(company, who, earlier, since)))
            booked |= {earlier: changed} if changed else {}
        told = {one["month"]: by_service(one) for one in row["differences"]}
        if told != booked:
            wrong[f"{who} differences"] = (told, booked)
    assert not wrong
    employed = {who for who in company.people if _is_there(company, who, month)}
    assert set(rows) == employed


def _differing(shown: Figures, expected: Figures) -> dict[str, Any]:
    names = {*shown, *expected}
    return {one: (shown.get(one), expected.get(one)) for one in names if shown.get(one) != expected.get(one)}


def _is_there(company: Company, who: str, month: str) -> bool:
    first, last = days_of(month)
    return company.people[who].hired <= last and company.view(who).last >= first


@pytest.mark.parametrize("month", MONTHS)
async def test_a_closed_month_is_known_by_all_that_was_told(month: str, company: Company) -> None:
    rows = await rows_of(company, month, "known")
    expected = {who: by_model(sums_of(company, who, month, NEVER - 1)) for who in rows}
    shown = {who: by_service(row) for who, row in rows.items()}
    assert {who: _differing(shown[who], expected[who]) for who in rows if shown[who] != expected[who]} == {}
    assert all(row["differences"] == [] for row in rows.values())


async def test_nobody_was_refused_what_they_may_do(company: Company) -> None:
    assert company.faults == []


async def test_what_is_exported_for_payroll_is_the_sheet(company: Company) -> None:
    columns = ["number", "hours", "late_minutes", "leave_by_type.annual", "overtime_paid.rest_day"]
    path = f"{AT}/attendance/monthly/export?month=2031-05&fields={','.join(columns)}"
    reply = await company.clients["hr1"].get(path)
    table = {row["number"]: row for row in csv.DictReader(io.StringIO(reply.body.decode("utf-8-sig")))}
    rows = await rows_of(company, "2031-05", "paid")
    assert set(table) == set(rows)
    for who, row in rows.items():
        shown = (row["hours"], row["late_minutes"], row["leave_by_type"]["annual"], row["overtime_paid"]["rest_day"])
        assert [Decimal(table[who][one]) for one in columns[1:]] == [Decimal(str(one)) for one in shown]


def earned(company: Company, who: str) -> list[Fact]:
    """What compensatory overtime earns, in half days, on the day on which it is booked."""
    booked: list[tuple[int, int, Fraction]] = []
    times = [one for one in company.people[who].facts if getattr(one, "kind", "") == "overtime_compensatory"]
    for day in sorted({one.starts // DAY + more for one in times for more in (-1, 0)}):
        if day >= DAYS or not company.view(who, NEVER - 1).employed(day):
            continue
        closings = [one for one in company.closings if one[1] >= day]
        before = Fraction(0)
        for number, (when, _) in enumerate([*closings, (NEVER - 1, 0)]):
            view = company.view(who, when)
            result = view.result(day) if view.employed(day) else None
            minutes = (result.overtime["overtime_compensatory"] * _RATES[result.kind]) if result else 0
            now = Fraction(minutes, len(view.shift(day).work))
            on = day if number == 0 else closings[number - 1][1] + 1
            if now != before:
                booked.append((on, day, now - before))
            before = now
    facts, total, reached = [], Fraction(0), Decimal(0)
    for on, _, amount in sorted(booked):
        total += amount
        halves = Decimal(int(total * 2)) / 2
        if halves != reached:
            facts.append(Fact(FIRST + timedelta(days=on), "adjusted", halves - reached))
            reached = halves
    return facts


def account(company: Company, who: str, type: str) -> dict[date, Decimal | None]:
    """Day → balance of a type of leave."""
    view = company.view(who, NEVER - 1)
    facts = earned(company, who) if type == "compensatory" else []
    for day in range(company.people[who].hired, min(DAYS, view.last + 1)):
        if day >= 0 and (took := view.result(day) if any(one.kind == type for one in view.times) else None):
            amount = Decimal(took.leave[type]) / 60 if type == "care" else Decimal(took.halves[type]) / 2
            facts += [Fact(FIRST + timedelta(days=day), "taken", -amount)] if amount else []
    hired = date.fromisoformat(STAFF[who].on or "2029-03-01")
    left = FIRST + timedelta(days=view.last) if view.last < NEVER else None
    case = Case(TYPES[type], Employment(hired, left), {}, facts, 2031)
    return dict(zip(case.days, balances(case), strict=True))


@pytest.mark.parametrize("type", TYPES)
async def test_balances_at_the_end_of_each_month_are_those_of_the_model(type: str, company: Company) -> None:
    wrong = {}
    for who in company.people:
        expected = account(company, who, type)
        for month in MONTHS:
            day = FIRST + timedelta(days=days_of(month)[1])
            path = f"{AT}/leave-balances/{company.ids[f'employee {who}']}?day={day}"
            rows = {one["type"]: one for one in (await company.do("hr2", "GET", path))["items"]}
            if Decimal(rows[type]["remaining"]) != expected.get(day, 0):
                wrong[who, month] = (rows[type]["remaining"], expected.get(day))
    assert not wrong


async def test_on_every_day_as_many_people_are_in_each_department_as_the_model_has(company: Company) -> None:
    wrong = {}
    for day, shown in company.headcounts.items():
        views = {who: company.view(who, day * DAY + 720) for who, one in company.people.items() if one.hired <= day}
        there = Counter(one.assignment(day).department for one in views.values() if one.employed(day))
        if shown != there:
            wrong[day_at(day)] = (shown, dict(there))
    assert not wrong
    assert len(company.headcounts) > days_of(MONTHS[-1])[1]


async def test_hr_was_reminded_of_each_probation(company: Company) -> None:
    page = await company.do("hr1", "GET", "/api/v1/notifications?kind=employment_reminder")
    reminded = [one["title"] for one in page["items"]]
    ends = {who: day_at(number_of(one.on) + 59) for who, one in STAFF.items() if one.on}
    assert sorted(reminded) == sorted(f"{who} 的试用期将于 {day} 结束" for who, day in ends.items())


async def test_whoever_moved_is_seen_by_the_new_leader_alone(company: Company) -> None:
    at = f"{AT}/leaves?employee_id={company.ids['employee rd6']}&page_size=200"
    seen = {one: (await company.do(one, "GET", at))["items"] for one in ("lead_rd", "lead_ws")}
    assert (bool(seen["lead_ws"]), seen["lead_rd"]) == (True, [])
    expect(await company.clients["lead_rd"].get(f"{AT}/employees/{company.ids['employee rd6']}"), 40400)
