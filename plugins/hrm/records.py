"""Collections of hrm: employees, positions, shifts, places and attendance groups."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
    choice,
    day,
    integer,
    number,
    obj,
    object_id,
    record_name,
    text,
)
from plugins.hrm.evidence import SYSTEMS
from plugins.hrm.messages import IN_USE
from plugins.hrm.punch_policy import POLICY
from plugins.hrm.record_types import AttendanceGroup, AttendancePlace, Employee, JobPosition, Shift

CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
MAC = r"^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$"
REMARK = text(label=("备注", "Remarks"), max_length=2000)
_NAME = record_name(label=("姓名", "Name"), max_length=100)
LOCATION = obj(
    "HrmLocation",
    {
        "lng": number(label=("经度", "Longitude"), minimum=-180, maximum=180, required=True, example=121.4737),
        "lat": number(label=("纬度", "Latitude"), minimum=-90, maximum=90, required=True, example=31.2304),
    },
)
SYSTEM = choice(
    *SYSTEMS,
    label=("坐标系", "Coordinate system"),
    default="wgs84",
    nullable=False,
    description="The coordinate system of `location`.",
)
# of the bodies of what may be entered or decided late
AFTER_CLOSING = {
    "after_closing": boolean(
        label=("已封账仍办理", "Although closed"),
        default=False,
        nullable=False,
        description="Whether it may be about closed days: their results as paid stay, and the difference is booked on "
        "the first open day. Days closed before differences were recorded, or over a year old, are refused all the same.",
    )
}
# positions, shifts, places and groups are shared by all, without data scope
POSITIONS: Collection[JobPosition] = Collection(
    name="hrm_positions",
    title="JobPosition",
    noun=Message("职位", "position"),
    fields={
        "name": _NAME.but(label=("职位名称", "Position name"), example="销售经理"),
        "grade": text(label=("职级", "Grade"), max_length=32, filter=True, sort=True, example="P6"),
        "remark": REMARK,
    },
    indexes=(Index("name", unique=True),),
)

SHIFTS: Collection[Shift] = Collection(
    name="hrm_shifts",
    title="Shift",
    noun=Message("班次", "shift"),
    fields={
        "name": _NAME.but(label=("班次名称", "Shift name"), example="早九晚六"),
        "start": text(label=("上班时间", "Start"), required=True, max_length=5, pattern=CLOCK, example="09:00"),
        "end": text(
            label=("下班时间", "End"),
            required=True,
            max_length=5,
            pattern=CLOCK,
            example="18:00",
            description="On the next day if earlier than `start`.",
        ),
        "break_start": text(
            label=("休息开始时间", "Break start"),
            max_length=5,
            pattern=CLOCK,
            example="12:00",
            description="Start of the break, which is not working time and separates the two half days of leave.",
        ),
        "break_end": text(label=("休息结束时间", "Break end"), max_length=5, pattern=CLOCK, example="13:00"),
        "flexible_minutes": integer(
            label=("弹性分钟数", "Flexible minutes"),
            minimum=0,
            maximum=240,
            default=0,
            description="By how many minutes employees may arrive later, if they then leave as much later.",
        ),
        "grace_minutes": integer(
            label=("宽限分钟数", "Grace minutes"),
            minimum=0,
            maximum=120,
            default=0,
            description="How many minutes of late arrival or early departure are ignored.",
        ),
        "remark": REMARK,
    },
    indexes=(Index("name", unique=True),),
)

PLACES: Collection[AttendancePlace] = Collection(
    name="hrm_places",
    title="AttendancePlace",
    noun=Message("打卡地点", "attendance place"),
    fields={
        "name": _NAME.but(label=("地点名称", "Place name"), example="上海总部"),
        "address": text(label=("地址", "Address"), max_length=300),
        "location": LOCATION.but(label=("坐标", "Location")),
        "coordinate_system": SYSTEM,
        "radius": integer(
            label=("有效半径（米）", "Radius (metres)"),
            minimum=10,
            maximum=10_000,
            default=200,
            nullable=False,
            description="In metres.",
        ),
        "bssids": array(
            text(max_length=17, pattern=MAC),
            label=("WiFi 热点", "WiFi access points"),
            unique=True,
            max_items=200,
            default=[],
            nullable=False,
            example=["9c:54:1c:00:a1:b2"],
            description="BSSIDs of the WiFi access points there, in lower case, with colons; only for who may change places.",
        ),
        "status": choice(
            "enabled", "disabled", label=("状态", "Status"), default="enabled", nullable=False, filter=True
        ),
    },
    indexes=(Index("name", unique=True), Index("2dsphere:point"), Index("bssids")),
    internal=("point",),
)

EXCEPTION = obj(
    "CalendarException",
    {
        "day": day(label=("日期", "Date"), required=True, example="2026-10-01"),
        "name": text(label=("名称", "Name"), max_length=100, example="国庆节"),
        "working": boolean(
            label=("是否上班", "Working day"),
            default=False,
            nullable=False,
            description="`true` for a working day that makes up for another day off; `false` for a holiday.",
        ),
    },
)

GROUPS: Collection[AttendanceGroup] = Collection(
    name="hrm_attendance_groups",
    title="AttendanceGroup",
    noun=Message("考勤组", "attendance group"),
    fields={
        "name": _NAME.but(label=("考勤组名称", "Group name"), example="总部考勤组"),
        "shift_id": object_id(label=("班次", "Shift"), required=True, ref="hrm_shifts", held=IN_USE, filter=True),
        "working_days": array(
            integer(minimum=1, maximum=7),
            label=("工作日", "Working days"),
            unique=True,
            max_items=7,
            default=[1, 2, 3, 4, 5],
            nullable=False,
            example=[1, 2, 3, 4, 5],
            description="1 is Monday, 7 Sunday.",
        ),
        "holidays": array(
            EXCEPTION,
            label=("特殊日期", "Special days"),
            max_items=500,
            default=[],
            nullable=False,
            description="Exceptions to `working_days`: holidays, and days worked in their place.",
        ),
        "place_ids": array(
            object_id(ref="hrm_places", held=IN_USE),
            label=("打卡地点", "Places"),
            unique=True,
            max_items=100,
            default=[],
            nullable=False,
            description="Where the members of the group punch; if empty, at any place.",
        ),
        "outside_counts": boolean(
            label=("允许外勤打卡", "Field punches count"),
            default=False,
            nullable=False,
            description="Whether punches outside all places count, for field work.",
        ),
        "holiday_shifts": choice(
            "ordinary",
            "overtime",
            label=("节假日排班工时", "Shifts on holidays"),
            description="What is worked of a shift that is rostered on a holiday: null and `ordinary` are as on working "
            "days, `overtime` is paid overtime of a holiday.",
        ),
        "policy": POLICY,
    },
    indexes=(Index("name", unique=True), Index("place_ids")),
)

# data scope goes by the department of an employee, who also sees their own file
EMPLOYEES: Collection[Employee] = Collection(
    name="hrm_employees",
    title="Employee",
    noun=Message("员工", "employee"),
    scoped=True,
    scope_department="department_id",
    shared=True,
    fields={
        "number": text(
            label=("工号", "Employee number"),
            max_length=64,
            min_length=1,
            sort=True,
            filter=True,
            search=True,
            example="E-0001",
        ),
        "name": _NAME.but(example="张伟", person=True),
        "user_id": integer(
            label=("用户账号", "User account"),
            minimum=1,
            ref="rbac_users",
            on_delete="keep",
            filter=True,
            description="The account with which the employee punches and requests leave.",
        ),
        "department_id": integer(
            label=("部门", "Department"),
            minimum=1,
            ref="rbac_departments",
            filter=True,
            description="Defaults to the caller's department.",
        ),
        "department_since": day(
            label=("现部门起始日期", "In the department since"),
            read_only=True,
            description="The day on which the current department was entered; null: from the beginning.",
        ),
        "past_departments": array(
            obj(
                "PastDepartment",
                {
                    "department_id": integer(label=("部门", "Department"), ref="departments"),
                    "from": day(label=("起始日期", "From"), description="Null: from the beginning."),
                    "until": day(label=("截止日期", "Until"), nullable=False, description="The last day."),
                },
            ),
            label=("历史部门", "Past departments"),
            read_only=True,
            max_items=1000,
            description="The departments before the current one, the first one first; null if there are none.",
        ),
        "position_id": object_id(label=("职位", "Position"), ref="hrm_positions", held=IN_USE, filter=True),
        "manager_id": object_id(
            label=("直属上级", "Manager"),
            ref="hrm_employees",
            filter=True,
            description="The employee to whom they report.",
        ),
        "place_id": object_id(label=("工作地点", "Place of work"), ref="hrm_places", held=IN_USE, filter=True),
        "hired_on": day(label=("入职日期", "Hired on"), required=True, sort=True, filter=True, example="2025-03-01"),
        "left_on": day(
            label=("离职日期", "Left on"),
            sort=True,
            filter=True,
            example="2026-10-31",
            description="The last day of work.",
        ),
        "service_since": day(
            label=("工龄起算日期", "Service since"),
            earliest="1950-01-01",
            example="2012-07-01",
            description="From when years of service count for types of leave that take earlier service into account; null: "
            "from the first day of work.",
        ),
        "previous_employee_id": object_id(
            label=("上次任职档案", "Earlier employment"),
            ref="hrm_employees",
            read_only=True,
            filter=True,
            description="The record of the employment after which they were hired again.",
        ),
        "next_employee_id": object_id(
            label=("再次入职档案", "Later employment"),
            ref="hrm_employees",
            on_delete="clear",
            read_only=True,
            description="The record with which they were hired again.",
        ),
        "phone": text(label=("电话", "Phone"), max_length=50, search=True, example="021-5555 0100"),
        "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email", example="office@example.com"),
        "attendance_group_id": object_id(
            label=("考勤组", "Attendance group"), ref="hrm_attendance_groups", held=IN_USE, filter=True
        ),
        "attends_from": day(
            label=("考勤起始日期", "Attends from"),
            description="The first day of attendance. Defaults to the day on which the group was assigned.",
        ),
        "remark": REMARK,
    },
    indexes=(
        Index("number", unique=True, where={"number": {"$type": "string"}}),
        Index("user_id", unique=True, where={"user_id": {"$type": "number"}}),
        Index("attendance_group_id"),
        Index("position_id"),
        Index("manager_id"),
        Index("place_id"),
        Index("previous_employee_id"),
        Index("next_employee_id"),
        Index("hired_on"),
        Index("left_on"),
    ),
)
