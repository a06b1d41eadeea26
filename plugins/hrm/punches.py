"""Punches: recorded with the server's time and the client's evidence of the place, and reviewed by hand."""

from __future__ import annotations

from datetime import datetime

from plugins.api import (
    CONFLICT,
    NOTIFY,
    ApiError,
    Message,
    Page,
    Record,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    invalid,
    route,
)
from plugins.hrm.attendance_records import (
    DAYS,
    MARKS,
    PUNCH_REPLY,
    PUNCHES,
    QUEUE_QUERY,
    REVIEW_BODY,
    REVIEW_REMARK_BODY,
)
from plugins.hrm.calendars import find_employee, load_calendar
from plugins.hrm.closing import find_open_day, refuse_closed
from plugins.hrm.departments import store_of
from plugins.hrm.evidence import Finding, demands_of, evaluate, position_of, to_point
from plugins.hrm.messages import (
    ACCEPTED_AT,
    ACCEPTED_OUTSIDE,
    CLOSED,
    NOT_ATTENDED,
    NOT_EMPLOYED,
    OUTSIDE,
    OWN_PUNCH,
    REFUSED,
    REVIEWED_COUNTS,
    REVIEWED_NOT,
    UNPROVEN,
)
from plugins.hrm.options import load_limits
from plugins.hrm.places import normalize_bssid
from plugins.hrm.punch_checks import ATTEMPTS, find_risks
from plugins.hrm.punch_policy import REVIEWED_FROM, RISKS, risk_of
from plugins.hrm.record_types import AttendanceGroup, AttendanceMark, AttendancePlace, Employee, Punch
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES
from plugins.hrm.results import correct, lock, recompute

# a second tap within this time is the same punch
_REPEAT_SECONDS = 60
_WORDS = {"outside": OUTSIDE, "unproven": UNPROVEN, "refused": REFUSED}


async def punch(req: Request) -> Record:
    """Record a punch of the caller. A repeated punch returns the previous one. An unproven punch does not count."""
    body = dict(req.body)
    if body.get("location") is None and body.get("bssid") is None:
        raise invalid("location", "required")
    return await req.transaction(lambda: _record_punch(req, body))


async def _record_punch(req: Request, body: Record) -> Record:
    evidence = _build_evidence(body)
    employee = await find_employee(req.service, req.actor.user_id)
    if employee is None:
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    mark = await lock(req.service, employee["id"])
    before = await req.system_store(PUNCHES).find_one({"_id": mark["last_punch_id"]}) if mark["last_punch_id"] else None
    calendar = await load_calendar(req.service, employee, day_of(req.now, req.service.settings.zone))
    if calendar is None:
        raise ApiError(CONFLICT, NOT_ATTENDED)
    day = calendar.day_of(req.now.astimezone(req.service.settings.zone))
    if not calendar.attends_on(day):
        raise ApiError(CONFLICT, NOT_ATTENDED)
    if not employee["hired_on"] <= day.isoformat() <= (employee["left_on"] or day.isoformat()):
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    group = await req.system_store(GROUPS).get(calendar.period_of(day).group_id)
    finding = await _evaluate(req, employee, mark, group, evidence)
    if before is not None and _repeats(before, evidence, finding, req.now):
        return await _build_reply(req, before, None, repeated=True)
    counts = finding.result == "accepted" or (finding.result == "outside" and group["outside_counts"])
    risk = risk_of(finding.risks)
    made = await store_of(req, PUNCHES, employee).create(
        {
            **{name: value for name, value in evidence.items() if name != "attempt"},
            "point": evidence["point"]
            or (finding.place["point"] if finding.method == "wifi" and finding.place else None),
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
            "counts": counts,
            "risk": risk,
            "review": "pending" if risk >= REVIEWED_FROM or finding.result in ("unproven", "refused") else None,
        }
    )
    await req.system_store(MARKS).upsert(employee["id"], {"last_punch_id": made["id"], "attempt": None})
    results = await recompute(req.service, employee, calendar, day, day, req.now) if made["counts"] else {}
    result = results.get(day)
    return await _build_reply(req, made, finding.place, status=result.status if result else None)


def _build_evidence(body: Record) -> Record:
    point = to_point(body.get("location"), body.get("coordinate_system"))
    bssid = body.get("bssid")
    return {**PUNCHES.defaults, **body, "point": point, "bssid": normalize_bssid(bssid) if bssid else None}


def _repeats(before: Punch, evidence: Record, finding: Finding, now: datetime) -> bool:
    """Return whether this repeats the previous punch.

    After one that does not count, other evidence is a new punch; so is, at any time, evidence of another place.
    """
    same = all(before[name] == evidence.get(name) for name in ("location", "accuracy", "fix_at", "mock", "bssid"))
    elsewhere = "impossible_speed" in finding.risks
    soon = abs((now - before["at"]).total_seconds()) < _REPEAT_SECONDS
    return soon and (same or (before["counts"] and not elsewhere))


async def _evaluate(
    req: Request, employee: Employee, mark: AttendanceMark, group: AttendanceGroup, evidence: Record
) -> Finding:
    places = await _find_places(req, group, evidence)
    with_position = {"employee_id": employee["id"], "point": {"$ne": None}, "result": {"$ne": "refused"}}
    last = await req.system_store(PUNCHES).find(with_position, sort="-at", limit=1)
    further = await find_risks(req, employee, mark, group["policy"], evidence)
    demands = demands_of(group["policy"], await load_limits(req.service))
    return evaluate(evidence, places, next(iter(last), None), demands, req.now, further)


