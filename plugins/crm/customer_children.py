"""Records that belong to a customer. Whoever may see or change the customer may also see or change them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Message, Record, Request
from plugins.api.values import ReadOnlyRecord, Typed
from plugins.crm.ownership import LEFT_WITHOUT_OWNER, build_child_sharing, check_enabled_user, find_reference
from plugins.crm.record_types import Customer
from plugins.crm.records import CUSTOMERS


async def insert(
    req: Request,
    collection: Collection[Typed],
    values: Mapping[str, Any],
    customer: Customer,
    owner_id: int | None,
    copied: Container[str] = (),
) -> Typed:
    """Create a record of `customer` with the owner `owner_id`. Raises 40001 if the customer was deleted meanwhile.

    `copied` names the references that are not looked up.
    """
    shared = build_child_sharing(customer, owner_id, req.actor.user_id)
    # without data scope: the caller need not be allowed to see the account of the owner
    return await req.system_store(collection).create(
        {**values, "customer_id": customer["id"], "owner_id": owner_id, **shared}, copied=copied
    )


async def update(
    req: Request,
    collection: Collection[Typed],
    before: ReadOnlyRecord,
    values: Mapping[str, Any],
    version: int | None,
    where: Mapping[str, Any] | None = None,
    reason: Message | None = None,
) -> Typed:
    """Change a record of a customer.

    A record that moves to another customer gets the owner of that customer, unless `values` names one. If that customer
    has no owner, contracts keep theirs.
    """
    # unchanged references are not checked: the caller may not be allowed to see them
    kept = {name for name in ("customer_id", "owner_id", "opportunity_id") if values.get(name, ...) == before.get(name)}
    changes = {name: value for name, value in values.items() if name not in kept}
    stores = req.store
    if changes.get("owner_id") is not None:
        await check_enabled_user(req, "owner_id", changes["owner_id"])
    if "customer_id" in changes or "owner_id" in changes:
        customer = await (
            find_reference(req, CUSTOMERS, "customer_id", changes["customer_id"])
            if "customer_id" in changes
            else req.system_store(CUSTOMERS).get(before["customer_id"])
        )
        if "owner_id" not in values and (customer["owner_id"] is not None or collection in LEFT_WITHOUT_OWNER):
            changes["owner_id"] = customer["owner_id"]
            stores = req.system_store  # the caller need not be allowed to see the account of the owner
        changes |= build_child_sharing(customer, changes.get("owner_id", before["owner_id"]), before["creator_id"])
    return await stores(collection).update(before["id"], changes, version=version, where=where, reason=reason)


def split_version(req: Request) -> tuple[Record, int | None]:
    """Return the body of an update without its `version`, and the version, or None if there is none."""
    values = dict(req.body or {})
    return values, values.pop("version", None)


async def refuse_if_used(req: Request, collection: Collection, filter: Mapping[str, Any], reason: Message) -> None:
    """Raise 40901 with `reason` if any record of `collection` matches `filter`."""
    if await req.system_store(collection).count(filter):
        raise ApiError(CONFLICT, reason)
