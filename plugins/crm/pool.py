"""The public pool: customers without an owner. People release and claim them; neglected ones return to the pool."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    ApiError,
    Collection,
    Event,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    Store,
    conflicts,
    route,
    utc_now,
)
from plugins.api.errors import DUPLICATE, STALE
from plugins.crm.customers import build_owner_change
from plugins.crm.messages import CLAIM_LIMIT, IN_POOL, NOT_FOR_YOU, NOT_IN_POOL
from plugins.crm.options import CLAIM_LIMIT_KEY, RETURN_DAYS_KEY
from plugins.crm.ownership import REFUSES_READERS, Stores, build_sharing, get_editable, propagate_owner
from plugins.crm.record_types import Customer
from plugins.crm.records import CUSTOMERS
from plugins.rbac.api import USERS
from plugins.system.api import Configs

RELEASED_EVENT = Event("crm.customer.released", customer=dict, owner_id=int)
_RACE = timedelta(minutes=1)
_BATCH = 500
log = logging.getLogger("tradewind.crm")


async def list_pool(req: Request) -> Page:
    """Return a page of the customers in the pool, for everybody who may claim them."""
    return await req.system_store(CUSTOMERS).page(req.query, {"owner_id": None})


async def release(req: Request) -> Customer:
    """Put a customer into the public pool. Its collaborators no longer see it."""

    async def work() -> Customer:
        before = await get_editable(req, CUSTOMERS, req.path["id"])
        released = await req.store(CUSTOMERS).update(
            before["id"], build_owner_change(req, before, None), where={"owner_id": {"$ne": None}}, reason=IN_POOL
        )
        await propagate_owner(req.system_store, released)
        return released

    return await req.transaction(work)


async def claim(req: Request) -> Customer:
    """Take a customer out of the pool. Of several concurrent claims one succeeds, and the others get 40901."""
    me = req.actor.user_id
    pool = req.system_store(CUSTOMERS)
    key = CUSTOMERS.parse_id(req.path["id"])
    limit = await req.part(Configs).value(CLAIM_LIMIT_KEY)

    async def work() -> Customer | None:
        # concurrent claims of a person wait for each other, so that the limit holds
        await req.service.database.lock(USERS, me)
        customer = await pool.find_one({"_id": key, "owner_id": None})
        if customer is None:
            return None
        if limit and await pool.count({"owner_id": me, "pool_left_at": {"$ne": None}}) >= limit:
            raise ApiError(CONFLICT, CLAIM_LIMIT.filled(limit=limit))
        mine = {"owner_id": me, "owned_since": req.now, "pool_left_at": req.now}
        mine |= build_sharing(me, customer["collaborators"], customer["creator_id"])
        claimed = await pool.update_where({"_id": key, "owner_id": None}, mine)
        if claimed is not None:
            await propagate_owner(req.system_store, claimed)
        return claimed

    claimed = await req.transaction(work)
    if claimed is not None:
        return claimed
    # whoever loses a race saw the customer in the pool; to anybody else it stays invisible
    if await pool.find_one({"_id": key, "pool_left_at": {"$gt": req.now - _RACE}}) is None:
        await req.store(CUSTOMERS).get(key)  # 40400
    raise ApiError(CONFLICT, NOT_IN_POOL)


async def return_neglected(service: Service) -> None:
    """Return to the pool all customers that were not followed up for the number of days that the option says.

    Each return is one conditional update, so a concurrent follow-up wins.
    """
    days = await service.part(Configs).value(RETURN_DAYS_KEY)
    if not days:
        return
    now = utc_now()

    def stores(collection: Collection) -> Store[Any]:
        return service.database.store(collection, now=now)

    customers = service.database.store(CUSTOMERS)
    while rows := await customers.find(_neglected_filter(now - timedelta(days=days)), limit=_BATCH):
        for row in rows:
            await _return_to_pool(service, stores, row, now - timedelta(days=days))


def _neglected_filter(since: datetime) -> Record:
    return {
        "owner_id": {"$ne": None},
        "owned_since": {"$lt": since},
        "$or": [{"last_follow_at": None}, {"last_follow_at": {"$lt": since}}],
    }


async def _return_to_pool(service: Service, stores: Stores, customer: Customer, since: datetime) -> None:
    free = {
        "owner_id": None,
        "owned_since": None,
        "pool_left_at": None,
        "collaborators": [],
        **build_sharing(None, (), 0),
    }

    async def work() -> Customer | None:
        released: Customer | None = await stores(CUSTOMERS).update_where(
            {"_id": customer["id"], **_neglected_filter(since)}, free
        )
        if released is not None:
            await propagate_owner(stores, released)
        return released

    released = await service.database.transaction(work)
    if released is None:
        return
    log.info("customer returned to the pool", extra={"customer_id": str(customer["id"])})
    await service.events.emit(RELEASED_EVENT, {"customer": released, "owner_id": customer["owner_id"]})


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/crm/customers/pool",
        list_pool,
        summary="List the customers in the public pool",
        title=("公海客户", "Public pool"),
        access="crm:customer:claim",
        paged=True,
        query=CUSTOMERS.list_query,
        returns=CUSTOMERS.read,
    ),
    route(
        "POST /api/v1/crm/customers/{id}/claim",
        claim,
        summary="Claim a customer from the pool",
        effect=("您将成为该客户的负责人。", "You become the owner of the customer."),
        access="crm:customer:claim",
        returns=CUSTOMERS.read,
        errors=(DUPLICATE, STALE),
        refusals=(Refusal(NOT_FOUND, hint=NOT_FOR_YOU), *conflicts(NOT_IN_POOL, CLAIM_LIMIT)),
        fits={"owner_id": False},
    ),
    route(
        "POST /api/v1/crm/customers/{id}/release",
        release,
        summary="Release a customer to the pool",
        effect=(
            "客户将回到公海，协作人不再看到该客户。",
            "The customer goes back to the pool, and its collaborators no longer see it.",
        ),
        access="crm:customer:release",
        record=CUSTOMERS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(IN_POOL)),
        fits={"owner_id": True},
    ),
)
