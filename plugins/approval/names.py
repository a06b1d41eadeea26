"""The names of people, for clients of those who may not list users, and the colleagues whom one may choose."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from plugins.api import Page, Request, Service, invalid
from plugins.rbac.api import USERS, Directory


async def name_of(service: Service, user_id: int) -> str:
    """The name of a person; empty for who was deleted."""
    user = await service.part(Directory).user(user_id) or {}
    return str(user.get("real_name") or user.get("username") or "")


async def with_people(req: Request, instance: Mapping[str, Any]) -> dict[str, Any]:
    """An approval with the names of everybody whom it mentions."""
    acted = (step["user_id"] for step in instance["history"])
    mentioned = {instance["initiator_id"], *(instance.get("shared_with") or ()), *acted}
    return {**instance, "people": await _named(req, sorted(mentioned))}


async def with_names(req: Request, page: Page) -> Page:
    """Rows with the names of who asks and of who is asked now."""
    items = [
        {
            **row,
            "initiator_name": await name_of(req.service, row["initiator_id"]),
            "waiting_for": await _named(req, row.get("todo") or ()),
        }
        for row in page.items
    ]
    return replace(page, items=items)


async def colleagues(req: Request) -> Page:
    """A page of the people to whom a task or a delegation may be given, whatever people the data scope shows.

    They are found by the name that the page tells, and by nothing else.
    """
    enabled: dict[str, Any] = {"status": "enabled"}
    users = req.system_store(USERS)
    if q := req.query.get("q"):
        # who has a name is not called by their user name
        enabled["$or"] = [users.search(q, ["real_name"]), {"real_name": {"$in": [None, ""]}}]
    if req.query["sort"] not in ("id", "-id"):
        raise invalid("sort", "sort")
    fields = ("real_name", "username", "department_id")
    page = await users.page(req.query, enabled, fields=fields, shown=fields)
    items = [
        {"id": user["id"], "name": user["real_name"] or user["username"], "department_id": user["department_id"]}
        for user in page.items
    ]
    return replace(page, items=items)


async def _named(req: Request, user_ids: Iterable[int]) -> list[dict[str, Any]]:
    ids = list(user_ids)
    names = await asyncio.gather(*(name_of(req.service, user_id) for user_id in ids))
    return [{"id": id, "name": name} for id, name in zip(ids, names, strict=True)]
