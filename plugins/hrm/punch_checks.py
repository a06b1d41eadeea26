"""What the server knows besides the evidence of a punch: its one-time attempt, and earlier devices, positions and photos."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from secrets import compare_digest, token_urlsafe
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Route, conflicts, route, shape, text, timestamp
from plugins.api.ports import Attachments
from plugins.hrm.attendance_records import MARKS, PUNCHES
from plugins.hrm.calendars import find_employee
from plugins.hrm.messages import NOT_ATTENDED, NOT_EMPLOYED
from plugins.hrm.punch_policy import POLICY, asks
from plugins.hrm.record_types import AttendanceMark, Employee
from plugins.hrm.records import GROUPS

_ATTEMPT_SECONDS = 120
# how long a device counts as somebody's, and how far back positions (older ones are too old anyway) and photos are compared
_DEVICE_DAYS, _FIX_DAYS, _PHOTO_DAYS = 30, 2, 90
ATTEMPT = shape(
    "PunchAttempt",
    attempt=text(nullable=False, description="To be sent with the next punch; the newest one is valid, and only once."),
    expires_at=timestamp(nullable=False),
    policy=POLICY,
)


async def start_attempt(req: Request) -> Record:
    """Return a random value that the caller's next punch has to contain, and what their group asks of the evidence."""
    employee = await find_employee(req.service, req.actor.user_id)
    if employee is None:
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    group = await req.system_store(GROUPS).find_one({"_id": employee["attendance_group_id"]})
    if group is None:
        raise ApiError(CONFLICT, NOT_ATTENDED)
    attempt, expires_at = token_urlsafe(24), req.now + timedelta(seconds=_ATTEMPT_SECONDS)
    await req.system_store(MARKS).upsert(employee["id"], {"attempt": attempt, "attempt_until": expires_at})
    return {"attempt": attempt, "expires_at": expires_at, "policy": group["policy"]}


async def find_risks(
    req: Request, employee: Employee, mark: AttendanceMark, policy: Mapping[str, Any] | None, evidence: Record
) -> list[str]:
    """Return the risks of a punch that the attempt and earlier punches show."""
    risks = _check_attempt(req, mark, asks(policy, "attempt"), evidence.get("attempt"))
    risks += await _check_device(req, employee, asks(policy, "known_device"), evidence.get("device_id"))
    if evidence.get("fix_at") is not None and evidence["point"] is not None:
        same = {"fix_at": evidence["fix_at"], "point": evidence["point"]}
        risks += ["repeated_fix"] if await _has_sent(req, employee, _FIX_DAYS, same) else []
    if evidence.get("photo") is not None:
        same = {"photo": evidence["photo"]}
        risks += ["repeated_photo"] if await _has_sent(req, employee, _PHOTO_DAYS, same) else []
        uploaded = await req.service.part(Attachments).uploaded(evidence["photo"], req.actor.user_id)
        risks += [] if uploaded else ["unknown_photo"]
    elif asks(policy, "photo"):
        risks.append("no_photo")
    return risks


async def _has_sent(req: Request, employee: Employee, days: int, evidence: Record) -> bool:
    lately = {"employee_id": employee["id"], "at": {"$gt": req.now - timedelta(days=days)}}
    return await req.system_store(PUNCHES).find_one({**lately, **evidence}) is not None


def _check_attempt(req: Request, mark: AttendanceMark, asked: bool, given: str | None) -> list[str]:
    if given is None:
        return ["no_attempt"] if asked else []
    known, until = mark.get("attempt"), mark.get("attempt_until")
    valid = known is not None and until is not None and req.now <= until and compare_digest(known, given)
    return [] if valid else ["invalid_attempt"]


async def _check_device(req: Request, employee: Employee, asked: bool, device: str | None) -> list[str]:
    """Return the risks of a device: that of another employee, or one with which this employee has not punched yet."""
    if device is None:
        return ["no_device"] if asked else []
    punches, since = req.system_store(PUNCHES), {"$gt": req.now - timedelta(days=_DEVICE_DAYS)}
    others = {"device_id": device, "at": since, "counts": True, "employee_id": {"$ne": employee["id"]}}
    if await punches.find_one(others):
        return ["shared_device"]
    own = {"employee_id": employee["id"], "counts": True}
    if not asked or await punches.find_one({**own, "device_id": device}):
        return []
    return ["unknown_device"] if await punches.find_one({**own, "device_id": {"$ne": None}}) else []


ATTEMPTS: Route = route(
    "POST /api/v1/hrm/attendance/attempts",
    start_attempt,
    summary="Start an attempt to punch",
    title=("获取打卡码", "Start an attempt to punch"),
    access="hrm:attendance:punch",
    returns=ATTEMPT,
    collection=PUNCHES.name,
    refusals=conflicts(NOT_EMPLOYED, NOT_ATTENDED),
)
