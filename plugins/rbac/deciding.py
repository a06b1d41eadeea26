"""Who decides is a right: nobody makes themselves the one who decides or is copied, or gains it with an account or a role.

Departments, flows and tasks name who decides; they are holdings that `decides` marks.
"""

from __future__ import annotations

from collections.abc import Collection as Ids, Container
from dataclasses import replace

from plugins.api import FORBIDDEN, ApiError, Refusal, Request
from plugins.api.records import Catalogue, Holding
from plugins.rbac.holdings import holdings
from plugins.rbac.messages import DECIDES_BEYOND, NAMES_ONESELF
from plugins.rbac.policy import Policy
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS

EXEMPTION = "named_oneself"
REFUSES_ONESELF = Refusal(FORBIDDEN, NAMES_ONESELF, exempt_super=True, exemption=EXEMPTION)


def refuse_oneself(req: Request, people: Container[int | None]) -> None:
    """Raise 40300 if the caller is among `people`, whom the request names as leaders, approvers, copied or receivers.

    A super administrator is not refused, but the operation log records the exemption.
    """
    if req.actor.user_id not in people:
        return
    if not req.actor.is_super:
        raise ApiError(FORBIDDEN, NAMES_ONESELF)
    req.exemption = EXEMPTION


async def refuse_leading(req: Request, before: int | None, after: int | None) -> None:
    """Raise 40300 if people or departments that move from one department to another come under the caller's lead."""
    rules = await req.part(Policy).rules()
    refuse_oneself(req, {*rules.leaders(after)}.difference(rules.leaders(before)))


async def refuse_decisions_beyond(req: Request, user_id: int) -> None:
    """Raise 40300 if the user decides on what is outside the caller's data scope, or in flows that they may not change."""
    for one in holdings(req.service):
        if one.decides and not req.actor.is_super and await _is_beyond(req, one, user_id):
            raise ApiError(FORBIDDEN, DECIDES_BEYOND)


async def _is_beyond(req: Request, holding: Holding, user_id: int) -> bool:
    collection, held = holding.collection, holding.filter(user_id, req.now)
    store = req.system_store(collection)
    if collection.scoped:
        # without the rows that are visible only because they were shared with the caller
        within = req.service.database.store(collection, req.actor, replace(req.scope, user_id=None), req.now)
        return await store.count(held) != await within.count(held)
    if collection.name == DEPARTMENTS.name:
        outside = {"_id": {"$nin": sorted(req.scope.department_ids)}}
        return not req.scope.everything and bool(await store.count({"$and": [held, outside]}))
    return bool(await store.count(held)) and not await _may_change(req, collection.name)


async def _may_change(req: Request, collection: str) -> bool:
    routes = (one for one in req.part(Catalogue).routes if one.method == "PATCH" and one.collection == collection)
    return any([await req.part(Policy).allows(req.actor, one) for one in routes])


async def is_named(req: Request, role_ids: Ids[int]) -> bool:
    """Return whether something that has not ended, such as a flow, names one of these roles, besides users and menus."""
    for collection in req.part(Catalogue).collections.values() if role_ids else ():
        for link in collection.links:
            if link.target == ROLES.name and collection.name not in (USERS.name, MENUS.name):
                named = [Holding(collection, link.path).filter(id, req.now) for id in sorted(role_ids)]
                if await req.system_store(collection).count({"$or": named}):
                    return True
    return False
