"""Ownership of customers and their records.

Data scope goes by the creator of a record and by the department of its owner. In addition, the people in `shared_with`
can see it: the owner and collaborators of its customer, and its own owner. The people in `editors` may also change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugins.api import FORBIDDEN, ApiError, Collection, Record, Refusal, Request, Store, invalid
from plugins.api.values import RecordId, Typed
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.messages import READ_ONLY
from plugins.crm.record_types import Customer
from plugins.crm.records import CONTACTS, EDITORS, FOLLOW_UPS, OPPORTUNITIES
from plugins.rbac.api import Directory, Policy

Stores = Callable[[Collection], Store[Any]]
CHILDREN = (CONTACTS, OPPORTUNITIES, FOLLOW_UPS, CONTRACTS, AMENDMENTS, PLANS, PAYMENTS)
# these have no owner while their customer is in the pool; contracts, plans and payments keep theirs
LEFT_WITHOUT_OWNER = (CONTACTS, OPPORTUNITIES, FOLLOW_UPS)
# for routes that write: people who may only read a record cannot change it
REFUSES_READERS = Refusal(FORBIDDEN, READ_ONLY, exempt_super=True)


def build_sharing(owner_id: int | None, collaborators: Sequence[Mapping[str, Any]], creator_id: int) -> Record:
    """Return `shared_with` and `editors` of a customer. The creator is not in `shared_with`, as they see it anyway."""
    editors = {one["user_id"] for one in collaborators if one["access"] == "write"}
    editors |= {owner_id} if owner_id is not None else set()
    people = editors | {one["user_id"] for one in collaborators}
    return {"shared_with": sorted(people - {creator_id}), EDITORS: sorted(editors)}


def build_child_sharing(customer: Customer, owner_id: int | None, creator_id: int) -> Record:
    """Return `shared_with` and `editors` of a record of `customer` with this owner."""
    given = build_sharing(customer["owner_id"], customer["collaborators"], 0)
    own = {owner_id} if owner_id is not None else set()
    return {
        "shared_with": sorted({*given["shared_with"], *own} - {creator_id}),
        EDITORS: sorted({*given[EDITORS], *own}),
    }


def may_edit(req: Request, record: Mapping[str, Any]) -> bool:
    """Return whether the caller may change a visible record: by data scope, as its owner, or as an editor."""
    scope, me = req.scope, req.actor.user_id
    return scope.admits(record, owned=True) or record["owner_id"] == me or me in (record.get(EDITORS) or ())


async def get_editable(req: Request, collection: Collection[Typed], id: RecordId) -> Typed:
    """Return a record that the caller may change. Raises 40400 if it is not visible, 40300 if it may only be read."""
    record = await req.store(collection).get(id)
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


async def find_reference(
    req: Request, collection: Collection[Typed], field: str, id: RecordId, **same: object
) -> Typed:
    """Return the record with this id, which `field` of a body refers to and which the caller may change.

    `same` are values that the record must have, such as its customer. Raises 40001 if the caller sees no such record,
    40300 if they may only read it.
    """
    record = await req.store(collection).find_one({"_id": id, **same})
    if record is None:
        raise invalid(field, "reference")
    if not may_edit(req, record):
        raise ApiError(FORBIDDEN, READ_ONLY)
    return record


def permission_to_own(owner_id: int | None) -> str:
    """Return the permission code for giving a customer to this owner, or with None for leaving it without one."""
    return "crm:customer:transfer" if owner_id is not None else "crm:customer:release"


async def may_change_owner(req: Request, owner_id: int | None) -> bool:
    """Return whether the caller may transfer a customer to this owner, or release it if `owner_id` is None."""
    return await req.part(Policy).holds(req.actor, permission_to_own(owner_id))


async def check_enabled_user(req: Request, field: str, user_id: int) -> int:
    """Return `user_id`. Raises 40001 for `field` unless that account exists and is enabled."""
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid(field, "reference")
    return user_id


async def resolve_owner(req: Request, values: Mapping[str, Any]) -> int | None:
    """Return the owner in the body, or else the caller. Raises 40001 unless the owner's account is enabled."""
    owner_id: int | None = values.get("owner_id", req.actor.user_id)
    return owner_id if owner_id in (None, req.actor.user_id) else await check_enabled_user(req, "owner_id", owner_id)


async def resolve_child_owner(req: Request, values: Mapping[str, Any], customer: Customer) -> int | None:
    """Return the owner in the body, else the customer's, else the caller. Raises 40001 as `resolve_owner` does."""
    owner_id: int | None = customer["owner_id"]
    return owner_id if owner_id is not None and "owner_id" not in values else await resolve_owner(req, values)


async def propagate_owner(stores: Stores, customer: Customer, alike: Sequence[Any] = ()) -> None:
    """Give the records of a customer to its new owner, or to nobody. `stores` must not apply data scope.

    `alike` are the ids of further customers with the same owner and collaborators, whose records move too.
    """
    moving = CHILDREN if customer["owner_id"] is not None else LEFT_WITHOUT_OWNER
    await _set_people(stores, customer, moving, alike)


async def propagate_sharing(stores: Stores, customer: Customer) -> None:
    """Share the records of a customer with its owner, its collaborators and their own owners, and with nobody else."""
    await _set_people(stores, customer, ())


async def _set_people(
    stores: Stores, customer: Customer, moving: Sequence[Collection], alike: Sequence[Any] = ()
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
