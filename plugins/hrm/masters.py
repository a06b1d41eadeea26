"""Changes of shifts and groups, which recompute daily results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import Collection, Request
from plugins.api.values import Typed
from plugins.hrm.leave_counts import recount
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_many_stale, reconcile_soon


async def update_and_recompute(
    req: Request,
    collection: Collection[Typed],
    check: Callable[[Typed], None],
    groups_of: Callable[[Typed], Awaitable[list[Any]]],
) -> Typed:
    """Change a record as the body says, and recompute the daily results of everybody whom the change affects.

    `check` raises if the changed record is invalid. `groups_of` returns the ids of the groups that it affects.
    """
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Typed:
        changed = await req.store(collection).update(req.path["id"], values, version=version)
        check(changed)
        people = {"attendance_group_id": {"$in": await groups_of(changed)}}
        employees = await req.system_store(EMPLOYEES).find(people, fields=["attendance_group_id"])
        await mark_many_stale(req.service, [employee["id"] for employee in employees])
        await recount(req.service, employees)
        return changed

    changed = await req.transaction(work)
    reconcile_soon(req.service)
    return changed
