"""Customers: their owner, and the public pool of those without one.

Who is handed a customer sees it besides their data scope, which goes by its creator (SPEC 2.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    DUPLICATE,
    FORBIDDEN,
    STALE,
    ApiError,
    Collection,
    Refusal,
    Request,
    Route,
    conflicts,
    crud,
    invalid,
    route,
)
from plugins.crm.bodies import COLLABORATORS, TRANSFER, TRANSFER_MANY, TRANSFERRED
from plugins.crm.contract_records import CONTRACTS
from plugins.crm.customer_keys import derived
from plugins.crm.duplicates import candidates
from plugins.crm.messages import HAS_BUSINESS, NO_TRANSFER, READ_ONLY, SAME_OWNER
from plugins.crm.ownership import (
    REFUSES_READERS,
    editable,
    enabled_user,
    hand_down,
    may_edit,
    may_hand_over,
    owner_of,
    share_down,
    sharing,
)
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, OPPORTUNITIES

Record = dict[str, Any]
WARNING_HEADER = "X-Possible-Duplicates"
_WARNED = 10  # candidates that the header names


async def create(req: Request) -> Record:
    """A customer; its owner is the caller unless another is named. A header names those that look the same."""
    await warn_of_twins(req, req.body)
    await owner_of(req, req.body)
    # without scope: the owner, who may be the caller, need not be among the people whom the caller sees
    return await req.system_store(CUSTOMERS).create(new_customer(req, req.body))


async def warn_of_twins(req: Request, values: Mapping[str, Any]) -> None:
    """Name the customers that look like the one to be made, as far as the caller sees them, in a header."""
    twins = await candidates(req, values.get("name"), values.get("phone"), _WARNED)
    if twins:
        req.answer_headers[WARNING_HEADER] = ",".join(str(one["id"]) for one in twins)


def new_customer(req: Request, given: Mapping[str, Any]) -> Record:
    """What is stored of a customer that is made from the body `given`."""
    owner_id = given.get("owner_id", req.actor.user_id)
    since = req.now if owner_id is not None else None
    return {
        **given,
        "owner_id": owner_id,
        "owned_since": since,
        **derived(given),
        **sharing(owner_id, (), req.actor.user_id),
    }


async def update(req: Request) -> Record:
    """Change a customer; a new owner is handed it, and everything below."""
    values = dict(req.body)
    version = values.pop("version")
    before = await editable(req, CUSTOMERS, req.path["id"])
    owner_id = values.get("owner_id", before["owner_id"])
    if owner_id != before["owner_id"]:
        if version != before["version"]:
            raise ApiError(STALE)  # the owner may be what changed meanwhile
        if not await may_hand_over(req, owner_id):
            raise ApiError(FORBIDDEN, NO_TRANSFER)
    return await change(req, before, values, version)


async def change(req: Request, before: Mapping[str, Any], values: Mapping[str, Any], version: int | None) -> Record:
    """Write `values` into a customer; as its owner changes, so does who sees what is below."""
    changes = {**values, **derived(values)}
    store = req.store(CUSTOMERS)
    if values.get("owner_id", before["owner_id"]) == before["owner_id"]:
        # the same owner is no reference to check: the caller may not see that account
        changes.pop("owner_id", None)
        return await store.update(before["id"], changes, version=version)

    async def work() -> Record:
        owner_id = values["owner_id"]
        if owner_id is not None:
            await enabled_user(req, "owner_id", owner_id)
        handed = handed_over(req, before, owner_id)
        changed = await store.update(before["id"], {**changes, **handed}, version=version)
        await hand_down(req.system_store, changed)
        return changed

    return await req.transaction(work)


def handed_over(req: Request, customer: Mapping[str, Any], owner_id: int | None) -> Record:
    """The fields of a customer that change with its owner."""
    stay = [one for one in customer["collaborators"] if owner_id is not None and one["user_id"] != owner_id]
    return {
        "owner_id": owner_id,
        "owned_since": req.now if owner_id is not None else None,
        "pool_left_at": None,
        "collaborators": stay,
        **sharing(owner_id, stay, customer["creator_id"]),
    }


async def transfer(req: Request) -> Record:
    """Give a customer, and everything below it, to another owner."""
    owner_id = await enabled_user(req, "owner_id", req.body["owner_id"])
    return await give(req, req.path["id"], owner_id, req.body.get("version"))


async def transfer_many(req: Request) -> Record:
    """Give several customers to another owner, all or none; those that are the owner's already stay as they are."""
    owner_id = await enabled_user(req, "owner_id", req.body["owner_id"])
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
            await give(req, id, owner_id, None)

    await req.transaction(work)
    return {"transferred": len(moving)}


