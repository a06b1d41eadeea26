"""Requests of hrm that need a preceding state: an employee who may punch, pending leave."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import count
from typing import Any

from handlers.data.database import utc_now
from handlers.route import Route
from plugins.testing import expect
from tests.api.hrm.staff import AT, OFFICE, Staff
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

EXAMPLE = {"type": "annual", "starts_at": "2026-12-01T01:00:00.000Z", "ends_at": "2026-12-02T10:00:00.000Z"}


async def punch(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin)
    return Exercise(staff.client, route, route.path, {"location": OFFICE, "accuracy": 10})


async def review(maker: Maker, route: Route) -> Exercise:
    made = await _punch_of_somebody(maker)
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"counts": False}, record=made)


async def enter_punch(maker: Maker, route: Route) -> Exercise:
    staff = await Staff.hire(maker.admin, attends_from="2025-12-01")
    body = {"employee_id": staff.employee["id"], "at": f"{utc_now() - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}
    return Exercise(maker.admin, route, route.path, {**body, "reason": "forgotten"})


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


HRM_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {AT}/punches": punch,
    f"GET {AT}/punches/{{id}}": read_punch,
    f"POST {AT}/punches/{{id}}/review": review,
    f"POST {AT}/punches/enter": enter_punch,
    f"POST {AT}/special-days": declare_day,
    f"POST {AT}/leaves/enter": enter_leave,
    f"POST {AT}/leave-allowances": allow,
    f"POST {AT}/leaves/{{id}}/submit": leave_after(),
    f"POST {AT}/leaves/{{id}}/withdraw": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/approve": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/reject": leave_after("submit"),
    f"POST {AT}/leaves/{{id}}/cancel": leave_after("submit", "approve"),
}
