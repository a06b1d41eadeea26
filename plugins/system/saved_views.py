"""Saved views of lists: the filters, the order and the columns under which somebody likes to see a list.

A view belongs to whoever created it, and may be shared. It holds no records: who opens it sees those that the list shows them.
"""

from __future__ import annotations

from collections.abc import Collection as Several, Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    invalid,
    route,
)
from plugins.api.data import Filter
from plugins.api.errors import DUPLICATE, STALE, FieldError, ValidationFailed, missing_permission
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL, Catalogue, history_of
from plugins.rbac.api import USERS, Policy
from plugins.system.messages import NO_VIEW, NOT_YOUR_VIEW, SHARES_WITH_ALL, TOO_MANY_VIEWS
from plugins.system.records import SAVED_VIEWS

AT = "/api/v1/meta/views"
MOST_OWN = 200
_TO_SHARE_WITH_ALL = "system:config:update"
_NO_FILTERS = ("page", "page_size", "cursor", "with_total", "sort", "sum")


async def list_views(req: Request) -> Page:
    """Return a page of the caller's own views and of those that are shared with them."""
    return await req.store(SAVED_VIEWS).page(req.query, await seen_by(req))


async def read(req: Request) -> Record:
    """Return a view that the caller sees."""
    store = req.store(SAVED_VIEWS)
    found = await store.find_one({"$and": [{"_id": SAVED_VIEWS.parse_id(req.path["id"])}, await seen_by(req)]})
    if found is None:
        raise ApiError(NOT_FOUND)
    return found


async def create(req: Request) -> Record:
    """Save a view of the caller. Raises 40001 for what the list does not have, and for an audience out of sight."""
    check_view(req, req.body)
    await _check_audience(req, {}, req.body.get("shared_with"))
    if await req.store(SAVED_VIEWS).count({"creator_id": req.actor.user_id}) >= MOST_OWN:
        raise ApiError(CONFLICT, TOO_MANY_VIEWS.filled(most=MOST_OWN))
    return await req.store(SAVED_VIEWS).create(req.body)


async def update(req: Request) -> Record:
    """Change a view of the caller. What is not changed is not checked again, unless the list is another one."""
    values = dict(req.body)
    version = values.pop("version")
    before = await _find_own(req)
    moved = values.get("list", before["list"]) != before["list"]
    check_view(req, {**before, **values} if moved else {"list": before["list"], **values})
    await _check_audience(req, before["shared_with"] or {}, values.get("shared_with"))
    return await req.store(SAVED_VIEWS).update(before["id"], values, version=version)


async def delete(req: Request) -> None:
    """Delete a view of the caller."""
    await req.store(SAVED_VIEWS).delete((await _find_own(req))["id"])


async def seen_by(req: Request) -> Filter:
    """Return the filter for the views that the caller sees."""
    rules, actor = await req.part(Policy).rules(), req.actor
    own = rules.departments.get(actor.department_id or 0)
    departments = [own["id"], *own["ancestors"]] if own is not None else []
    shared = {"users": [actor.user_id], "roles": sorted(actor.roles), "departments": departments}
    to_these = [{f"shared_with.{name}": {"$in": ids}} for name, ids in shared.items() if ids]
    return {"$or": [{"creator_id": actor.user_id}, {"shared_with.all": True}, *to_these]}


async def _find_own(req: Request) -> Record:
    """Return a view that the caller may change: super administrators may change every one that they see."""
    view = await read(req)
    if view["creator_id"] != req.actor.user_id and not req.actor.is_super:
        raise ApiError(FORBIDDEN, NOT_YOUR_VIEW)
    return view


def check_view(req: Request, given: Mapping[str, Any]) -> None:
    """Raise 40001 with every filter, field of the order and column that the list of a view does not have."""
    path = given["list"]
    lists = (one for one in req.part(Catalogue).routes if one.method == "GET" and one.paged and not one.parameters)
    listing = next((one for one in lists if one.path == path), None)
    if listing is None:
        raise invalid("list", "enum")
    faults = [
        *_filter_faults(listing, given.get("filters")),
        *_sort_faults(listing, given.get("sort")),
        *_column_faults(listing, given.get("columns")),
    ]
    if faults:
        raise ValidationFailed(faults)


def _filter_faults(listing: Route, filters: Any) -> list[FieldError]:
    if filters is None:
        return []
    if not isinstance(filters, dict):
        return [FieldError("filters", "type")]
    given = {name: _as_parameter(value) for name, value in filters.items()}
    faults = [FieldError(name, "unknown") for name in given if name in _NO_FILTERS or name not in listing.query]
    faults += [FieldError(name, "type") for name, value in given.items() if value is None]
    if not faults:
        try:
            listing.check_query({name: [value] for name, value in given.items() if value is not None})
        except ValidationFailed as failed:
            # further parameters that the list needs come from whoever opens the view
            faults = [fault for fault in failed.errors if fault.field in given]
    return [FieldError(f"filters.{fault.field}", fault.rule) for fault in faults]


