"""Follow-ups: what was done with a customer, and where; the mobile client's check-in."""

from __future__ import annotations

from typing import Any

from plugins.api import STALE, Request, Route, crud
from plugins.crm import below
from plugins.crm.customer_keys import point
from plugins.crm.ownership import REFUSES_READERS, editable, referred
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, OPPORTUNITIES

Record = dict[str, Any]


async def create(req: Request) -> Record:
    """A follow-up; the customer's last one is now, and its next one as it says."""
    customer = await referred(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    await _check_references(req, req.body, customer["id"])
    values = {**req.body, "point": point(req.body.get("position"))}
    # a note of the service: it does not raise the version, so nobody's open form goes stale by it
    seen = {"$max": {"last_follow_at": req.now}}
    if "next_follow_at" in req.body:
        seen["$set"] = {"next_follow_at": req.body["next_follow_at"]}

    async def work() -> Record:
        made = await below.insert(req, FOLLOW_UPS, values, customer, req.actor.user_id)
        await req.system_store(CUSTOMERS).change_quietly({"_id": customer["id"]}, seen)
        return made

    return await req.transaction(work)


async def update(req: Request) -> Record:
    """Correct a follow-up."""
    values, version = below.versioned(req)
    before = await editable(req, FOLLOW_UPS, req.path["id"])
    changed = {name: value for name, value in values.items() if value != before[name]}
    # with another customer, what was the old one's is none of it
    checked = {**before, **values} if "customer_id" in changed else changed
    await _check_references(req, checked, values.get("customer_id", before["customer_id"]))
    if "position" in values:
        values["point"] = point(values["position"])
    return await below.update(req, FOLLOW_UPS, before, values, version)


async def delete(req: Request) -> None:
    """Delete a follow-up."""
    follow_up = await editable(req, FOLLOW_UPS, req.path["id"])
    await req.store(FOLLOW_UPS).delete(follow_up["id"])


async def _check_references(req: Request, values: Record, customer_id: Any) -> None:
    for field, collection in (("opportunity_id", OPPORTUNITIES), ("contact_id", CONTACTS)):
        if values.get(field) is not None:
            await referred(req, collection, field, values[field], customer_id=customer_id)


ROUTES: tuple[Route, ...] = crud(
    FOLLOW_UPS,
    at="/api/v1/crm/follow-ups",
    resource="crm:follow-up",
    noun="follow-up",
    create=create,
    update=update,
    delete=delete,
    errors=(STALE,),
    refusals=(REFUSES_READERS,),
)
