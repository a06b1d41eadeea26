"""Collections of attendance: punches, and the daily results that are computed from them."""

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
    link,
    mapping,
    number,
    obj,
    object_id,
    quantity,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import HAS_PUNCHES
from plugins.hrm.punch_policy import RISKS
from plugins.hrm.record_types import AttendanceMark, DailyResult, Punch
from plugins.hrm.records import AFTER_CLOSING, EMPLOYEES, LOCATION, MAC, PLACES, SYSTEM
from plugins.hrm.request_records import DAY_FIELDS
from plugins.hrm.states import DAY_STATES

REVIEWS = ("pending", "accepted", "rejected")
RESULTS = ("accepted", "outside", "unproven", "refused")

# clients send evidence of the place; the time is the server's
PUNCHES: Collection[Punch] = Collection(
    name="hrm_punches",
    title="Punch",
    noun=Message("打卡记录", "punch"),
    scoped=True,
    fields={
        "location": LOCATION.but(label=("打卡坐标", "Location")),
        "coordinate_system": SYSTEM,
        "accuracy": number(
            label=("定位精度（米）", "Accuracy (metres)"),
            minimum=0,
            maximum=1_000_000,
            example=15,
            description="Accuracy of the position, in metres.",
        ),
        "fix_at": timestamp(
            label=("定位时间", "Position fixed at"), description="When the device determined the position."
        ),
        "mock": boolean(
            label=("模拟定位", "Mock location"),
            default=False,
            nullable=False,
            description="Whether the device reports a simulated position.",
        ),
        "bssid": text(
            label=("WiFi 热点", "WiFi access point"),
            max_length=17,
            pattern=MAC,
            example="9c:54:1c:00:a1:b2",
            description="BSSID of the access point in use.",
        ),
        "ssid": text(label=("WiFi 名称", "WiFi name"), max_length=64),
        "device_id": text(label=("设备编号", "Device ID"), max_length=100),
        "photo": link(
            label=("照片", "Photo"),
            web=False,
            own=False,
            key=True,
            example="private/2026/11/punch.jpg",
            description="The key of a private file. Attach it to the punch, so that others may read it.",
        ),
        "attempt": text(
            label=("打卡码", "Attempt"),
            max_length=64,
            write_only=True,
            description="That of `POST /api/v1/hrm/attendance/attempts`; it is valid once, for two minutes.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=500),
        "employee_id": object_id(
            ref=EMPLOYEES.name,
            on_delete="restrict",
            held=HAS_PUNCHES,
            label=("员工", "Employee"),
            read_only=True,
            nullable=False,
            filter=True,
        ),
        "employee_name": text(label=("员工姓名", "Employee name"), max_length=100, read_only=True),
        "user_id": integer(
            label=("用户账号", "User account"),
            read_only=True,
            filter=True,
            description="Null if the employee has no account.",
            ref="users",
        ),
        **service_fields(
            at=timestamp(
                label=("打卡时间", "Punched at"), sort=True, filter=True, description="By the server's clock."
            ),
            day=day(label=("考勤日期", "Working day"), filter=True, description="The working day that it belongs to."),
            result=choice(*RESULTS, label=("打卡结果", "Result"), filter=True),
            counts=boolean(
                label=("计入考勤", "Counted"),
                filter=True,
                description="Whether the punch counts towards the daily result.",
            ),
        ),
        "place_id": object_id(
            label=("打卡地点", "Place"),
            read_only=True,
            filter=True,
            description="The place of the punch, or the nearest one.",
            ref=PLACES.name,
        ),
        "method": choice(
            "gps",
            "wifi",
            "manual",
            "clock",
            label=("打卡方式", "Method"),
            read_only=True,
            description="What proved the place; `manual` if the punch was entered later, `clock` if a time clock made it.",
        ),
        "distance": number(
            label=("距离（米）", "Distance (metres)"), read_only=True, description="Distance to the place, in metres."
        ),
        "risks": array(choice(*RISKS), label=("风险提示", "Risks"), read_only=True, nullable=False, default=[]),
        "risk": integer(
            label=("风险值", "Risk"),
            minimum=0,
            maximum=100,
            read_only=True,
            sort=True,
            description="From 0 to 100, by its `risks`; null for entered and older punches.",
        ),
        "review": choice(
            *REVIEWS,
            label=("复核状态", "Review"),
            read_only=True,
            filter=True,
            description="Null: nobody has to review the punch.",
        ),
        "entered_by": integer(
            label=("补录人", "Entered by"),
            read_only=True,
            description="Who entered or imported it for the employee; `remark` says why.",
        ),
        "reviewed_by": integer(label=("复核人", "Reviewed by"), read_only=True),
        "reviewed_at": timestamp(label=("复核时间", "Reviewed at"), read_only=True),
        "review_remark": text(label=("复核意见", "Review remarks"), max_length=500, read_only=True),
    },
    indexes=(
        Index("employee_id", "-at"),
        Index("result", "-at"),
        Index("day"),
        Index("review", "-risk"),
        Index("device_id", "-at"),
    ),
    internal=("point",),
)

QUEUE_QUERY = {name: field for name, field in PUNCHES.list_query.items() if name != "review"}
_RISK = shape("PunchRisk", code=text(nullable=False), message=text(nullable=False))
_PLACE = obj("PunchPlace", {name: PLACES.all_fields[name] for name in ("id", "name")})
PUNCH_REPLY = shape(
    "PunchReply",
    **{name: PUNCHES.all_fields[name] for name in ("id", "at", "day", "result", "counts", "method", "distance")},
    message=text(nullable=False, description="The result in words."),
    place=_PLACE.but(description="The place of the punch, or the nearest one."),
    risks=array(_RISK, nullable=False),
    repeated=boolean(
        nullable=False, description="Whether there was a punch just before, which is returned instead of a new one."
    ),
    day_status=choice(*DAY_STATES.states, description="The result of the day so far."),
)
_REVIEW = {"remark": text(label=("复核意见", "Review remarks"), max_length=500), **AFTER_CLOSING}
REVIEW_BODY = shape("PunchReview", counts=boolean(required=True, nullable=False), **_REVIEW)
REVIEW_REMARK_BODY = shape("PunchReviewRemark", **_REVIEW)

ENTER_PUNCH_BODY = shape(
    "PunchEntry",
    employee_id=object_id(required=True, ref=EMPLOYEES.name),
    at=timestamp(
        past=True, required=True, description="When the employee came or went.", example="2026-11-20T01:00:00.000Z"
    ),
    reason=text(required=True, min_length=1, max_length=500, example="忘记打卡"),
    **AFTER_CLOSING,
)

_SINCE = "Null for a day that was closed before this was recorded."
DAYS: Collection[DailyResult] = Collection(
    name="hrm_attendance_days",
    title="DailyResult",
    noun=Message("考勤日报", "daily result"),
    scoped=True,
    scope_department="department_id",
    scope_person="user_id",
    default_sort="-day",
    fields={
        **service_fields(
            employee_id=object_id(ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), filter=True),
            employee_name=text(label=("员工姓名", "Employee name"), max_length=100),
        ),
        "user_id": integer(label=("用户账号", "User account"), read_only=True, filter=True, ref="users"),
        "department_id": integer(label=("部门", "Department"), read_only=True, filter=True, ref="departments"),
        "day": day(label=("考勤日期", "Working day"), sort=True, filter=True, read_only=True, nullable=False),
        "status": DAY_STATES.choice(label=("考勤状态", "Status"), filter=True, description="`pending`: not yet known."),
        "arrived_at": timestamp(label=("上班打卡时间", "Arrived at"), read_only=True),
        "departed_at": timestamp(label=("下班打卡时间", "Departed at"), read_only=True),
        **service_fields(
            late_minutes=integer(label=("迟到分钟数", "Late minutes"), minimum=0),
            early_minutes=integer(label=("早退分钟数", "Early-leave minutes"), minimum=0),
        ),
        "worked_minutes": integer(
            label=("工作分钟数", "Minutes worked"),
            minimum=0,
            read_only=True,
            description="From the first punch to the last, without the break and leave. " + _SINCE,
        ),
        "leave_days": quantity(
            label=("请假天数", "Days of leave"),
            read_only=True,
            description="How much of the day is approved leave, in half days. " + _SINCE,
        ),
        "leave_by_type": mapping(
            quantity(nullable=False),
            label=("各类请假天数", "Leave by type"),
            dictionary=LEAVES.fields["type"].dictionary,
            read_only=True,
            description="`leave_days` by type of leave.",
        ),
        "leave_minutes_by_type": mapping(
            integer(minimum=0, nullable=False),
            label=("各类请假分钟数", "Leave minutes by type"),
            dictionary=LEAVES.fields["type"].dictionary,
            read_only=True,
            description="The working minutes of leave by type. " + _SINCE,
        ),
        **DAY_FIELDS,
    },
    indexes=(
        Index("employee_id", "day", unique=True),
        Index("employee_id", "-day"),
        Index("settles_at"),
        # covers the query of the dashboard
        Index("day", "status", "late_minutes", "department_id", "user_id"),
    ),
    internal=("settles_at",),
    states=DAY_STATES,
)

# one per employee: which of their results have to be computed
MARKS: Collection[AttendanceMark] = Collection(
    name="hrm_attendance_marks",
    title="AttendanceMark",
    plain=True,
    default_sort="id",
    fields={
        "stale": boolean(description="Whether all results have to be computed again."),
        "changes": integer(description="How many changes have set `stale`."),
        "attended_to": day(description="The last day for which there are results."),
        "last_punch_id": object_id(),
        "attempt": text(description="What the next punch has to contain."),
        "attempt_until": timestamp(),
    },
    indexes=(Index("stale"), Index("attended_to")),
)

TODAY = shape(
    "AttendanceToday",
    day=day(nullable=False, description="The working day to which a punch made now belongs."),
    employee_id=object_id(ref=EMPLOYEES.name),
    working=boolean(nullable=False),
    start=text(description="Start of the shift."),
    end=text(description="End of the shift."),
    result=DAYS.read.but(nullable=True),
    punches=array(PUNCHES.read, max_items=1000, nullable=False),
)
