"""Follow-ups: visits, calls and check-ins with a customer."""

from __future__ import annotations

from typing import Any

from plugins.api import Record, Request, Route, crud
from plugins.api.errors import STALE
from plugins.crm import customer_children
from plugins.crm.duplicates import to_point
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.record_types import FollowUp
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, OPPORTUNITIES


async def create(req: Request) -> FollowUp:
    """Create a follow-up, and set `last_follow_at` of the customer and, if the body has it, `next_follow_at`."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    await _check_references(req, req.body, customer["id"])
    values = {**req.body, "point": to_point(req.body.get("position"))}
    # the customer gets no new version, so that open forms with its data stay valid
    seen = {"$max": {"last_follow_at": req.now}}
    if "next_follow_at" in req.body:
        seen["$set"] = {"next_follow_at": req.body["next_follow_at"]}

    async def work() -> FollowUp:
        made = await customer_children.insert(req, FOLLOW_UPS, values, customer, customer["owner_id"])
        await req.system_store(CUSTOMERS).update_unversioned({"_id": customer["id"]}, seen)
        return made

    return await req.transaction(work)


async def update(req: Request) -> FollowUp:
    """Change a follow-up."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, FOLLOW_UPS, req.path["id"])
    changed = {name: value for name, value in values.items() if value != before.get(name)}
    # if the customer changes, the references must belong to the new one
    checked = {**before, **values} if "customer_id" in changed else changed
    await _check_references(req, checked, values.get("customer_id", before["customer_id"]))
    if "position" in values:
        values["point"] = to_point(values["position"])
    return await customer_children.update(req, FOLLOW_UPS, before, values, version)


async def delete(req: Request) -> None:
    """Delete a follow-up."""
    follow_up = await get_editable(req, FOLLOW_UPS, req.path["id"])
    await req.store(FOLLOW_UPS).delete(follow_up["id"])


async def _check_references(req: Request, values: Record, customer_id: Any) -> None:
    for field, collection in (("opportunity_id", OPPORTUNITIES), ("contact_id", CONTACTS)):
        if values.get(field) is not None:
            await find_reference(req, collection, field, values[field], customer_id=customer_id)


ROUTES: tuple[Route, ...] = crud(
    FOLLOW_UPS,
    at="/api/v1/crm/follow-ups",
    resource="crm:follow-up",
    create=create,
    update=update,
    delete=delete,
    errors=(STALE,),
    refusals=(REFUSES_READERS,),
)
