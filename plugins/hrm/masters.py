"""What attendance goes by: shifts, groups and places; a change of it makes results again. And deleting what is in use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, FieldError, Handler, Request, ValidationFailed, invalid
from plugins.hrm.calendars import pause_of, timetable_of
from plugins.hrm.coordinates import point_of
from plugins.hrm.messages import IN_USE
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.hrm.results import mark_all, settle_soon

Record = dict[str, Any]
# collection → what may name it, and by which field
_USERS: Mapping[str, tuple[Collection, str]] = {
    POSITIONS.name: (EMPLOYEES, "position_id"),
    SHIFTS.name: (GROUPS, "shift_id"),
    PLACES.name: (GROUPS, "place_ids"),
    GROUPS.name: (EMPLOYEES, "attendance_group_id"),
}


def deleter(collection: Collection) -> Handler:
    """A handler that deletes a record that nothing names; 40901 for others."""
    users, field = _USERS[collection.name]

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            if await req.system_store(users).find_one({field: record["id"]}):
                raise ApiError(CONFLICT, IN_USE)
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


async def create_shift(req: Request) -> Record:
    """A shift of some length."""
    _check_shift(req.body)
    return await req.store(SHIFTS).create(req.body)


async def update_shift(req: Request) -> Record:
    """Change a shift; the results of everybody who works by it are made again."""

    async def of_shift(shift: Record) -> list[Any]:
        return [
            group["id"] for group in await req.system_store(GROUPS).find({"shift_id": shift["id"]}, fields=["name"])
        ]

    return await _updated(req, SHIFTS, of_shift, _check_shift)


async def create_group(req: Request) -> Record:
    """A group of people who work by one shift."""
    _check_group(req.body)
    return await req.store(GROUPS).create(req.body)


async def update_group(req: Request) -> Record:
    """Change a group; the results of its people are made again."""

    async def itself(group: Record) -> list[Any]:
        return [group["id"]]

    return await _updated(req, GROUPS, itself, _check_group)


async def create_place(req: Request) -> Record:
    """A place, found by its position in WGS-84 whatever it was given in."""
    return await req.store(PLACES).create({**req.body, **_located(req.body, {})})


async def update_place(req: Request) -> Record:
    """Change a place; punches that were judged stay as they were."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(PLACES).get(req.path["id"])
    return await req.store(PLACES).update(before["id"], {**values, **_located(values, before)}, version=version)


def bssid_of(given: str) -> str:
    """An access point's address in one form: `9c:54:1c:00:a1:b2`."""
    return given.lower().replace("-", ":")


async def _updated(
    req: Request,
    collection: Collection,
    groups_of: Callable[[Record], Awaitable[list[Any]]],
    check: Callable[[Record], None] | None = None,
) -> Record:
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Record:
        changed = await req.store(collection).update(req.path["id"], values, version=version)
        if check is not None:
            check(changed)
        people = {"attendance_group_id": {"$in": await groups_of(changed)}}
        employees = await req.system_store(EMPLOYEES).find(people, fields=["name"])
        await mark_all(req.service, [employee["id"] for employee in employees])
        return changed

    changed = await req.transaction(work)
    settle_soon(req.service)
    return changed


def _check_shift(shift: Mapping[str, Any]) -> None:
    if shift["start"] == shift["end"]:
        raise invalid("end", "invalid")
    given = [bool(shift.get(name)) for name in ("break_start", "break_end")]
    if any(given) and not all(given):
        raise invalid("break_end" if given[0] else "break_start", "required")
    table, pause = timetable_of({**SHIFTS.defaults, **shift}), pause_of(shift)
    if pause and not table.start < pause[0] < pause[1] < table.end:
        raise invalid("break_end" if table.start < pause[0] < table.end else "break_start", "invalid")


def _check_group(group: Mapping[str, Any]) -> None:
    """No day is told of twice."""
    days = [one["day"] for one in group.get("holidays") or ()]
    faults = [
        FieldError(f"holidays[{number}].day", "duplicate") for number, day in enumerate(days) if day in days[:number]
    ]
    if faults:
        raise ValidationFailed(faults)


def _located(values: Mapping[str, Any], before: Mapping[str, Any]) -> Record:
    derived: Record = {}
    if "location" in values or "coordinate_system" in values:
        merged = {**before, **values}
        derived["point"] = point_of(merged.get("location"), merged.get("coordinate_system"))
    if "bssids" in values:
        derived["bssids"] = list(dict.fromkeys(bssid_of(one) for one in values["bssids"]))
    return derived