def _as_parameter(value: Any) -> str | None:
    """Return a value as a query string has it, or None if it cannot be in one."""
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int) for one in several):
        return None
    return ",".join(str(one).lower() if isinstance(one, bool) else str(one) for one in several)


def _sort_faults(listing: Route, sort: str | None) -> list[FieldError]:
    fields = listing.returns.fields or {}
    known = {"id", *(name for name, field in fields.items() if field.sort)} if "sort" in listing.query else set()
    named = [part.strip().removeprefix("-") for part in sort.split(",")] if sort else []
    return [FieldError("sort", "sort")] if {*named} - known or len({*named}) < len(named) else []


def _column_faults(listing: Route, columns: list[str] | None) -> list[FieldError]:
    shown = listing.returns.response_fields
    return [FieldError(f"columns[{at}]", "unknown") for at, name in enumerate(columns or ()) if name not in shown]


async def _check_audience(req: Request, before: Mapping[str, Any], given: Mapping[str, Any] | None) -> None:
    """Raise 40001 for users, roles and departments that the caller does not see, 40300 for everybody.

    People see the users and departments in their data scope, their own department, and the roles that they hold;
    who sees every row sees all of them. What a view has been shared with may stay.
    """
    if given is None:
        return
    if given.get("all") and not before.get("all") and not await req.part(Policy).holds(req.actor, _TO_SHARE_WITH_ALL):
        raise missing_permission(req, _TO_SHARE_WITH_ALL, SHARES_WITH_ALL)
    rules, scope, actor = await req.part(Policy).rules(), req.scope, req.actor
    added = {name: {*(given.get(name) or ())}.difference(before.get(name) or ()) for name in ("departments", "roles")}
    users = {*(given.get("users") or ())}.difference(before.get("users") or ())
    seen: dict[str, Several[int]] = {
        "departments": rules.departments
        if scope.everything
        else {*scope.department_ids, *filter(None, [actor.department_id])},
        "roles": rules.roles if scope.everything else actor.roles,
    }
    faults = [FieldError(f"shared_with.{name}", "reference") for name, ids in added.items() if not ids <= {*seen[name]}]
    if users and await req.store(USERS).count({"_id": {"$in": sorted(users)}}) < len(users):
        faults.append(FieldError("shared_with.users", "reference"))
    if faults:
        raise ValidationFailed(faults)


_NO_VIEW = Refusal(NOT_FOUND, hint=NO_VIEW)
_NOT_YOURS = Refusal(FORBIDDEN, NOT_YOUR_VIEW, exempt_super=True)
_WITH_ALL = Refusal(FORBIDDEN, SHARES_WITH_ALL, exempt_super=True)
_READ = route(
    f"GET {AT}/{{id}}",
    read,
    summary="Read a saved view",
    access=SIGNED_IN,
    record=SAVED_VIEWS,
    refusals=(_NO_VIEW,),
    tag="meta",
)
ROUTES: tuple[Route, ...] = (
    route(
        f"GET {AT}",
        list_views,
        summary="List my saved views and those shared with me",
        access=SIGNED_IN,
        query=SAVED_VIEWS.list_query,
        record=SAVED_VIEWS,
        paged=True,
        tag="meta",
    ),
    _READ,
    route(
        f"POST {AT}",
        create,
        summary="Save a view of a list",
        title=("保存列表视图", "Save a view of a list"),
        access=SIGNED_IN,
        body=SAVED_VIEWS.create,
        record=SAVED_VIEWS,
        errors=(DUPLICATE,),
        refusals=(_WITH_ALL, *conflicts(TOO_MANY_VIEWS)),
        tag="meta",
        description="`shared_with` names people who see the view too; it gives no right to any record. Sharing with "
        f"`all` needs the permission `{_TO_SHARE_WITH_ALL}`.",
    ),
    route(
        f"PATCH {AT}/{{id}}",
        update,
        summary="Change a saved view",
        title=("修改列表视图", "Change a saved view"),
        access=SIGNED_IN,
        body=SAVED_VIEWS.update,
        record=SAVED_VIEWS,
        errors=(DUPLICATE, STALE),
        refusals=(_NO_VIEW, _NOT_YOURS, _WITH_ALL),
        tag="meta",
    ),
    route(
        f"DELETE {AT}/{{id}}",
        delete,
        summary="Delete a saved view",
        title=("删除列表视图", "Delete a saved view"),
        description=FINAL,
        access=SIGNED_IN,
        returns=NOTHING,
        refusals=(_NO_VIEW, _NOT_YOURS),
        collection=SAVED_VIEWS.name,
        tag="meta",
    ),
    history_of(SAVED_VIEWS, _READ, None, "a saved view"),
)
