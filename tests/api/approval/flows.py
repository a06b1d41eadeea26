"""Shared by the tests of approval: flows, requests, and people with all permissions for approvals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from plugins.boot.runtime import Running
from plugins.testing import Client, People, Reply, expect, unique

AT = "/api/v1/approvals"
INSTANCES, DEFINITIONS = f"{AT}/instances", f"{AT}/definitions"
ALLOWED = {"approval_own_requests": "ask"}
TASK_ACTIONS = ("list", "agree", "reject", "send-back", "transfer", "add-signer", "ask-advice")
EVERYTHING = [
    *(f"approval:task:{action}" for action in TASK_ACTIONS),
    *(f"approval:instance:{action}" for action in ("list", "read", "create", "update", "delete", "submit", "withdraw")),
    *(f"approval:delegation:{action}" for action in ("list", "read", "create", "delete")),
]


@asynccontextmanager
async def configured(admin: Client, **values: Any) -> AsyncIterator[None]:
    """Change options within a `with` block."""
    rows = expect(await admin.get("/api/v1/system/configs?page_size=200"))["items"]
    before = {row["key"]: row["value"] for row in rows if row["key"] in values}
    expect(await admin.patch("/api/v1/system/configs", {"values": values}))
    try:
        yield
    finally:
        expect(await admin.patch("/api/v1/system/configs", {"values": before}))


def id_of(client: Client) -> int:
    """The user id of a client."""
    return int(client.user["userId"])


def node(key: str, *people: Client, mode: str = "any", on_reject: str = "end", **approvers: Any) -> dict[str, Any]:
    """A node that asks these people, and user 1 if there are none."""
    named = {**({"users": [id_of(one) for one in people]} if people else {}), **approvers} or {"users": [1]}
    return {"key": key, "name": key, "approvers": named, "mode": mode, "on_reject": on_reject}


async def business_type(admin: Client) -> str:
    """A business type of its own; `conftest.py` removes it."""
    kind = unique("KIND").replace("-", "_").upper()
    expect(await admin.post(f"{await types_path(admin)}/items", {"value": kind, "label": kind}))
    return kind


async def types_path(admin: Client) -> str:
    """The path of the dictionary of business types."""
    (found,) = expect(await admin.get("/api/v1/system/dictionaries?type=biz_type"))["items"]
    return f"/api/v1/system/dictionaries/{found['id']}"


async def define(admin: Client, *nodes: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Create a flow with a business type of its own."""
    body = {"name": unique("flow"), "nodes": list(nodes), **values}
    body["biz_type"] = values.get("biz_type") or await business_type(admin)
    made: dict[str, Any] = expect(await admin.post(DEFINITIONS, body))
    return made


async def disable(admin: Client, who: Client) -> None:
    """Disable an account."""
    one = f"/api/v1/system/users/{id_of(who)}"
    expect(await admin.patch(one, {"version": expect(await admin.get(one))["version"], "status": "disabled"}))


async def draft(client: Client, definition: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Create a draft of a request."""
    body = {"definition_id": definition["id"], "title": unique("request"), **values}
    made: dict[str, Any] = expect(await client.post(INSTANCES, body))
    return made


async def ask(client: Client, definition: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Create a request and submit it."""
    made = await draft(client, definition, **values)
    submitted: dict[str, Any] = expect(await act(client, made, "submit"))
    return submitted


async def act(client: Client, instance: Mapping[str, Any], action: str, **body: Any) -> Reply:
    """Call an action on an approval."""
    return await client.post(f"{INSTANCES}/{instance['id']}/{action}", body)


async def read(client: Client, instance: Mapping[str, Any]) -> dict[str, Any]:
    """Read an approval."""
    found: dict[str, Any] = expect(await client.get(f"{INSTANCES}/{instance['id']}"))
    return found


def waiting(instance: Mapping[str, Any]) -> set[int]:
    """The current approvers."""
    return {task["user_id"] for task in instance["tasks"] if task["status"] == "pending"}


async def box(client: Client, name: str) -> list[str]:
    """The ids in a box."""
    path = "tasks" if name in ("todo", "done") else "instances"
    return [row["id"] for row in expect(await client.get(f"{AT}/{path}?box={name}&page_size=200"))["items"]]


async def several(people: People, count: int, permissions: Sequence[str] = EVERYTHING, **of: Any) -> list[Client]:
    """Create people who hold one role with these permissions, which all who have no others share."""
    if not of:
        return [await people.person(permissions) for _ in range(count)]
    role = await people.role(permissions)
    accounts = [await people.account([role], **of) for _ in range(count)]
    return [await people.admin.log_in(account["username"]) for account in accounts]


async def requested(running: Running, biz_type: str, **payload: Any) -> str:
    """Emit what a business plugin emits when a record is submitted, and return the record's id."""
    resource_id = payload.pop("resource_id", None) or unique("record")
    await running.service.events.emit(
        "approval.requested",
        {"biz_type": biz_type, "resource_id": resource_id, "title": "a record", "record": {}, **payload},
    )
    return str(resource_id)
