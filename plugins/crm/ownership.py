"""Ownership of customers and their records.

Data scope goes by the creator of a record and by the department of its owner. Besides, the people in `shared_with` see
it: the owner and collaborators of its customer, and its own owner. Those of them in `editors` may change it.
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
CHILDREN = (CONTACTS, OPPORTUNITIES, FOLLOW_UPS, CONTRACTS, PLANS, PAYMENTS)
# in the pool these have no owner; contracts keep theirs, with their plans and payments
LEFT_WITHOUT_OWNER = (CONTACTS, OPPORTUNITIES, FOLLOW_UPS)
# for routes that write: people who may only read a record cannot change it
REFUSES_READERS = Refusal(FORBIDDEN, READ_ONLY, exempt_super=True)


def build_sharing(owner_id: int | None, collaborators: Sequence[Mapping[str, Any]], creator_id: int) -> Record:
    """`shared_with` and `editors` of a customer. Its creator needs no sharing."""
    editors = {one["user_id"] for one in collaborators if one["access"] == "write"}
    editors |= {owner_id} if owner_id is not None else set()
    people = editors | {one["user_id"] for one in collaborators}
    return {"shared_with": sorted(people - {creator_id}), EDITORS: sorted(editors)}


def build_child_sharing(customer: Mapping[str, Any], owner_id: int | None, creator_id: int) -> Record:
    """`shared_with` and `editors` of a record of `customer`."""
    given = build_sharing(customer["owner_id"], customer["collaborators"], 0)
    own = {owner_id} if owner_id is not None else set()
    return {
        "shared_with": sorted({*given["shared_with"], *own} - {creator_id}),
        EDITORS: sorted({*given[EDITORS], *own}),
    }


def may_edit(req: Request, record: Mapping[str, Any]) -> bool:
    """Whether the caller may change a visible record: by data scope, as owner, or as an editor."""
    scope, me = req.scope, req.actor.user_id
    return scope.admits(record, owned=True) or record["owner_id"] == me or me in (record.get(EDITORS) or ())


async def get_editable(req: Request, collection: Collection, id: Any) -> Record:
    """Get a record to change it. Raises 40400 if it is not visible, 40300 if the caller may only read it."""
    record = await req.store(collection).get(id)
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


async def find_reference(req: Request, collection: Collection, field: str, id: Any, **same: Any) -> Record:
    """Find the record that `field` of a body refers to, and that the caller may change.

    `same` are values that the record must have, such as the customer. Raises 40001 if there is no such visible record,
    40300 if the caller may only read it.
    """
    record = await req.store(collection).find_one({"_id": id, **same})
    if record is None:
        raise invalid(field, "reference")
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


def permission_to_own(owner_id: int | None) -> str:
    """The permission code that makes this person the owner of a customer; with None, that leaves it without one."""
    return "crm:customer:transfer" if owner_id is not None else "crm:customer:release"


async def may_change_owner(req: Request, owner_id: int | None) -> bool:
    """Whether the caller may transfer a customer to this owner, or release it if `owner_id` is None."""
    return await req.part(Policy).holds(req.actor, permission_to_own(owner_id))


async def check_enabled_user(req: Request, field: str, user_id: int) -> int:
    """Return `user_id`. Raises 40001 for `field` unless that account exists and is enabled."""
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid(field, "reference")
    return user_id


async def resolve_owner(req: Request, values: Mapping[str, Any]) -> int | None:
    """The owner in the body, or the caller without one. Raises 40001 unless that account is enabled."""
    owner_id: int | None = values.get("owner_id", req.actor.user_id)
    return owner_id if owner_id in (None, req.actor.user_id) else await check_enabled_user(req, "owner_id", owner_id)


async def resolve_child_owner(req: Request, values: Mapping[str, Any], customer: Mapping[str, Any]) -> int | None:
    """The owner in the body, or else the customer's, or else the caller. Raises 40001 as `resolve_owner`."""
    owner_id: int | None = customer["owner_id"]
    return owner_id if owner_id is not None and "owner_id" not in values else await resolve_owner(req, values)


async def propagate_owner(stores: Stores, customer: Mapping[str, Any], alike: Sequence[Any] = ()) -> None:
    """Give the records of a customer to its new owner, or to nobody. `stores` must not apply data scope.

    `alike` are the ids of further customers with the same owner and collaborators, whose records go with one command.
    """
    moving = CHILDREN if customer["owner_id"] is not None else LEFT_WITHOUT_OWNER
    await _set_people(stores, customer, moving, alike)


async def propagate_sharing(stores: Stores, customer: Mapping[str, Any]) -> None:
    """Share the records of a customer with its owner and collaborators, and nobody else but their own owners."""
    await _set_people(stores, customer, ())


async def _set_people(
    stores: Stores, customer: Mapping[str, Any], moving: Sequence[Collection], alike: Sequence[Any] = ()
) -> None:
    of_customer = {"customer_id": {"$in": [customer["id"], *alike]} if alike else customer["id"]}
    for collection in CHILDREN:
        store = stores(collection)
        if collection in moving:
            owner_id = customer["owner_id"]
            given = {"owner_id": owner_id, **build_child_sharing(customer, owner_id, 0)}
            await store.update_many(of_customer, {"$set": given})
            continue
        # these records keep their owners
        for owner_id in {row["owner_id"] for row in await store.find(of_customer, fields=["owner_id"])}:
            of_owner = {**of_customer, "owner_id": owner_id}
            await store.update_many(of_owner, {"$set": build_child_sharing(customer, owner_id, 0)})