async def _find_places(req: Request, group: AttendanceGroup, evidence: Record) -> list[AttendancePlace]:
    """Return a place of the group that has the WiFi, followed by up to 50 of its places, the nearest first."""
    store = req.system_store(PLACES)
    allowed = {"status": "enabled", **({"_id": {"$in": group["place_ids"]}} if group["place_ids"] else {})}
    found = await store.find({**allowed, "bssids": evidence["bssid"]}, limit=1) if evidence.get("bssid") else []
    if position_of(evidence) is not None:
        near = {"$nearSphere": {"$geometry": evidence["point"]}}
        found += await store.find({**allowed, "point": near}, limit=50)
    return found


async def _build_reply(
    req: Request, made: Punch, place: AttendancePlace | None, *, repeated: bool = False, status: str | None = None
) -> Record:
    if place is None and made["place_id"] is not None:
        place = await req.system_store(PLACES).find_one({"_id": made["place_id"]})
    if status is None:
        row = await req.system_store(DAYS).find_one({"employee_id": made["employee_id"], "day": made["day"]})
        status = row["status"] if row else None
    words = _build_message(made, place).text(req.language)
    risks = [{"code": code, "message": RISKS[code].text(req.language)} for code in made["risks"]]
    return {**made, "place": place, "message": words, "risks": risks, "repeated": repeated, "day_status": status}


def _build_message(made: Punch, place: AttendancePlace | None) -> Message:
    if made["result"] == "accepted" and place is not None:
        return Message(*(words.replace("{place}", place["name"]) for words in ACCEPTED_AT))
    return ACCEPTED_OUTSIDE if made["counts"] else _WORDS.get(made["result"], OUTSIDE)


async def list_queue(req: Request) -> Page:
    """Return a page of the punches that wait for a review, by default those with the highest risk first."""
    return await req.store(PUNCHES).page({**req.query, "sort": req.query.get("sort") or "-risk"}, {"review": "pending"})


async def review(req: Request) -> Punch:
    """Decide whether a punch counts, recompute the result of its day, and tell the person."""
    return await _decide(req, counts=req.body["counts"])


async def accept(req: Request) -> Punch:
    """Decide that a punch counts."""
    return await _decide(req, counts=True)


async def reject(req: Request) -> Punch:
    """Decide that a punch does not count."""
    return await _decide(req, counts=False)


async def _decide(req: Request, *, counts: bool) -> Punch:
    body = req.body or {}
    decision = {
        "counts": counts,
        "review": "accepted" if counts else "rejected",
        "review_remark": body.get("remark"),
        "reviewed_by": req.actor.user_id,
        "reviewed_at": req.now,
    }

    async def work() -> Punch:
        punch = await req.store(PUNCHES).get(req.path["id"])
        if punch["user_id"] == req.actor.user_id:
            raise ApiError(CONFLICT, OWN_PUNCH)
        await lock(req.service, punch["employee_id"])
        changed = await req.store(PUNCHES).update(punch["id"], decision)
        employee = await req.system_store(EMPLOYEES).find_one({"_id": punch["employee_id"]})
        calendar = await load_calendar(req.service, employee)
        if employee is not None and calendar is not None:
            day = calendar.day_of(punch["at"].astimezone(req.service.settings.zone))
            await refuse_closed(req.service, day, employee["id"], after_closing=body.get("after_closing"))
            if day == await find_open_day(req.service, day, employee["id"]):
                await recompute(req.service, employee, calendar, day, day, req.now)
            await correct(req.service, employee, calendar, day, day, req.now)
        await _notify(req, changed)
        return changed

    return await req.transaction(work)


async def _notify(req: Request, punch: Punch) -> None:
    if punch["user_id"] is None:
        return
    at = f"{punch['at'].astimezone(req.service.settings.zone):%Y-%m-%d %H:%M}"
    title = (REVIEWED_COUNTS if punch["counts"] else REVIEWED_NOT).filled(at=at)
    about = {"link": f"/hrm/punches/{punch['id']}", "data": {"punch_id": str(punch["id"])}}
    await req.emit(
        NOTIFY, user_ids=[punch["user_id"]], kind="punch_review", title=title, body=punch["review_remark"], **about
    )


ROUTES: tuple[Route, ...] = (
    ATTEMPTS,
    *crud(PUNCHES, at="/api/v1/hrm/punches", resource="hrm:punch", only=("list", "read")),
    route(
        "POST /api/v1/hrm/punches",
        punch,
        summary="Punch in or out",
        access="hrm:attendance:punch",
        body=PUNCHES.create,
        returns=PUNCH_REPLY,
        collection=PUNCHES.name,
        refusals=conflicts(NOT_EMPLOYED, NOT_ATTENDED),
    ),
    route(
        "GET /api/v1/hrm/punches/queue",
        list_queue,
        summary="List the punches that wait for a review",
        title=("待复核打卡", "Punches to review"),
        access="hrm:punch:review",
        query=QUEUE_QUERY,
        returns=PUNCHES.read,
        paged=True,
        collection=PUNCHES.name,
    ),
    *(
        route(
            endpoint,
            handler,
            summary=f"Decide that a punch {what}",
            title=title,
            access="hrm:punch:review",
            body=REVIEW_REMARK_BODY,
            record=PUNCHES,
            fits={"review": ("pending",)},
            refusals=conflicts(OWN_PUNCH, CLOSED),
        )
        for endpoint, handler, what, title in (
            ("POST /api/v1/hrm/punches/{id}/accept", accept, "counts", ("计入考勤", "Accept")),
            ("POST /api/v1/hrm/punches/{id}/reject", reject, "does not count", ("不计入", "Reject")),
        )
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
