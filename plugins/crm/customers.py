"""Customers: creation, changes, and their owners and collaborators.

Data scope goes by the creator of a customer. Its owner and collaborators can see it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, Record, Refusal, Request, Route, conflicts, crud, invalid, route
from plugins.api.errors import DUPLICATE, STALE, missing_permission
from plugins.api.values import Values
from plugins.crm.bodies import COLLABORATORS, TRANSFER, TRANSFER_MANY, TRANSFERRED
from plugins.crm.duplicates import derive_keys, find_candidates
from plugins.crm.messages import NO_TRANSFER, READ_ONLY, SAME_OWNER
from plugins.crm.ownership import (
    REFUSES_READERS,
    build_sharing,
    check_enabled_user,
    get_editable,
    may_change_owner,
    may_edit,
    permission_to_own,
    propagate_owner,
    propagate_sharing,
    resolve_owner,
)
from plugins.crm.record_types import Customer
from plugins.crm.records import CUSTOMERS

WARNING_HEADER = "X-Possible-Duplicates"
_WARNED = 10  # how many candidates the header names at most


async def create(req: Request) -> Customer:
    """Create a customer, owned by the caller unless the body names an owner. A header names possible duplicates."""
    await warn_of_duplicates(req, req.body)
    await resolve_owner(req, req.body)
    # without data scope: the caller need not be allowed to see the account of the owner
    return await req.system_store(CUSTOMERS).create(build_customer(req, req.body))


async def warn_of_duplicates(req: Request, values: Mapping[str, Any]) -> None:
    """Set a header with the ids of up to ten customers that look the same, among those that the caller may see."""
    found = await find_candidates(req, values.get("name"), values.get("phone"), _WARNED)
    if found:
        req.response_headers[WARNING_HEADER] = ",".join(str(one["id"]) for one in found)


def build_customer(req: Request, given: Mapping[str, Any]) -> Record:
    """Return the values to store for a new customer, from the body `given`."""
    owner_id = given.get("owner_id", req.actor.user_id)
    since = req.now if owner_id is not None else None
    return {
        **given,
        "owner_id": owner_id,
        "owned_since": since,
        **derive_keys(given),
        **build_sharing(owner_id, (), req.actor.user_id),
    }


async def update(req: Request) -> Customer:
    """Change a customer. If its owner changes, its records go to the new owner as well."""
    values = dict(req.body)
    version = values.pop("version")
    before = await get_editable(req, CUSTOMERS, req.path["id"])
    owner_id = values.get("owner_id", before["owner_id"])
    if owner_id != before["owner_id"]:
        if version != before["version"]:
            # another request may have changed the owner
            raise await req.store(CUSTOMERS).stale(before["id"], version)
        if not await may_change_owner(req, owner_id):
            raise missing_permission(req, permission_to_own(owner_id), NO_TRANSFER)
    return await change(req, before, values, version)


async def change(req: Request, before: Customer, values: Values, version: int | None) -> Customer:
    """Write `values` to a customer. If its owner changes, its records go to the new owner as well."""
    changes = {**values, **derive_keys(values)}
    store = req.store(CUSTOMERS)
    if values.get("owner_id", before["owner_id"]) == before["owner_id"]:
        # an unchanged owner is not checked: the caller may not be allowed to see the account
        changes.pop("owner_id", None)
        return await store.update(before["id"], changes, version=version)

    async def work() -> Customer:
        owner_id = values["owner_id"]
        if owner_id is not None:
            await check_enabled_user(req, "owner_id", owner_id)
        handed = build_owner_change(req, before, owner_id)
        changed = await store.update(before["id"], {**changes, **handed}, version=version)
        await propagate_owner(req.system_store, changed)
        return changed

    return await req.transaction(work)


def build_owner_change(req: Request, customer: Customer, owner_id: int | None) -> Record:
    """Return the fields of a customer that change with its owner."""
    remaining = [one for one in customer["collaborators"] if owner_id is not None and one["user_id"] != owner_id]
    return {
        "owner_id": owner_id,
        "owned_since": req.now if owner_id is not None else None,
        "pool_left_at": None,
        "collaborators": remaining,
        **build_sharing(owner_id, remaining, customer["creator_id"]),
    }


async def transfer(req: Request) -> Customer:
    """Give a customer, together with its records, to another owner."""
    owner_id = await check_enabled_user(req, "owner_id", req.body["owner_id"])
    return await transfer_one(req, req.path["id"], owner_id, req.body.get("version"))


async def transfer_many(req: Request) -> Record:
    """Give several customers to another owner, all or none. Those that already belong to that owner stay unchanged."""
    owner_id = await check_enabled_user(req, "owner_id", req.body["owner_id"])
    ids = req.body["customer_ids"]
    store = req.store(CUSTOMERS)
    found = {row["id"]: row for row in await store.find({"_id": {"$in": ids}})}
    for place, id in enumerate(ids):
        if id not in found:
            raise invalid(f"customer_ids[{place}]", "reference")
        if not may_edit(req, found[id]):
            raise ApiError(FORBIDDEN, READ_ONLY)
    moving = [id for id in ids if found[id]["owner_id"] != owner_id]

    async def work() -> None:
        for id in moving:
            await transfer_one(req, id, owner_id, None)

    await req.transaction(work)
    return {"transferred": len(moving)}


async def transfer_one(req: Request, id: Any, owner_id: int, version: int | None) -> Customer:
    """Make `owner_id` the owner of one customer that the caller may change. Raises 40901 if it already is the owner."""

    async def work() -> Customer:
        before = await get_editable(req, CUSTOMERS, id)
        if before["owner_id"] == owner_id:
            raise ApiError(CONFLICT, SAME_OWNER)
        # without data scope: the caller need not be allowed to see the account of the new owner
        store = req.system_store(CUSTOMERS)
        changed = await store.update(before["id"], build_owner_change(req, before, owner_id), version=version)
        await propagate_owner(req.system_store, changed)
        return changed

    return await req.transaction(work)


async def share(req: Request) -> Customer:
    """Set the collaborators of a customer. They can see its records, and with `write` access also change them."""
    given = req.body["collaborators"]
    people = [one["user_id"] for one in given]
    for place, user_id in enumerate(people):
        if user_id in people[:place]:
            raise invalid(f"collaborators[{place}].user_id", "duplicate")

    async def work() -> Customer:
        before = await get_editable(req, CUSTOMERS, req.path["id"])
        for place, user_id in enumerate(people):
            await check_enabled_user(req, f"collaborators[{place}].user_id", user_id)
        changed = await req.system_store(CUSTOMERS).update(
            before["id"],
            {"collaborators": given, **build_sharing(before["owner_id"], given, before["creator_id"])},
            version=req.body.get("version"),
        )
        await propagate_sharing(req.system_store, changed)
        return changed

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a customer with its contacts and follow-ups. Raises 40901 if it has opportunities or contracts."""
    customer = await get_editable(req, CUSTOMERS, req.path["id"])
    await req.store(CUSTOMERS).delete(customer["id"])


ROUTES: tuple[Route, ...] = (
    *crud(
        CUSTOMERS,
        at="/api/v1/crm/customers",
        resource="crm:customer",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        # changing the owner requires the permission to transfer or to release
        refusals_of={"update": (Refusal(FORBIDDEN, NO_TRANSFER, exempt_super=True),)},
    ),
    route(
        "POST /api/v1/crm/customers/{id}/transfer",
        transfer,
        summary="Transfer a customer to another owner",
        access="crm:customer:transfer",
        body=TRANSFER,
        record=CUSTOMERS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(SAME_OWNER)),
    ),
    route(
        "POST /api/v1/crm/customers/transfer",
        transfer_many,
        summary="Transfer several customers to another owner",
        access="crm:customer:transfer",
        body=TRANSFER_MANY,
        returns=TRANSFERRED,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(SAME_OWNER)),
    ),
    route(
        "PUT /api/v1/crm/customers/{id}/collaborators",
        share,
        summary="Set the collaborators of a customer",
        access="crm:customer:share",
        body=COLLABORATORS,
        record=CUSTOMERS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS,),
    ),
)
