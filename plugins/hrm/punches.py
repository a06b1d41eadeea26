"""Punches: the server's clock tells when, the evidence tells where; and the second look of whoever may take it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plugins.api import CONFLICT, ApiError, Message, Request, Route, conflicts, crud, invalid, route
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCH_REPLY, PUNCHES, REVIEW_BODY
from plugins.hrm.calendars import calendar_of, employee_of
from plugins.hrm.closing import refuse_closed
from plugins.hrm.coordinates import point_of
from plugins.hrm.dictionaries import RISKS
from plugins.hrm.evidence import Finding, position, weigh
from plugins.hrm.messages import (
    ACCEPTED_AT,
    ACCEPTED_OUTSIDE,
    CLOSED,
    NOT_ATTENDED,
    NOT_EMPLOYED,
    OUTSIDE,
    OWN_PUNCH,
    REFUSED,
    UNPROVEN,
)
from plugins.hrm.options import limits_of
from plugins.hrm.places import normalize_bssid
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES
from plugins.hrm.results import Record, remake, touch

# what a thumb does twice is one punch
TWICE_SECONDS = 60
_WORDS = {"outside": OUTSIDE, "unproven": UNPROVEN, "refused": REFUSED}


async def punch(req: Request) -> Record:
    """Punch the caller. One more within a minute is the one before; what was not proved is kept, and does not count."""
    body = dict(req.body)
    if body.get("location") is None and body.get("bssid") is None:
        raise invalid("location", "required")
    return await req.transaction(lambda: _punched(req, body))


async def _punched(req: Request, body: Record) -> Record:
    evidence = _evidence(body)
    employee = await employee_of(req.service, req.actor.user_id)
    if employee is None:
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    mark = await touch(req.service, employee["id"])
    before = await req.system_store(PUNCHES).find_one({"_id": mark["last_punch_id"]}) if mark["last_punch_id"] else None
    if before is not None and _repeats(before, evidence, req.now):
        return await _reply(req, before, None, repeated=True)
    calendar = await calendar_of(req.service, employee)
    if calendar is None:
        raise ApiError(CONFLICT, NOT_ATTENDED)
    day = calendar.timetable.day_of(req.now.astimezone(req.service.settings.zone))
    if not employee["hired_on"] <= day.isoformat() <= (employee["left_on"] or day.isoformat()):
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    group = await req.system_store(GROUPS).get(employee["attendance_group_id"])
    finding = await _weighed(req, employee, group, evidence)
    made = await req.store(PUNCHES).create(
        {
            **evidence,
            "employee_id": employee["id"],
            "employee_name": employee["name"],
            "user_id": req.actor.user_id,
            "at": req.now,
            "day": day.isoformat(),
            "result": finding.result,
            "method": finding.method,
            "distance": finding.distance,
            "risks": finding.risks,
            "place_id": finding.place and finding.place["id"],
            "counts": finding.result == "accepted" or (finding.result == "outside" and group["outside_counts"]),
        }
    )
    await req.system_store(MARKS).upsert(employee["id"], {"last_punch_id": made["id"]})
    verdicts = await remake(req.service, employee, calendar, day, day, req.now) if made["counts"] else {}
    verdict = verdicts.get(day)
    return await _reply(req, made, finding.place, status=verdict.status if verdict else None)


def _evidence(body: Record) -> Record:
    point = point_of(body.get("location"), body.get("coordinate_system"))
    bssid = body.get("bssid")
    return {**PUNCHES.defaults, **body, "point": point, "bssid": normalize_bssid(bssid) if bssid else None}


def _repeats(before: Record, evidence: Record, now: datetime) -> bool:
    """Whether this is the punch before once more; who was refused may try again at once with other evidence."""
    same = all(before[name] == evidence.get(name) for name in ("location", "accuracy", "fix_at", "mock", "bssid"))
    return (before["counts"] or same) and abs((now - before["at"]).total_seconds()) < TWICE_SECONDS


async def _weighed(req: Request, employee: Record, group: Record, evidence: Record) -> Finding:
    places = await _places(req, group, evidence)
    with_position = {"employee_id": employee["id"], "point": {"$ne": None}, "result": {"$ne": "refused"}}
    last = await req.system_store(PUNCHES).find(with_position, sort="-at", limit=1)
    return weigh(evidence, places, next(iter(last), None), await limits_of(req.service), req.now)


async def _places(req: Request, group: Record, evidence: Record) -> list[Record]:
    """The places of the group that may matter: that of the WiFi, and those around the position, nearest first."""
    store = req.system_store(PLACES)
    allowed = {"status": "enabled", **({"_id": {"$in": group["place_ids"]}} if group["place_ids"] else {})}
    found = await store.find({**allowed, "bssids": evidence["bssid"]}, limit=1) if evidence.get("bssid") else []
    if position(evidence) is not None:
        near = {"$nearSphere": {"$geometry": evidence["point"]}}
        found += await store.find({**allowed, "point": near}, limit=50)
    return found


async def _reply(
    req: Request, made: Record, place: Mapping[str, Any] | None, *, repeated: bool = False, status: str | None = None
) -> Record:
    if place is None and made["place_id"] is not None:
        place = await req.system_store(PLACES).find_one({"_id": made["place_id"]})
    if status is None:
        row = await req.system_store(DAYS).find_one({"employee_id": made["employee_id"], "day": made["day"]})
        status = row["status"] if row else None
    words = _words(made, place).text(req.language)
    risks = [{"code": code, "message": RISKS[code].text(req.language)} for code in made["risks"]]
    return {**made, "place": place, "message": words, "risks": risks, "repeated": repeated, "day_status": status}


def _words(made: Record, place: Mapping[str, Any] | None) -> Message:
    if made["result"] == "accepted" and place is not None:
        return Message(*(words.replace("{place}", place["name"]) for words in ACCEPTED_AT))
    return ACCEPTED_OUTSIDE if made["counts"] else _WORDS.get(made["result"], OUTSIDE)


async def review(req: Request) -> Record:
    """Decide by hand whether a punch counts, and make the result of its day again."""
    decision = {
        "counts": req.body["counts"],
        "review_remark": req.body.get("remark"),
        "reviewed_by": req.actor.user_id,
        "reviewed_at": req.now,
    }

    async def work() -> Record:
        punch = await req.store(PUNCHES).get(req.path["id"])
        if punch["user_id"] == req.actor.user_id:
            raise ApiError(CONFLICT, OWN_PUNCH)
        await touch(req.service, punch["employee_id"])
        changed = await req.store(PUNCHES).update(punch["id"], decision)
        employee = await req.system_store(EMPLOYEES).find_one({"_id": punch["employee_id"]})
        calendar = await calendar_of(req.service, employee)
        if employee is not None and calendar is not None:
            day = calendar.timetable.day_of(punch["at"].astimezone(req.service.settings.zone))
            await refuse_closed(req.service, day)
            await remake(req.service, employee, calendar, day, day, req.now)
        return changed

    return await req.transaction(work)


ROUTES: tuple[Route, ...] = (
    *crud(
        PUNCHES, at="/api/v1/hrm/punches", resource="hrm:punch", noun="punch", plural="punches", only=("list", "read")
    ),
    route(
        "POST /api/v1/hrm/punches",
        punch,
        summary="Punch",
        access="hrm:attendance:punch",
        body=PUNCHES.create,
        returns=PUNCH_REPLY,
        collection=PUNCHES.name,
        refusals=conflicts(NOT_EMPLOYED, NOT_ATTENDED),
    ),
    route(
        "POST /api/v1/hrm/punches/{id}/review",
        review,
        summary="Decide whether a punch counts",
        access="hrm:punch:review",
        body=REVIEW_BODY,
        record=PUNCHES,
        refusals=conflicts(OWN_PUNCH, CLOSED),
    ),
)
