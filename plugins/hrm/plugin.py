"""Employees and attendance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import FORBIDDEN, REFUSES_OWN, Jobs, Menu, Message, Plugin, Refusal, Service, conflicts, crud, route
from plugins.hrm import allowances, demo, employees, entries, leaves, masters, monthly, punches, results
from plugins.hrm.attendance_records import (
    DAYS,
    ENTER_PUNCH_BODY,
    MARKS,
    MONTH,
    MONTH_QUERY,
    PUNCH_REPLY,
    PUNCHES,
    REVIEW_BODY,
    TODAY,
)
from plugins.hrm.closing import refuse_closing_ahead
from plugins.hrm.dashboards import DASHBOARDS
from plugins.hrm.dictionaries import DICTIONARIES
from plugins.hrm.leave_records import ALLOWANCES, BALANCE_QUERY, BALANCES, ENTER_LEAVE_BODY, LEAVES, REJECT_BODY
from plugins.hrm.messages import (
    ALREADY_PUNCHED,
    CLOSED,
    EVERYBODYS,
    HAS_PUNCHES,
    IN_USE,
    NO_ACCOUNT,
    NOT_ATTENDED,
    NOT_ATTENDED_THEN,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_EMPLOYED,
    NOT_EMPLOYED_THEN,
    NOT_IN_STATE,
    NOT_OVER,
    NOTHING_LEFT,
    OVERLAPS,
    OWN_ENTRY,
    OWN_PUNCH,
)
from plugins.hrm.options import OPTIONS
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.hrm.states import LEAVE_STATES
from plugins.system.api import CONFIG_CHANGING_EVENT

AT = "/api/v1/hrm"
_SETTLE_SECONDS = 60
_punch: dict[str, Any] = {"tag": "hrm", "collection": PUNCHES.name}
_leave: dict[str, Any] = {"returns": LEAVES.read, "tag": "hrm", "collection": LEAVES.name}
_step: dict[str, Any] = {"refusals": conflicts(NOT_IN_STATE)}
_decision: dict[str, Any] = {"refusals": (*conflicts(NOT_IN_STATE, CLOSED), REFUSES_OWN)}
_WRONG_LEAVE = (OVERLAPS, NOTHING_LEFT, NOT_EMPLOYED_THEN, CLOSED)
_named = {"delete": conflicts(IN_USE)}


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Hear of approvals that ended; begin and end the days of attendance."""
    service.events.listen(leaves.FINISHED_EVENT, partial(leaves.after_approval, service))
    service.events.listen(CONFIG_CHANGING_EVENT, refuse_closing_ahead)
    service.provide(results.Settling, results.Settling())
    service.part(Jobs).every(_SETTLE_SECONDS, "hrm.settle", partial(results.settle, service))
    yield


def _page(entity: str, path: str, zh: str, en: str, icon: str, order: int) -> Menu:
    return Menu(
        f"hrm.{entity}",
        Message(zh, en),
        path=f"/hrm/{path}",
        parent="hrm",
        resource=f"hrm:{entity}",
        icon=icon,
        order=order,
    )


