"""Collections of what working time depends on by date: assignments of employees, and special days of the company."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, choice, day, integer, object_id, shape
from plugins.hrm.messages import IN_USE
from plugins.hrm.record_types import Assignment, SpecialDay
from plugins.hrm.records import EMPLOYEES, EXCEPTION

# what an employee is assigned to, by the name of the employee's own field
ASSIGNED = {
    "department_id": "department_id",
    "position_id": "position_id",
    "manager_id": "manager_id",
    "attendance_group_id": "group_id",
    "place_id": "place_id",
}

# the assignments of an employee follow each other without gaps, from the first day of work on
ASSIGNMENTS: Collection[Assignment] = Collection(
    name="hrm_assignments",
    title="Assignment",
    noun=Message("任职记录", "assignment"),
    default_sort="from",
    fields={
        "employee_id": object_id(
            ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), read_only=True, nullable=False
        ),
        "from": day(
            label=("起始日期", "From"), required=True, sort=True, example="2027-01-01", description="The first day."
        ),
        "to": day(
            label=("截止日期", "To"),
            read_only=True,
            description="The last day; null if no other assignment follows.",
        ),
        "department_id": integer(label=("部门", "Department"), minimum=1, ref="rbac_departments"),
        "position_id": object_id(label=("职位", "Position"), ref="hrm_positions", held=IN_USE),
        "manager_id": object_id(
            label=("直属上级", "Manager"), ref=EMPLOYEES.name, description="The employee to whom they report."
        ),
        "group_id": object_id(
            label=("考勤组", "Attendance group"),
            ref="hrm_attendance_groups",
            held=IN_USE,
            description="By whose shift and calendar they work; null without attendance.",
        ),
        "place_id": object_id(
            label=("工作地点", "Place of work"),
            ref="hrm_places",
            held=IN_USE,
            description="Whose special days apply besides those of the company.",
        ),
    },
    indexes=(
        Index("employee_id", "from"),
        Index("upcoming", "from"),
        Index("department_id"),
        Index("position_id"),
        Index("manager_id"),
        Index("group_id"),
        Index("place_id"),
    ),
    internal=("upcoming",),
)
ASSIGNMENT_BODY = shape(
    "AssignmentCreate",
    **{
        **ASSIGNMENTS.writable,
        "to": day(
            label=("截止日期", "To"),
            example="2027-06-30",
            description="The last day, after which the assignment before applies again. Null: until the next assignment.",
        ),
    },
)

SPECIAL_DAYS: Collection[SpecialDay] = Collection(
    name="hrm_special_days",
    title="SpecialDay",
    noun=Message("节假日安排", "special day"),
    default_sort="-day",
    fields={
        "day": day(label=("日期", "Date"), required=True, sort=True, filter=True, example="2026-10-01"),
        "kind": choice(
            "holiday",
            "workday",
            label=("类型", "Kind"),
            required=True,
            nullable=False,
            filter=True,
            description="`workday`: a working day that makes up for another day off.",
        ),
        "name": (EXCEPTION.fields or {})["name"],
        "place_id": object_id(
            label=("工作地点", "Place of work"),
            ref="hrm_places",
            held=IN_USE,
            filter=True,
            description="The place of work whose people have this day; null: everybody.",
        ),
    },
    indexes=(Index("day", "place_id", unique=True), Index("place_id")),
)
