"""Special days of the company and of places of work: holidays, and days worked in their place.

China's yearly notice is imported as a table of `day`, `kind` and `name`.
"""

from __future__ import annotations

from datetime import date

from plugins.api import Record, Request, Route, crud, tables
from plugins.api.data import restore as restore_record
from plugins.hrm.assignment_records import SPECIAL_DAYS
from plugins.hrm.assignments import find_assigned
from plugins.hrm.calendar_changes import Changed, change_and_recompute, rehearsal_of, rehearse
from plugins.hrm.record_types import SpecialDay


async def _affected(req: Request, *versions: SpecialDay) -> Changed[SpecialDay]:
    """Return a special day with the employees whom it affects, as it was before and is now; it is the last one."""
    places = {one["place_id"] for one in versions}
    at = {} if None in places else {"place_id": {"$in": list(places)}}
    ids = await find_assigned(req.service, {"group_id": {"$ne": None}, **at})
    return Changed(versions[-1], ids, [date.fromisoformat(one["day"]) for one in versions])


async def _create(req: Request) -> Changed[SpecialDay]:
    return await _affected(req, await req.store(SPECIAL_DAYS).create(req.body))


async def _update(req: Request) -> Changed[SpecialDay]:
    values = dict(req.body)
    before = await req.store(SPECIAL_DAYS).get(req.path["id"])
    after = await req.store(SPECIAL_DAYS).update(before["id"], values, version=values.pop("version"))
    return await _affected(req, before, after)


async def _delete(req: Request) -> Changed[SpecialDay]:
    before = await req.store(SPECIAL_DAYS).get(req.path["id"])
    await req.store(SPECIAL_DAYS).delete(before["id"])
    return await _affected(req, before)


async def _restore(req: Request) -> Changed[SpecialDay]:
    restored = await restore_record(req.service.database, req.store(SPECIAL_DAYS), req.path["id"])
    return await _affected(req, restored)


async def create(req: Request) -> SpecialDay:
    """Create a special day, and count open days and leave anew."""
    return await change_and_recompute(req, _create)


async def update(req: Request) -> SpecialDay:
    """Change a special day, and count open days and leave anew."""
    return await change_and_recompute(req, _update)


async def delete(req: Request) -> None:
    """Delete a special day, and count open days and leave anew."""
    await change_and_recompute(req, _delete)


async def restore(req: Request) -> SpecialDay:
    """Restore a special day, and count open days and leave anew."""
    return await change_and_recompute(req, _restore)


async def rehearse_creation(req: Request) -> Record:
    """Return whose results and leave would change with a new special day."""
    return await rehearse(req, _create)


async def rehearse_change(req: Request) -> Record:
    """Return whose results and leave would change with the special day."""
    return await rehearse(req, _update)


_CRUD = crud(
    SPECIAL_DAYS,
    at="/api/v1/hrm/special-days",
    resource="hrm:special-day",
    create=create,
    update=update,
    delete=delete,
    restore=restore,
)
ROUTES: tuple[Route, ...] = (
    *_CRUD,
    *tables(SPECIAL_DAYS, at="/api/v1/hrm/special-days", resource="hrm:special-day"),
    rehearsal_of(
        _CRUD,
        "PATCH",
        "POST /api/v1/hrm/special-days/{id}/rehearse",
        rehearse_change,
        "Rehearse a change of a special day",
    ),
    rehearsal_of(
        _CRUD, "POST", "POST /api/v1/hrm/special-days/rehearse", rehearse_creation, "Rehearse a new special day"
    ),
)
