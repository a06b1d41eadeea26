"""Contacts: the people at a customer."""

from __future__ import annotations

from typing import Any

from plugins.api import STALE, Request, Route, crud
from plugins.crm import customer_children
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.records import CONTACTS, CUSTOMERS

Record = dict[str, Any]


async def create(req: Request) -> Record:
    """Create a contact. A primary contact replaces the previous one."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])

    async def work() -> Record:
        contact = await customer_children.insert(req, CONTACTS, req.body, customer, customer["owner_id"])
        await _unset_other_primaries(req, contact)
        return contact

    return await req.transaction(work)


async def update(req: Request) -> Record:
    """Change a contact. A primary contact replaces the previous one."""
    values, version = customer_children.split_version(req)

    async def work() -> Record:
        before = await get_editable(req, CONTACTS, req.path["id"])
        contact = await customer_children.update(req, CONTACTS, before, values, version)
        await _unset_other_primaries(req, contact)
        return contact

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a contact."""
    contact = await get_editable(req, CONTACTS, req.path["id"])
    await req.store(CONTACTS).delete(contact["id"])


async def _unset_other_primaries(req: Request, contact: Record) -> None:
    if contact["is_primary"]:
        others = {"customer_id": contact["customer_id"], "is_primary": True, "_id": {"$ne": contact["id"]}}
        await req.system_store(CONTACTS).update_many(others, {"$set": {"is_primary": False}})


ROUTES: tuple[Route, ...] = crud(
    CONTACTS,
    at="/api/v1/crm/contacts",
    resource="crm:contact",
    create=create,
    update=update,
    delete=delete,
    errors=(STALE,),
    refusals=(REFUSES_READERS,),
)
