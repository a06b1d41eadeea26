"""Records below a customer: made and changed by those who may change the customer, seen by its people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Message, Request
from plugins.crm.ownership import enabled_user, referred, sharing_below
from plugins.crm.records import CUSTOMERS

Record = dict[str, Any]


async def insert(
    req: Request, collection: Collection, values: Mapping[str, Any], customer: Mapping[str, Any], owner_id: int | None
) -> Record:
    """Make a record below `customer` for `owner_id`; 40001 where somebody deleted that meanwhile."""
    shared = sharing_below(customer, owner_id, req.actor.user_id)

    async def work() -> Record:
        # a change of the customer each time: one of this and a deletion at the same moment begins anew
        await req.system_store(CUSTOMERS).change_quietly({"_id": customer["id"]}, {"$inc": {"made_below": 1}})
        # without scope: the owner of the customer need not be among the people whom the caller sees
        return await req.system_store(collection).create(
            {**values, "customer_id": customer["id"], "owner_id": owner_id, **shared}
        )

    return await req.transaction(work)


async def update(
    req: Request,
    collection: Collection,
    before: Mapping[str, Any],
    values: Mapping[str, Any],
    version: int | None,
    where: Mapping[str, Any] | None = None,
    reason: Message | None = None,
) -> Record:
    """Change a record below a customer; with another customer or owner other people see it."""
    # what stays is no reference to check: the caller may not see that customer or account
    kept = {name for name in ("customer_id", "owner_id", "opportunity_id") if values.get(name, ...) == before.get(name)}
    changes = {name: value for name, value in values.items() if name not in kept}
    if changes.get("owner_id") is not None:
        await enabled_user(req, "owner_id", changes["owner_id"])
    if "customer_id" in changes or "owner_id" in changes:
        customer = await (
            referred(req, CUSTOMERS, "customer_id", changes["customer_id"])
            if "customer_id" in changes
            else req.system_store(CUSTOMERS).get(before["customer_id"])
        )
        changes |= sharing_below(customer, changes.get("owner_id", before["owner_id"]), before["creator_id"])
    return await req.store(collection).update(before["id"], changes, version=version, where=where, reason=reason)


def versioned(req: Request) -> tuple[Record, int | None]:
    """The body of a change without its `version`, and that."""
    values = dict(req.body or {})
    return values, values.pop("version", None)


async def refuse_if_used(req: Request, collection: Collection, filter: Mapping[str, Any], reason: Message) -> None:
    """40901 while records of `collection` match: what they belong to cannot be deleted."""
    if await req.system_store(collection).count(filter):
        raise ApiError(CONFLICT, reason)
