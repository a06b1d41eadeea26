"""Collections of hrm: employees, positions, shifts, places and attendance groups."""

from __future__ import annotations

from plugins.api import Collection, Index, array, boolean, choice, day, integer, number, obj, object_id, text
from plugins.hrm.coordinates import SYSTEMS

CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
MAC = r"^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$"
REMARK = text(max_length=2000)
_NAME = text(required=True, max_length=100, sort="folded", search=True)
LOCATION = obj(
    "HrmLocation",
    {
        "lng": number(minimum=-180, maximum=180, required=True, example=121.4737),
        "lat": number(minimum=-90, maximum=90, required=True, example=31.2304),
    },
)
SYSTEM = choice(*SYSTEMS, default="wgs84", nullable=False, description="What `location` is given in.")
# positions, shifts, places and groups are shared by all, without data scope
POSITIONS = Collection(
    name="hrm_positions",
    title="JobPosition",
    fields={
        "name": _NAME.but(example="销售经理"),
        "grade": text(max_length=32, filter=True, sort=True, example="P6"),
        "remark": REMARK,
    },
    indexes=(Index("name", unique=True),),
)

SHIFTS = Collection(
    name="hrm_shifts",
    title="Shift",
    fields={
        "name": _NAME.but(example="早九晚六"),
        "start": text(required=True, max_length=5, pattern=CLOCK, example="09:00"),
        "end": text(
            required=True,
            max_length=5,
            pattern=CLOCK,
            example="18:00",
            description="Of the next day if before `start`.",
        ),
        "break_start": text(
            max_length=5,
            pattern=CLOCK,
            example="12:00",
            description="Of the break, which is no time of work: a half day of leave ends or begins with it.",
        ),
        "break_end": text(max_length=5, pattern=CLOCK, example="13:00"),
        "flexible_minutes": integer(
            minimum=0, maximum=240, default=0, description="So much later one may come, and then goes as much later."
        ),
        "grace_minutes": integer(
            minimum=0, maximum=120, default=0, description="So much too late or too early is let pass."
        ),
        "remark": REMARK,
    },
    indexes=(Index("name", unique=True),),
)

PLACES = Collection(
    name="hrm_places",
    title="AttendancePlace",
    fields={
        "name": _NAME.but(example="上海总部"),
        "address": text(max_length=300),
        "location": LOCATION,
        "coordinate_system": SYSTEM,
        "radius": integer(minimum=10, maximum=10_000, default=200, nullable=False, description="Metres."),
        "bssids": array(
            text(max_length=17, pattern=MAC),
            unique=True,
            max_items=200,
            default=[],
            nullable=False,
            example=["9c:54:1c:00:a1:b2"],
            description="Access points of the WiFi; kept in small letters with colons.",
        ),
        "status": choice("enabled", "disabled", default="enabled", nullable=False, filter=True),
    },
    indexes=(Index("name", unique=True), Index("2dsphere:point"), Index("bssids")),
    internal=("point",),
)

EXCEPTION = obj(
    "CalendarException",
    {
        "day": day(required=True, example="2026-10-01"),
        "name": text(max_length=100, example="国庆节"),
        "working": boolean(default=False, nullable=False, description="true: worked instead of another day."),
    },
)

GROUPS = Collection(
    name="hrm_attendance_groups",
    title="AttendanceGroup",
    fields={
        "name": _NAME.but(example="总部考勤组"),
        "shift_id": object_id(required=True, ref="hrm_shifts", filter=True),
        "working_days": array(
            integer(minimum=1, maximum=7),
            unique=True,
            max_items=7,
            default=[1, 2, 3, 4, 5],
            nullable=False,
            example=[1, 2, 3, 4, 5],
            description="1 is Monday, 7 Sunday.",
        ),
        "holidays": array(
            EXCEPTION, max_items=500, default=[], nullable=False, description="Days that are not as their weekday is."
        ),
        "place_ids": array(
            object_id(ref="hrm_places"),
            unique=True,
            max_items=100,
            default=[],
            nullable=False,
            description="Where its people punch; none given means at any place.",
        ),
        "outside_counts": boolean(
            default=False, nullable=False, description="Whether punches outside of every place count: field work."
        ),
    },
    indexes=(Index("name", unique=True), Index("place_ids")),
)

# data scope goes by the department of an employee, who also sees their own file
EMPLOYEES = Collection(
    name="hrm_employees",
    title="Employee",
    scoped=True,
    scope_department="department_id",
    shared=True,
    fields={
        "number": text(max_length=64, min_length=1, sort=True, filter=True, search=True, example="E-0001"),
        "name": _NAME.but(example="张伟"),
        "user_id": integer(
            minimum=1, ref="rbac_users", filter=True, description="The account that punches and asks for leave."
        ),
        "department_id": integer(
            minimum=1, ref="rbac_departments", filter=True, description="The caller's unless given."
        ),
        "position_id": object_id(ref="hrm_positions", filter=True),
        "hired_on": day(required=True, sort=True, filter=True, example="2025-03-01"),
        "left_on": day(sort=True, filter=True, example="2026-10-31", description="The last day of work."),
        "phone": text(max_length=50, search=True, example="021-5555 0100"),
        "email": text(max_length=200, format="email", example="office@example.com"),
        "attendance_group_id": object_id(ref="hrm_attendance_groups", filter=True),
        "attends_from": day(
            description="The first day of attendance: the day on which the group was given, unless given."
        ),
        "remark": REMARK,
    },
    indexes=(
        Index("number", unique=True, where={"number": {"$type": "string"}}),
        Index("user_id", unique=True, where={"user_id": {"$type": "number"}}),
        Index("attendance_group_id"),
        Index("position_id"),
        Index("hired_on"),
        Index("left_on"),
    ),
)
