"""Departments: a tree. Each record lists its ancestors, so that the departments below one are found by one query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Route, array, conflicts, crud, invalid, route
from plugins.rbac.deciding import REFUSES_ONESELF, refuse_leading, refuse_oneself
from plugins.rbac.limits import MANAGING, may_place, may_replace, missing_rights
from plugins.rbac.messages import DEPARTMENT_OUTSIDE, UNDER_ITSELF
from plugins.rbac.records import DEPARTMENTS, USERS
from plugins.rbac.tree import MAX_LEVELS, change_tree, nest

_REFUSALS = (
    *missing_rights(DEPARTMENT_OUTSIDE),
    *MANAGING,
    REFUSES_ONESELF,
    *conflicts(UNDER_ITSELF),
)


async def tree(req: Request) -> list[dict[str, Any]]:
    """Return all departments as a tree of records."""
    return nest(await req.store(DEPARTMENTS).find(sort="sort"))


async def create(req: Request) -> dict[str, Any]:
    """Create a department below its parent, which must lie within the caller's data scope."""
    return await change_tree(req, DEPARTMENTS, lambda: add_department(req, req.body))


async def add_department(req: Request, values: Mapping[str, Any]) -> dict[str, Any]:
    """Create a department with these values, within `change_tree`."""
    may_place(req, values.get("parent_id"))
    refuse_oneself(req, [values.get("leader_user_id")])
    ancestors = await _list_ancestors(req, values.get("parent_id"))
    _refuse_deeper(len(ancestors) + 1)
    return await req.store(DEPARTMENTS).create({**values, "ancestors": ancestors})


async def update(req: Request) -> dict[str, Any]:
    """Change or move a department within the caller's data scope; the departments below it move with it."""
    values = dict(req.body)
    version = values.pop("version")
    return await change_tree(req, DEPARTMENTS, lambda: change_department(req, req.path["id"], values, version))


async def change_department(req: Request, id: int | str, values: dict[str, Any], version: int | None) -> dict[str, Any]:
    """Change or move a department, within `change_tree`. Without a `version`, whatever it is now."""
    before = await req.store(DEPARTMENTS).get(id)
    may_place(req, before["id"])
    if values.get("leader_user_id", before["leader_user_id"]) != before["leader_user_id"]:
        refuse_oneself(req, [values["leader_user_id"]])
        await _may_replace(req, before["leader_user_id"])
    if values.get("parent_id", before["parent_id"]) == before["parent_id"]:
        return await req.store(DEPARTMENTS).update(before["id"], values, version=version)
    return await _move(req, before, values, version)


async def _may_replace(req: Request, leader_id: int | None) -> None:
    """Raise 40300 or 40302 unless the caller may replace the leader, who approves requests of the department."""
    leader = await req.system_store(USERS).find_one({"_id": leader_id}) if leader_id is not None else None
    if leader is not None:
        await may_replace(req, leader)


async def _move(req: Request, before: dict[str, Any], values: dict[str, Any], version: int | None) -> dict[str, Any]:
    """Move a department. Its rows become visible above its new place, and are no longer visible above its old place.

    Everything that is affected must lie within the caller's data scope: the departments that move, the new parent, and
    the ancestors that they lose.
    """
    store = req.store(DEPARTMENTS)
    ancestors = await _list_ancestors(req, values["parent_id"])
    if before["id"] in ancestors:
        raise ApiError(CONFLICT, UNDER_ITSELF)
    below = await store.find({"ancestors": before["id"]})
    moved = [before["id"], *(department["id"] for department in below)]
    for id in (*moved, values["parent_id"], *set(before["ancestors"]).difference(ancestors)):
        may_place(req, id)
    await refuse_leading(req, before["id"], values["parent_id"])
    # a descendant keeps the part of its path that begins with the moved department
    paths = {one["id"]: one["ancestors"][one["ancestors"].index(before["id"]) :] for one in below}
    _refuse_deeper(len(ancestors) + 1 + max(map(len, paths.values()), default=0))
    changed = await store.update(before["id"], {**values, "ancestors": ancestors}, version=version)
    for id, path in paths.items():
        await store.update(id, {"ancestors": [*ancestors, *path]})
    return changed


async def delete(req: Request) -> None:
    """Delete an empty department within the caller's data scope."""
    department = await req.store(DEPARTMENTS).get(req.path["id"])
    may_place(req, department["id"])
    await req.store(DEPARTMENTS).delete(department["id"])


async def _list_ancestors(req: Request, parent_id: int | None) -> list[int]:
    """Return the ids from the root down to the parent itself."""
    if parent_id is None:
        return []
    parent = await req.store(DEPARTMENTS).find_one({"_id": parent_id})
    return [*parent["ancestors"], parent_id] if parent else []


def _refuse_deeper(levels: int) -> None:
    if levels > MAX_LEVELS:
        raise invalid("parent_id", "levels")


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/departments",
        tree,
        summary="List all departments as a tree",
        access="system:department:list",
        returns=array(DEPARTMENTS.tree, max_items=5000, nullable=False),
        collection=DEPARTMENTS.name,
    ),
    *crud(
        DEPARTMENTS,
        at="/api/v1/system/departments",
        resource="system:department",
        only=("read", "create", "update", "delete"),
        without=("restore",),  # its place in the tree may have changed
        create=create,
        update=update,
        delete=delete,
        refusals=_REFUSALS,
    ),
)
