"""Shared by positions, shifts, groups and places: deletion of unused records, and changes that recompute results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Handler, Request
from plugins.hrm.messages import IN_USE
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_many_stale, reconcile_soon

Record = dict[str, Any]


def deleter(collection: Collection, referring: Collection, field: str) -> Handler:
    """A handler that deletes a record. It raises 40901 while `field` of a record of `referring` names it."""

    async def delete_record(req: Request) -> None:
        async def work() -> None:
            record = await req.store(collection).get(req.path["id"])
            if await req.system_store(referring).find_one({field: record["id"]}):
                raise ApiError(CONFLICT, IN_USE)
            await req.store(collection).delete(record["id"])

        await req.transaction(work)

    return delete_record


async def update_and_recompute(
    req: Request,
    collection: Collection,
    check: Callable[[Record], None],
    groups_of: Callable[[Record], Awaitable[list[Any]]],
) -> Record:
    """Change a record by the body, and recompute the daily results of everybody in the groups that it affects."""
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Record:
        changed = await req.store(collection).update(req.path["id"], values, version=version)
        check(changed)
        people = {"attendance_group_id": {"$in": await groups_of(changed)}}
        employees = await req.system_store(EMPLOYEES).find(people, fields=["name"])
        await mark_many_stale(req.service, [employee["id"] for employee in employees])
        return changed

    changed = await req.transaction(work)
    reconcile_soon(req.service)
    return changed
