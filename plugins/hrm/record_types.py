"""The types of the records of HRM. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class JobPosition(TypedDict):
    """A record of `hrm_positions`."""

    id: StoredId
    name: str
    grade: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Shift(TypedDict):
    """A record of `hrm_shifts`."""

    id: StoredId
    name: str
    start: str
    end: str
    break_start: str | None
    break_end: str | None
    flexible_minutes: int
    grace_minutes: int
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class HrmLocation(TypedDict):
    """An object within `AttendancePlace`."""

    lng: float
    lat: float


class AttendancePlace(TypedDict):
    """A record of `hrm_places`."""

    id: StoredId
    name: str
    address: str | None
    location: HrmLocation | None
    coordinate_system: Literal["wgs84", "gcj02", "bd09"]
    radius: int
    bssids: list[str]
    status: Literal["enabled", "disabled"]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    point: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class CalendarException(TypedDict):
    """An object within `AttendanceGroup`."""

    day: str
    name: NotRequired[str | None]
    working: bool


class PunchPolicy(TypedDict):
    """An object within `AttendanceGroup`."""

    proof: Literal["either", "gps", "wifi", "both"]
    attempt: bool
    known_device: bool
    photo: bool
    max_accuracy_metres: NotRequired[int | None]
    max_fix_age_seconds: NotRequired[int | None]


class AttendanceGroup(TypedDict):
    """A record of `hrm_attendance_groups`."""

    id: StoredId
    name: str
    shift_id: StoredId
    working_days: list[int]
    holidays: list[CalendarException]
    place_ids: list[StoredId]
    outside_counts: bool
    holiday_shifts: Literal["ordinary", "overtime"] | None
    policy: PunchPolicy | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


PastDepartment = TypedDict(
    "PastDepartment",
    {
        "department_id": "NotRequired[int | None]",
        "from": "NotRequired[str | None]",
        "until": "str",
    },
)


class Employee(TypedDict):
    """A record of `hrm_employees`."""

    id: StoredId
    number: str | None
    name: str
    user_id: int | None
    department_id: int | None
    department_since: str | None
    past_departments: list[PastDepartment] | None
    position_id: StoredId | None
    manager_id: StoredId | None
    place_id: StoredId | None
    hired_on: str
    left_on: str | None
    service_since: str | None
    previous_employee_id: StoredId | None
    next_employee_id: StoredId | None
    phone: str | None
    email: str | None
    attendance_group_id: StoredId | None
    attends_from: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


Assignment = TypedDict(
    "Assignment",
    {
        "id": "StoredId",
        "employee_id": "StoredId",
        "from": "str",
        "to": "str | None",
        "department_id": "int | None",
        "position_id": "StoredId | None",
        "manager_id": "StoredId | None",
        "group_id": "StoredId | None",
        "place_id": "StoredId | None",
        "version": "int",
        "creator_id": "int",
        "creator_department_id": "int | None",
        "created_at": "datetime",
        "updated_at": "datetime",
        "updater_id": "int",
        "upcoming": "NotRequired[object]",
        "deleted": "NotRequired[bool]",
        "deleted_at": "NotRequired[datetime]",
    },
)


class SpecialDay(TypedDict):
    """A record of `hrm_special_days`."""

    id: StoredId
    day: str
    kind: Literal["holiday", "workday"]
    name: str | None
    place_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Punch(TypedDict):
    """A record of `hrm_punches`."""

    id: StoredId
    location: HrmLocation | None
    coordinate_system: Literal["wgs84", "gcj02", "bd09"]
    accuracy: float | None
    fix_at: datetime | None
    mock: bool
    bssid: str | None
    ssid: str | None
    device_id: str | None
    photo: str | None
    attempt: NotRequired[str | None]
    remark: str | None
    employee_id: StoredId
    employee_name: str | None
    user_id: int | None
    at: datetime
    day: str
    result: Literal["accepted", "outside", "unproven", "refused"]
    counts: bool
    place_id: StoredId | None
    method: Literal["gps", "wifi", "manual", "clock"] | None
    distance: float | None
    risks: list[Literal["mock_location", "invalid_attempt", "impossible_speed", "repeated_fix", "shared_device", "far_from_wifi", "repeated_photo", "unknown_photo", "future_fix", "unknown_device", "old_fix", "no_attempt", "no_device", "no_photo", "low_accuracy", "no_position", "no_wifi", "unknown_wifi", "unknown_accuracy", "unknown_fix_time"]]
    risk: int | None
    review: Literal["pending", "accepted", "rejected"] | None
    entered_by: int | None
    reviewed_by: int | None
    reviewed_at: datetime | None
    review_remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    point: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class DailyResult(TypedDict):
    """A record of `hrm_attendance_days`."""

    id: StoredId
    employee_id: StoredId
    employee_name: str
    user_id: int | None
    department_id: int | None
    day: str
    status: Literal["pending", "normal", "late", "early_leave", "missed", "absent", "leave", "rest"]
    arrived_at: datetime | None
    departed_at: datetime | None
    late_minutes: int
    early_minutes: int
    worked_minutes: int | None
    leave_days: StoredAmount | None
    leave_by_type: dict[str, StoredAmount] | None
    leave_minutes_by_type: dict[str, int] | None
    corrected: int | None
    duty: Literal["outside", "trip"] | None
    overtime_minutes: int | None
    compensatory_minutes: int | None
    unproven_minutes: int | None
    overtime_day: Literal["working_day", "rest_day", "holiday"] | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    settles_at: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class AttendanceMark(TypedDict):
    """A record of `hrm_attendance_marks`."""

    id: StoredId
    stale: bool | None
    changes: int | None
    attended_to: str | None
    last_punch_id: StoredId | None
    attempt: str | None
    attempt_until: datetime | None


class Leave(TypedDict):
    """A record of `hrm_leaves`."""

    id: StoredId
    type: str
    starts_at: datetime
    ends_at: datetime
    reason: str | None
    user_id: int | None
    employee_id: StoredId | None
    employee_name: str | None
    days: StoredAmount
    hours: StoredAmount | None
    status: Literal["draft", "pending", "approved", "rejected", "cancelled"]
    submitted_at: datetime | None
    submitted_by: int | None
    decided_at: datetime | None
    decided_by: int | None
    decision_reason: str | None
    entered_by: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    by_day: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class LeaveOfOvertime(TypedDict):
    """An object within `LeaveType`."""

    working_day: StoredAmount
    rest_day: StoredAmount
    holiday: StoredAmount


class LeaveOfSeniority(TypedDict):
    """An object within `LeaveType`."""

    years: int
    amount: StoredAmount


class LeaveType(TypedDict):
    """A record of `hrm_leave_types`."""

    id: StoredId
    code: str
    name: str
    name_en: str | None
    paid: bool
    unit: Literal["day", "half", "hour"]
    accrual: Literal["unlimited", "manual", "yearly", "monthly", "overtime"]
    overtime_rates: LeaveOfOvertime | None
    amount: StoredAmount | None
    seniority: list[LeaveOfSeniority]
    earlier_service: bool
    part_year: bool
    year_of: Literal["calendar", "employment"] | None
    starts_on: str | None
    carry_over: StoredAmount | None
    carry_over_months: int
    overdraft: StoredAmount | None
    evidence_required: bool
    department_ids: list[int]
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class LeaveAllowance(TypedDict):
    """A record of `hrm_leave_allowances`."""

    id: StoredId
    type: str
    employee_id: StoredId | None
    year: int | None
    days: StoredAmount
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class LeaveAdjustment(TypedDict):
    """A record of `hrm_leave_adjustments`."""

    id: StoredId
    employee_id: StoredId
    type: str
    day: str | None
    amount: StoredAmount
    expires_on: str | None
    reason: str
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class OvertimeByDayKind(TypedDict):
    """An object within `EmployeeRequest`."""

    working_day: int
    rest_day: int
    holiday: int


class RosterExchange(TypedDict):
    """An object within `EmployeeRequest`."""

    employee_id: StoredId
    day: str
    shift_id: NotRequired[StoredId | None]


class EmployeeRequest(TypedDict):
    """A record of `hrm_requests`."""

    id: StoredId
    kind: Literal["correction", "outside", "trip", "overtime", "swap"]
    starts_at: datetime
    ends_at: datetime | None
    destination: str | None
    compensation: Literal["paid", "compensatory"] | None
    day: str | None
    swap_with: StoredId | None
    swap_day: str | None
    reason: str
    user_id: int | None
    employee_id: StoredId
    employee_name: str | None
    minutes: int | None
    by_day_kind: OvertimeByDayKind | None
    agreed_at: datetime | None
    exchanged: list[RosterExchange] | None
    status: Literal["draft", "pending", "approved", "rejected", "cancelled"]
    submitted_at: datetime | None
    submitted_by: int | None
    decided_at: datetime | None
    decided_by: int | None
    decision_reason: str | None
    entered_by: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class AttendanceClosing(TypedDict):
    """A record of `hrm_attendance_closings`."""

    id: StoredId
    closed_to: str | None
    reason: str | None
    previous: str | None
    reopened: bool
    group_ids: list[StoredId] | None
    employee_ids: list[StoredId] | None
    people: int | None
    not_agreed: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    weeks: NotRequired[object]
    shifts: NotRequired[object]
    members: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ResultBefore(TypedDict):
    """An object within `AttendanceCorrection`."""

    status: NotRequired[Literal["pending", "normal", "late", "early_leave", "missed", "absent", "leave", "rest"] | None]
    late_minutes: NotRequired[int | None]
    early_minutes: NotRequired[int | None]
    worked_minutes: NotRequired[int | None]
    leave_days: NotRequired[StoredAmount | None]
    leave_by_type: NotRequired[dict[str, StoredAmount] | None]
    leave_minutes_by_type: NotRequired[dict[str, int] | None]
    duty: NotRequired[Literal["outside", "trip"] | None]
    overtime_minutes: NotRequired[int | None]
    compensatory_minutes: NotRequired[int | None]
    unproven_minutes: NotRequired[int | None]
    overtime_day: NotRequired[Literal["working_day", "rest_day", "holiday"] | None]


class ResultAfter(TypedDict):
    """An object within `AttendanceCorrection`."""

    status: NotRequired[Literal["pending", "normal", "late", "early_leave", "missed", "absent", "leave", "rest"] | None]
    late_minutes: NotRequired[int | None]
    early_minutes: NotRequired[int | None]
    worked_minutes: NotRequired[int | None]
    leave_days: NotRequired[StoredAmount | None]
    leave_by_type: NotRequired[dict[str, StoredAmount] | None]
    leave_minutes_by_type: NotRequired[dict[str, int] | None]
    duty: NotRequired[Literal["outside", "trip"] | None]
    overtime_minutes: NotRequired[int | None]
    compensatory_minutes: NotRequired[int | None]
    unproven_minutes: NotRequired[int | None]
    overtime_day: NotRequired[Literal["working_day", "rest_day", "holiday"] | None]


class AttendanceCorrection(TypedDict):
    """A record of `hrm_attendance_corrections`."""

    id: StoredId
    employee_id: StoredId
    employee_name: str
    user_id: int | None
    department_id: int | None
    day: str
    booked_on: str
    before: ResultBefore | None
    after: ResultAfter | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class OvertimePaid(TypedDict):
    """An object within `AttendanceSheet`."""

    working_day: StoredAmount
    rest_day: StoredAmount
    holiday: StoredAmount


class OvertimeCompensatory(TypedDict):
    """An object within `AttendanceSheet`."""

    working_day: StoredAmount
    rest_day: StoredAmount
    holiday: StoredAmount


class LeaveByType(TypedDict):
    """An object within `AttendanceSheet`."""

    annual: StoredAmount
    sick: StoredAmount
    personal: StoredAmount
    compensatory: StoredAmount
    marriage: StoredAmount
    maternity: StoredAmount
    bereavement: StoredAmount
    other: StoredAmount


class LeaveHoursByType(TypedDict):
    """An object within `AttendanceSheet`."""

    annual: StoredAmount
    sick: StoredAmount
    personal: StoredAmount
    compensatory: StoredAmount
    marriage: StoredAmount
    maternity: StoredAmount
    bereavement: StoredAmount
    other: StoredAmount


class AttendanceDifference(TypedDict):
    """An object within `AttendanceSheet`."""

    month: str
    working_days: int
    present: int
    late: int
    early_leave: int
    missed: int
    absent: float
    leave: float
    late_minutes: int
    early_minutes: int
    trip_days: int
    outside_days: int
    rest_days_worked: int
    hours: NotRequired[StoredAmount | None]
    overtime: NotRequired[StoredAmount | None]
    overtime_paid: NotRequired[OvertimePaid | None]
    overtime_compensatory: NotRequired[OvertimeCompensatory | None]
    overtime_unproven: NotRequired[StoredAmount | None]
    leave_by_type: NotRequired[LeaveByType | None]
    leave_by_own_type: NotRequired[dict[str, StoredAmount] | None]
    leave_hours_by_type: NotRequired[LeaveHoursByType | None]
    leave_hours_by_own_type: NotRequired[dict[str, StoredAmount] | None]


class AttendanceSheet(TypedDict):
    """A record of `hrm_attendance_sheets`."""

    id: StoredId
    employee_id: StoredId
    employee_name: str
    month: str
    user_id: int | None
    department_id: int | None
    status: Literal["open", "agreed", "objected", "changed"]
    reason: str | None
    note: str | None
    answered_at: datetime | None
    answered_by: int | None
    asked_at: datetime | None
    working_days: int
    present: int
    late: int
    early_leave: int
    missed: int
    absent: float
    leave: float
    late_minutes: int
    early_minutes: int
    trip_days: int
    outside_days: int
    rest_days_worked: int
    hours: StoredAmount | None
    overtime: StoredAmount | None
    overtime_paid: OvertimePaid | None
    overtime_compensatory: OvertimeCompensatory | None
    overtime_unproven: StoredAmount | None
    leave_by_type: LeaveByType | None
    leave_by_own_type: dict[str, StoredAmount] | None
    leave_hours_by_type: LeaveHoursByType | None
    leave_hours_by_own_type: dict[str, StoredAmount] | None
    differences: list[AttendanceDifference]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Roster(TypedDict):
    """A record of `hrm_rosters`."""

    id: StoredId
    day: str
    employee_id: StoredId | None
    shift_id: StoredId | None
    department_id: int | None
    remark: str | None
    user_id: int | None
    request_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class RosterPatternDay(TypedDict):
    """An object within `RosterPattern`."""

    shift_id: NotRequired[StoredId | None]


class RosterPattern(TypedDict):
    """A record of `hrm_roster_patterns`."""

    id: StoredId
    name: str
    days: list[RosterPatternDay]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


EmploymentContract = TypedDict(
    "EmploymentContract",
    {
        "id": "StoredId",
        "employee_id": "StoredId",
        "number": "str | None",
        "kind": "str",
        "from": "str",
        "to": "str | None",
        "probation_until": "str | None",
        "remind_days": "int",
        "remark": "str | None",
        "version": "int",
        "creator_id": "int",
        "creator_department_id": "int | None",
        "created_at": "datetime",
        "updated_at": "datetime",
        "updater_id": "int",
        "reminded_to": "NotRequired[object]",
        "reminded_probation": "NotRequired[object]",
        "deleted": "NotRequired[bool]",
        "deleted_at": "NotRequired[datetime]",
    },
)


class PrivateDetails(TypedDict):
    """A record of `hrm_private_details`."""

    id: StoredId
    employee_id: StoredId
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    sealed: NotRequired[object]
    sealed_by: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