plugin = Plugin(
    name="hrm",
    title=Message("人事考勤", "HRM"),
    requires=("rbac", "system"),
    start=start,
    demo=demo.load,
    answers={leaves.FINISHED_EVENT: conflicts(CLOSED), CONFIG_CHANGING_EVENT: conflicts(NOT_OVER)},
    collections=(POSITIONS, SHIFTS, PLACES, GROUPS, EMPLOYEES, PUNCHES, DAYS, MARKS, LEAVES, ALLOWANCES),
    biz_types={"EMPLOYEE": EMPLOYEES, leaves.BIZ_TYPE: LEAVES},
    state_machines=(LEAVE_STATES,),
    dictionaries=DICTIONARIES,
    options=OPTIONS,
    dashboards=DASHBOARDS,
    routes=(
        *crud(
            EMPLOYEES,
            at=f"{AT}/employees",
            resource="hrm:employee",
            noun="employee",
            create=employees.create,
            update=employees.update,
            delete=employees.delete,
            refusals_of={"delete": conflicts(HAS_PUNCHES)},
        ),
        *crud(
            POSITIONS,
            at=f"{AT}/positions",
            resource="hrm:position",
            noun="position",
            delete=masters.deleter(POSITIONS),
            refusals_of=_named,
        ),
        *crud(
            SHIFTS,
            at=f"{AT}/shifts",
            resource="hrm:shift",
            noun="shift",
            create=masters.create_shift,
            update=masters.update_shift,
            delete=masters.deleter(SHIFTS),
            refusals_of=_named,
        ),
        *crud(
            GROUPS,
            at=f"{AT}/attendance-groups",
            resource="hrm:attendance-group",
            noun="attendance group",
            create=masters.create_group,
            update=masters.update_group,
            delete=masters.deleter(GROUPS),
            refusals_of=_named,
        ),
        *crud(
            PLACES,
            at=f"{AT}/places",
            resource="hrm:place",
            noun="place of attendance",
            plural="places of attendance",
            create=masters.create_place,
            update=masters.update_place,
            delete=masters.deleter(PLACES),
            refusals_of=_named,
        ),
        *crud(PUNCHES, at=f"{AT}/punches", resource="hrm:punch", noun="punch", plural="punches", only=("list", "read")),
        route(
            f"POST {AT}/punches",
            punches.punch,
            summary="Punch",
            access="hrm:attendance:punch",
            body=PUNCHES.create,
            returns=PUNCH_REPLY,
            refusals=conflicts(NOT_EMPLOYED, NOT_ATTENDED),
            **_punch,
        ),
        route(
            f"POST {AT}/punches/{{id}}/review",
            punches.review,
            summary="Decide whether a punch counts",
            access="hrm:punch:review",
            body=REVIEW_BODY,
            returns=PUNCHES.read,
            refusals=conflicts(OWN_PUNCH, CLOSED),
            **_punch,
        ),
        route(
            f"POST {AT}/punches/enter",
            entries.enter_punch,
            summary="Enter a punch that was forgotten",
            access="hrm:punch:enter",
            body=ENTER_PUNCH_BODY,
            returns=PUNCHES.read,
            refusals=conflicts(OWN_ENTRY, NOT_ATTENDED_THEN, ALREADY_PUNCHED, CLOSED),
            **_punch,
        ),
        route(
            f"GET {AT}/attendance/today",
            punches.today,
            summary="Show my working day",
            access="hrm:attendance:punch",
            returns=TODAY,
            tag="hrm",
        ),
        route(
            f"GET {AT}/attendance/monthly",
            monthly.list_months,
            summary="List what a month of attendance comes to",
            access="hrm:attendance:list",
            query=MONTH_QUERY,
            returns=MONTH,
            paged=True,
            tag="hrm",
            collection=EMPLOYEES.name,
        ),
        *crud(DAYS, at=f"{AT}/attendance", resource="hrm:attendance", noun="daily result", only=("list",)),
        *crud(
            LEAVES,
            at=f"{AT}/leaves",
            resource="hrm:leave",
            noun="leave",
            plural="leave",
            create=leaves.create,
            update=leaves.update,
            delete=leaves.delete,
            refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
        ),
        route(
            f"POST {AT}/leaves/enter",
            entries.enter_leave,
            summary="Enter leave of somebody else",
            access="hrm:leave:enter",
            body=ENTER_LEAVE_BODY,
            refusals=conflicts(OWN_ENTRY, NO_ACCOUNT, *_WRONG_LEAVE),
            **_leave,
        ),
        route(
            f"GET {AT}/leave-balances",
            allowances.own_balances,
            summary="Show how much leave I have left",
            access="hrm:leave:list",
            query=BALANCE_QUERY,
            returns=BALANCES,
            tag="hrm",
        ),
        route(
            f"GET {AT}/employees/{{id}}/leave-balances",
            allowances.balances,
            summary="Show how much leave an employee has left",
            access="hrm:leave:list",
            query=BALANCE_QUERY,
            returns=BALANCES,
            tag="hrm",
            collection=EMPLOYEES.name,
        ),
        *crud(
            ALLOWANCES,
            at=f"{AT}/leave-allowances",
            resource="hrm:leave-allowance",
            noun="leave allowance",
            create=allowances.create,
            update=allowances.update,
            delete=allowances.delete,
            refusals=(Refusal(FORBIDDEN, EVERYBODYS),),
        ),
        route(
            f"POST {AT}/leaves/{{id}}/submit",
            leaves.submit,
            summary="Ask for leave",
            access="hrm:leave:submit",
            refusals=conflicts(NOT_IN_STATE, *_WRONG_LEAVE),
            asks=(leaves.REQUESTED_EVENT,),
            **_leave,
        ),
        route(
            f"POST {AT}/leaves/{{id}}/withdraw",
            leaves.decider("withdraw"),
            summary="Take leave back",
            access="hrm:leave:submit",
            **_step,
            **_leave,
        ),
        route(
            f"POST {AT}/leaves/{{id}}/approve",
            leaves.decider("approve"),
            summary="Approve leave",
            access="hrm:leave:approve",
            **_decision,
            **_leave,
        ),
        route(
            f"POST {AT}/leaves/{{id}}/reject",
            leaves.decider("reject"),
            summary="Reject leave",
            access="hrm:leave:approve",
            body=REJECT_BODY,
            **_decision,
            **_leave,
        ),
        route(
            f"POST {AT}/leaves/{{id}}/cancel",
            leaves.decider("cancel"),
            summary="Cancel leave that was approved",
            access="hrm:leave:cancel",
            refusals=conflicts(NOT_IN_STATE, CLOSED),
            **_leave,
        ),
    ),
    menus=(
        Menu("hrm", Message("人事考勤", "HRM"), path="/hrm", icon="lucide:users", order=250),
        _page("employee", "employees", "员工", "Employees", "lucide:id-card", 1),
        _page("position", "positions", "职位", "Positions", "lucide:briefcase", 2),
        _page("attendance", "attendance", "考勤", "Attendance", "lucide:calendar-check", 3),
        _page("punch", "punches", "打卡记录", "Punches", "lucide:map-pin-check", 4),
        _page("leave", "leaves", "请假", "Leave", "lucide:plane", 5),
        _page("shift", "shifts", "班次", "Shifts", "lucide:clock", 6),
        _page("attendance-group", "attendance-groups", "考勤组", "Attendance groups", "lucide:users-round", 7),
        _page("place", "places", "考勤地点", "Places of attendance", "lucide:map-pin", 8),
        _page("leave-allowance", "leave-allowances", "假期额度", "Leave allowances", "lucide:calendar-range", 9),
    ),
    permissions={
        "hrm:attendance:punch": Message("打卡", "Punch"),
        "hrm:punch:review": Message("复核", "Review"),
        "hrm:punch:enter": Message("补卡", "Enter a punch"),
        "hrm:leave:submit": Message("提交", "Submit"),
        "hrm:leave:enter": Message("代录", "Enter for somebody"),
        "hrm:leave:approve": Message("审批", "Approve"),
        "hrm:leave:cancel": Message("销假", "Cancel"),
    },
)
