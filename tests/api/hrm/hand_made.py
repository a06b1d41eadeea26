"""Requests of hrm that need a preceding state: an employee who may punch, pending leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from itertools import count
from typing import Any

from handlers.data.database import utc_now
from handlers.route import Route
from plugins.testing import expect, unique
from tests.api.hrm.staff import AT, OFFICE, Staff
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

EXAMPLE = {"type": "annual", "starts_at": "2026-12-01T01:00:00.000Z", "ends_at": "2026-12-02T10:00:00.000Z"}


async def punch(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    return Exercise(staff.client, route, route.path, {"location": OFFICE, "accuracy": 10})


async def start_attempt(maker: Maker, route: Route) -> Exercise:
    return Exercise((await Staff.hire(maker.admin)).client, route, route.path)


async def review(maker: Maker, route: Route) -> Exercise:
    made = await _punch_of_somebody(maker)
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"counts": False}, record=made)


async def decide_on_punch(maker: Maker, route: Route) -> Exercise:
    made = await _punch_of_somebody(maker)
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"remark": "seen"}, record=made)


async def enter_punch(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin, attends_from="2025-12-01")
    body = {"employee_id": staff.employee["id"], "at": f"{utc_now() - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}
    return Exercise(maker.admin, route, route.path, {**body, "reason": "forgotten"})


async def clock_punch(maker: Maker, route: Route) -> Exercise:
    entered = await enter_punch(maker, route)
    return replace(entered, body={name: entered.body[name] for name in ("employee_id", "at")})


async def rehire(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin, left_on="2025-12-31")
    return Exercise(maker.admin, route, path_with(route, staff.employee["id"]), {"hired_on": "2026-02-01"})


async def enter_leave(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    return Exercise(maker.admin, route, route.path, {**EXAMPLE, "employee_id": staff.employee["id"]})


async def allow(maker: Maker, route: Route) -> Exercise:
    # of one employee: an allowance of everybody would limit all leave
    body = {"type": "annual", "employee_id": await maker.refer("hrm_employees"), "days": "10", "year": 2026}
    return Exercise(maker.admin, route, route.path, body)


_DAYS = count()  # of one place there is one special day a date


async def declare_day(maker: Maker, route: Route) -> Exercise:
    day = date(2100, 1, 1) + timedelta(days=next(_DAYS))
    return Exercise(maker.admin, route, route.path, {"day": day.isoformat(), "kind": "holiday"})


async def change_type(maker: Maker, route: Route) -> Exercise:
    made = await maker.record("hrm_leave_types")  # whose code stays
    return Exercise(
        maker.admin, route, path_with(route, made["id"]), {"version": 1, "name": unique("type")}, record=made
    )


async def read_punch(maker: Maker, route: Route) -> Exercise:
    made = await _punch_of_somebody(maker)
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def _punch_of_somebody(maker: Maker) -> dict[str, Any]:
    made = expect(await (await Staff.hire(maker.admin)).punch())
    punch: dict[str, Any] = expect(await maker.admin.get(f"{AT}/punches/{made['id']}"))
    return punch


def leave_after(*actions: str) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        # a period of its own, so that it does not overlap
        client = await maker.person()
        leave = expect(await client.post(f"{AT}/leaves", EXAMPLE))
        for action in actions:
            leave = expect(await client.post(f"{AT}/leaves/{leave['id']}/{action}"))
        body: dict[str, Any] | None = {} if route.body else None
        return Exercise(maker.admin, route, path_with(route, leave["id"]), body, record=leave)

    return made


async def ask(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    return Exercise(staff.client, route, route.path, _outside_duty())


async def ask_otherwise(maker: Maker, route: Route) -> Exercise:
    asked = expect(await (await ask(maker, maker.creator("hrm_requests") or route)).send())
    body = {"version": asked["version"], "reason": "another"}
    return Exercise(maker.admin, route, path_with(route, asked["id"]), body, record=asked)


async def enter_request(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    return Exercise(maker.admin, route, route.path, {**_outside_duty(), "employee_id": staff.employee["id"]})


def request_after(*actions: str) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        staff = await Staff.hire(maker.admin)
        asked = expect(await staff.client.post(f"{AT}/requests", _outside_duty()))
        for action in actions:
            asked = expect(await maker.admin.post(f"{AT}/requests/{asked['id']}/{action}"))
        body: dict[str, Any] | None = {} if route.body else None
        return Exercise(maker.admin, route, path_with(route, asked["id"]), body, record=asked)

    return made


async def roster(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    body = {"employee_id": staff.employee["id"], "day": _tomorrow(), "shift_id": staff.shift["id"]}
    return Exercise(maker.admin, route, route.path, body)


async def rostered(maker: Maker, route: Route) -> Exercise:
    made = expect(await (await roster(maker, maker.creator("hrm_rosters") or route)).send())
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"version": 1, "remark": "new"}, record=made)


async def take(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin, group={"working_days": []})
    offered = {"day": _tomorrow(), "shift_id": staff.shift["id"], "department_id": None}
    made = expect(await maker.admin.post(f"{AT}/rosters", offered))
    return Exercise(staff.client, route, path_with(route, made["id"]), record=made)


async def apply_pattern(maker: Maker, route: Route) -> Exercise:
    staff, pattern = await Staff.hire(maker.admin), await maker.record("hrm_roster_patterns")
    body = {"from": _tomorrow(), "to": _tomorrow(), "employee_ids": [staff.employee["id"]]}
    return Exercise(maker.admin, route, path_with(route, pattern["id"]), body, record=pattern)


async def agree_to_swap(maker: Maker, route: Route) -> Exercise:
    staff, other = await Staff.hire(maker.admin), await Staff.hire(maker.admin)
    swap = {"kind": "swap", "reason": "a wedding", "day": _tomorrow(), "swap_with": other.employee["id"]}
    asked = expect(await staff.client.post(f"{AT}/requests", swap))
    return Exercise(other.client, route, path_with(route, asked["id"]), record=asked)


def contract_of(**body: object) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        at = f"{AT}/employees/{(await Staff.hire(maker.admin)).employee['id']}/contracts"
        contract = expect(await maker.admin.post(at, {"from": "2026-01-01", "to": "2026-12-31"}))
        return Exercise(maker.admin, route, f"{at}/{contract['id']}", dict(body) or None, record=contract)

    return made


async def contract(maker: Maker, route: Route) -> Exercise:
    path = path_with(route, (await Staff.hire(maker.admin)).employee["id"])
    return Exercise(maker.admin, route, path, {"from": "2026-01-01", "to": "2026-12-31"})


def _tomorrow() -> str:
    return f"{utc_now() + timedelta(days=1):%Y-%m-%d}"


def _outside_duty() -> dict[str, str]:
    starts, ends = (utc_now() + timedelta(days=1, hours=hours) for hours in (0, 2))
    return {"kind": "outside", "reason": "a visit", "starts_at": starts.isoformat(), "ends_at": ends.isoformat()}


_CLOSED = count()  # days that no other test is about, each after the one before


async def close(maker: Maker, route: Route) -> Exercise:
    day = date(1971, 1, 1) + timedelta(days=next(_CLOSED))
    return Exercise(maker.admin, route, f"{AT}/attendance/closings", {"closed_to": day.isoformat()})


async def read_closing(maker: Maker, route: Route) -> Exercise:
    made = await maker.record("hrm_attendance_closings")
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def reopen(maker: Maker, route: Route) -> Exercise:
    await maker.record("hrm_attendance_closings")
    return Exercise(maker.admin, route, route.path, {"reason": "a wrong month"})


def sheet(body: dict[str, Any] | None = None, *, own: bool = False) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        month = f"{utc_now().replace(day=1) - timedelta(days=2):%Y-%m}"
        staff = await Staff.hire(maker.admin, attends_from=f"{month}-01")
        asked = {"month": month, "group_ids": [staff.group["id"]]}
        expect(await maker.admin.post(f"{AT}/attendance/sheets/ask", asked))
        listed = await maker.admin.get(f"{AT}/attendance/sheets?employee_id={staff.employee['id']}")
        (record,) = expect(listed)["items"]
        client = staff.client if own else maker.admin
        return Exercise(client, route, path_with(route, record["id"]), body, record=record)

    return made


HRM_HAND_MADE: Mapping[str, HandMade] = {
    f"GET {AT}/attendance/sheets/{{id}}": sheet(),
    f"POST {AT}/attendance/sheets/{{id}}/agree": sheet({}, own=True),
    f"POST {AT}/attendance/sheets/{{id}}/object": sheet({"reason": "an hour too few"}, own=True),
    f"POST {AT}/attendance/sheets/{{id}}/enter": sheet({"answer": "agree", "note": "signed on paper"}),
    f"POST {AT}/punches": punch,
    f"GET {AT}/punches/{{id}}": read_punch,
    f"POST {AT}/punches/{{id}}/review": review,
    f"POST {AT}/punches/{{id}}/accept": decide_on_punch,
    f"POST {AT}/punches/{{id}}/reject": decide_on_punch,
    f"POST {AT}/employees/{{id}}/rehire": rehire,
    f"POST {AT}/punches/enter": enter_punch,
    f"POST {AT}/punches/time-clock": clock_punch,
    f"POST {AT}/special-days": declare_day,
    f"POST {AT}/leaves/enter": enter_leave,
    f"POST {AT}/leave-allowances": allow,
    f"PATCH {AT}/leave-types/{{id}}": change_type,
    f"POST {AT}/leaves/{{id}}/submit": leave_after(),
    f"POST {AT}/leaves/{{id}}/withdraw": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/approve": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/reject": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/cancel": leave_after("submit", "approve"),
    f"POST {AT}/attendance/attempts": start_attempt,
    f"POST {AT}/attendance/closings": close,
    f"GET {AT}/attendance/closings/{{id}}": read_closing,
    f"POST {AT}/attendance/closings/reopen": reopen,
    f"POST {AT}/requests": ask,
    f"PATCH {AT}/requests/{{id}}": ask_otherwise,
    f"POST {AT}/requests/enter": enter_request,
    f"POST {AT}/requests/{{id}}/submit": request_after(),
    f"POST {AT}/requests/{{id}}/withdraw": request_after("submit"),
    f"POST {AT}/requests/{{id}}/approve": request_after("submit"),
    f"POST {AT}/requests/{{id}}/reject": request_after("submit"),
    f"POST {AT}/requests/{{id}}/cancel": request_after("submit", "approve"),
    f"POST {AT}/requests/swaps/{{id}}/agree": agree_to_swap,
    f"POST {AT}/employees/{{id}}/contracts": contract,
    f"GET {AT}/employees/{{id}}/contracts/{{contract_id}}": contract_of(),
    f"PATCH {AT}/employees/{{id}}/contracts/{{contract_id}}": contract_of(version=1, remark="new"),
    f"DELETE {AT}/employees/{{id}}/contracts/{{contract_id}}": contract_of(),
    f"POST {AT}/rosters": roster,
    f"POST {AT}/rosters/rehearse": roster,
    f"PATCH {AT}/rosters/{{id}}": rostered,
    f"POST {AT}/rosters/{{id}}/rehearse": rostered,
    f"POST {AT}/rosters/{{id}}/take": take,
    f"POST {AT}/roster-patterns/{{id}}/rehearse": apply_pattern,
    f"POST {AT}/roster-patterns/{{id}}/apply": apply_pattern,
}
