"""Names of people for clients that may not list users, and the colleagues to whom a task may be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from plugins.api import Page, Request, Route, invalid, route
from plugins.api.data import RecordNames
from plugins.approval.content import add_reference_names, list_content
from plugins.approval.flow import copy_approval, earlier_nodes, find_task, visit_of
from plugins.approval.people import filter_enabled
from plugins.approval.records import COLLEAGUE, COLLEAGUE_QUERY, INITIATOR
from plugins.approval.states import STATES
from plugins.rbac.api import USERS


async def list_names(req: Request, user_ids: Iterable[int]) -> list[dict[str, Any]]:
    """Return the ids and names of the people with these ids, in the same order."""
    ids = list(user_ids)
    names = (await req.part(RecordNames).look_up({USERS.name: ids}, req.language))[USERS.name]
    return [{"id": id, "name": names.get(id, "")} for id in ids]


async def add_people(req: Request, instance: Mapping[str, Any]) -> dict[str, Any]:
    """Add the names of all people that an approval mentions and of what its record refers to, and who is disabled.

    A request that is about no business record gets its content in words, too.
    """
    acted = (step["user_id"] for step in instance["history"])
    mentioned = {instance["initiator_id"], *(instance.get("shared_with") or ()), *acted}
    asked = instance.get("todo") or ()
    present = await filter_enabled(req.service, asked)
    named = await add_reference_names(req, instance)
    people = await list_names(req, sorted(mentioned))
    called = {str(one["id"]): one["name"] for one in people}
    called |= {node["key"]: node["name"] for node in instance["nodes"] or ()}
    called[INITIATOR] = called[str(instance["initiator_id"])]
    return {
        **named,
        "history": [{**step, "to_name": called.get(step["to"])} for step in instance["history"]],
        "content": await list_content(req, named) if instance["resource_id"] is None else [],
        "people": people,
        "send_back_to": [{"key": key, "name": called[key]} for key in _earlier(instance, req.actor.user_id)],
        "absent": [one for one in asked if one not in present],
    }


def _earlier(instance: Mapping[str, Any], user_id: int) -> list[str]:
    """Return where somebody may send an approval back; nothing if they are not asked."""
    if instance["status"] != STATES.after("submit"):
        return []
    approval = copy_approval(instance)  # with what older versions did not store
    task = find_task(approval, user_id)
    return [] if task is None else [INITIATOR, *earlier_nodes(approval, visit_of(approval, task))]


async def add_names(req: Request, page: Page) -> Page:
    """Add the names of the current approvers to each row."""
    items = [
        {
            **row,
            "waiting_for": await list_names(req, row.get("todo") or ()),
        }
        for row in page.items
    ]
    return replace(page, items=items)


async def list_colleagues(req: Request) -> Page:
    """Return a page of the people to whom a task or a delegation may be given, without regard to data scope.

    `q` searches the displayed name only.
    """
    enabled: dict[str, Any] = {"status": "enabled"}
    users = req.system_store(USERS)
    if q := req.query.get("q"):
        # the user name is displayed only for people without a real name
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


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/approvals/people",
        list_colleagues,
        summary="List the colleagues to whom a task may be given",
        title=("可转办的同事", "Colleagues"),
        access="approval:task:list",
        query=COLLEAGUE_QUERY,
        returns=COLLEAGUE,
        paged=True,
    ),
)