async def give(req: Request, id: Any, owner_id: int, version: int | None) -> Record:
    """Make `owner_id` the owner of a customer that the caller may change."""

    async def work() -> Record:
        before = await editable(req, CUSTOMERS, id)
        if before["owner_id"] == owner_id:
            raise ApiError(CONFLICT, SAME_OWNER)
        # without scope: the new owner need not be among the people whom the caller sees
        store = req.system_store(CUSTOMERS)
        changed = await store.update(before["id"], handed_over(req, before, owner_id), version=version)
        await hand_down(req.system_store, changed)
        return changed

    return await req.transaction(work)


async def share(req: Request) -> Record:
    """Set the collaborators of a customer; they see everything below it, and change it where they may write."""
    given = req.body["collaborators"]
    people = [one["user_id"] for one in given]
    for place, user_id in enumerate(people):
        if user_id in people[:place]:
            raise invalid(f"collaborators[{place}].user_id", "duplicate")

    async def work() -> Record:
        before = await editable(req, CUSTOMERS, req.path["id"])
        for place, user_id in enumerate(people):
            await enabled_user(req, f"collaborators[{place}].user_id", user_id)
        changed = await req.system_store(CUSTOMERS).update(
            before["id"],
            {"collaborators": given, **sharing(before["owner_id"], given, before["creator_id"])},
            version=req.body.get("version"),
        )
        await share_down(req.system_store, changed)
        return changed

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a customer with its contacts and follow-ups; one with opportunities or contracts stays."""

    async def work() -> None:
        customer = await editable(req, CUSTOMERS, req.path["id"])
        of_customer = {"customer_id": customer["id"]}
        if any([await req.system_store(one).count(of_customer) for one in (OPPORTUNITIES, CONTRACTS)]):
            raise ApiError(CONFLICT, HAS_BUSINESS)
        await req.store(CUSTOMERS).delete(customer["id"])
        for collection in (CONTACTS, FOLLOW_UPS):
            await bury(req, collection, of_customer)

    await req.transaction(work)


async def bury(req: Request, collection: Collection, filter: Mapping[str, Any]) -> None:
    """Delete softly what goes with a record that is deleted."""
    await req.system_store(collection).change_many(filter, {"$set": {"deleted": True, "deleted_at": req.now}})


ROUTES: tuple[Route, ...] = (
    *crud(
        CUSTOMERS,
        at="/api/v1/crm/customers",
        resource="crm:customer",
        noun="customer",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={
            # another owner takes the permission of the route that transfers or releases
            "update": (Refusal(FORBIDDEN, NO_TRANSFER, spares_super=True),),
            "delete": conflicts(HAS_BUSINESS),
        },
    ),
    route(
        "POST /api/v1/crm/customers/{id}/transfer",
        transfer,
        summary="Give a customer to another owner",
        access="crm:customer:transfer",
        body=TRANSFER,
        record=CUSTOMERS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(SAME_OWNER)),
    ),
    route(
        "POST /api/v1/crm/customers/transfer",
        transfer_many,
        summary="Give several customers to another owner",
        access="crm:customer:transfer",
        body=TRANSFER_MANY,
        returns=TRANSFERRED,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(SAME_OWNER)),
    ),
    route(
        "PUT /api/v1/crm/customers/{id}/collaborators",
        share,
        summary="Set who works on a customer with its owner",
        access="crm:customer:share",
        body=COLLABORATORS,
        record=CUSTOMERS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS,),
    ),
)
