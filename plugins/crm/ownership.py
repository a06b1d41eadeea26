"""Who a customer and everything below it belongs to.

Data scope goes by the creator (SPEC 2.5). Besides it a record is seen by the people it was handed to (`shared_with`):
the owner and the collaborators of its customer, and its own owner. `editors` are those of them who may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugins.api import FORBIDDEN, ApiError, Collection, Refusal, Request, Store, invalid
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.messages import READ_ONLY
from plugins.crm.records import CONTACTS, EDITORS, FOLLOW_UPS, OPPORTUNITIES
from plugins.rbac.api import Directory, Policy

Record = dict[str, Any]
Stores = Callable[[Collection], Store]
BELOW = (CONTACTS, OPPORTUNITIES, FOLLOW_UPS, CONTRACTS, PLANS, PAYMENTS)
# what happened stays with the person whose work it was; what is still to be done moves to the new owner
MOVING = (CONTACTS, OPPORTUNITIES, CONTRACTS, PLANS)
# nobody works on what is in the pool, but a contract keeps the name of who made it
LEFT_WITHOUT_OWNER = (CONTACTS, OPPORTUNITIES)
# for routes that write: people who may only read a record cannot change it
REFUSES_READERS = Refusal(FORBIDDEN, READ_ONLY, spares_super=True)


def sharing(owner_id: int | None, collaborators: Sequence[Mapping[str, Any]], creator_id: int) -> Record:
    """`shared_with` and `editors` of a customer; its creator sees it anyway."""
    editors = {one["user_id"] for one in collaborators if one["access"] == "write"}
    editors |= {owner_id} if owner_id is not None else set()
    people = editors | {one["user_id"] for one in collaborators}
    return {"shared_with": sorted(people - {creator_id}), EDITORS: sorted(editors)}


def sharing_below(customer: Mapping[str, Any], owner_id: int | None, creator_id: int) -> Record:
    """`shared_with` and `editors` of a record below `customer`."""
    given = sharing(customer["owner_id"], customer["collaborators"], 0)
    own = {owner_id} if owner_id is not None else set()
    return {
        "shared_with": sorted({*given["shared_with"], *own} - {creator_id}),
        EDITORS: sorted({*given[EDITORS], *own}),
    }


def may_edit(req: Request, record: Mapping[str, Any]) -> bool:
    """Whether the caller may change a record that they see: by their own scope, as owner, or as an editor."""
    scope, me = req.scope, req.actor.user_id
    return (
        scope.everything
        or record["creator_department_id"] in scope.department_ids
        or (scope.creator_id is not None and record["creator_id"] == scope.creator_id)
        or record["owner_id"] == me
        or me in (record.get(EDITORS) or ())
    )


async def editable(req: Request, collection: Collection, id: Any) -> Record:
    """The record, for a change; 40400 where the caller sees none, 40300 where they may only read it."""
    record = await req.store(collection).get(id)
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


async def referred(req: Request, collection: Collection, field: str, id: Any, **same: Any) -> Record:
    """The record that `field` names, for a change; 40001 where the caller sees none, or it belongs elsewhere.

    `same` are values that it must have, such as the customer.
    """
    record = await req.store(collection).find_one({"_id": id, **same})
    if record is None:
        raise invalid(field, "reference")
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


async def may_hand_over(req: Request, owner_id: int | None) -> bool:
    """Whether the caller may give a customer to this owner, or to nobody: as by the routes that are there for it."""
    permission = "crm:customer:transfer" if owner_id is not None else "crm:customer:release"
    return await req.part(Policy).holds(req.actor, permission)


async def enabled_user(req: Request, field: str, user_id: int) -> int:
    """`user_id`, if that is an account in use; else 40001 for `field`."""
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid(field, "reference")
    return user_id


async def owner_of(req: Request, values: Mapping[str, Any]) -> int | None:
    """The owner that a body names, the caller where it names none; 40001 for an account that is not in use."""
    owner_id: int | None = values.get("owner_id", req.actor.user_id)
    return owner_id if owner_id in (None, req.actor.user_id) else await enabled_user(req, "owner_id", owner_id)


async def hand_down(stores: Stores, customer: Mapping[str, Any]) -> None:
    """Give everything below a customer to its new owner, or to nobody; `stores` see it all."""
    await _set_people(stores, customer, MOVING if customer["owner_id"] is not None else LEFT_WITHOUT_OWNER)


async def share_down(stores: Stores, customer: Mapping[str, Any]) -> None:
    """Let the people of a customer, and nobody else besides its own owner, see each record below it."""
    await _set_people(stores, customer, ())


async def _set_people(stores: Stores, customer: Mapping[str, Any], moving: Sequence[Collection]) -> None:
    of_customer = {"customer_id": customer["id"]}
    for collection in BELOW:
        below = stores(collection)
        if collection in moving:
            owner_id = customer["owner_id"]
            given = {"owner_id": owner_id, **sharing_below(customer, owner_id, 0)}
            await below.change_many(of_customer, {"$set": given})
            continue
        # what is one's own stays one's own
        for owner_id in {row["owner_id"] for row in await below.find(of_customer, fields=["owner_id"])}:
            of_owner = {**of_customer, "owner_id": owner_id}
            await below.change_many(of_owner, {"$set": sharing_below(customer, owner_id, 0)})
