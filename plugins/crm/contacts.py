"""Contacts: the people at a customer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugins.api import Request, Route, crud
from plugins.api.business import Contact as ContactToCall
from plugins.api.errors import STALE
from plugins.api.values import RecordId
from plugins.crm import customer_children
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.record_types import Contact, Customer
from plugins.crm.records import CONTACTS, CUSTOMERS


async def create(req: Request) -> Contact:
    """Create a contact. A primary contact replaces the customer's previous one."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])

    async def work() -> Contact:
        contact = await customer_children.insert(req, CONTACTS, req.body, customer, customer["owner_id"])
        await _unset_other_primaries(req, contact)
        return contact

    return await req.transaction(work)


async def update(req: Request) -> Contact:
    """Change a contact. A primary contact replaces the customer's previous one."""
    values, version = customer_children.split_version(req)

    async def work() -> Contact:
        before = await get_editable(req, CONTACTS, req.path["id"])
        contact = await customer_children.update(req, CONTACTS, before, values, version)
        await _unset_other_primaries(req, contact)
        return contact

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a contact."""
    contact = await get_editable(req, CONTACTS, req.path["id"])
    await req.store(CONTACTS).delete(contact["id"])


async def find_contacts(req: Request, customer_ids: Sequence[Any]) -> dict[RecordId, ContactToCall]:
    """Return whom to call at each of the customers that the caller may see, by the id of the customer.

    That is the primary contact, if any. A contact without a phone number is called on the mobile phone; a number or an
    e-mail address that is still missing is taken from the customer.
    """
    called = ("name", "phone", "email")
    customers = await req.store(CUSTOMERS).find({"_id": {"$in": customer_ids}}, fields=called)
    primary = {"customer_id": {"$in": [one["id"] for one in customers]}, "is_primary": True}
    contacts = await req.store(CONTACTS).find(primary, fields=("customer_id", "mobile", *called))
    people = {one["customer_id"]: one for one in contacts}
    return {customer["id"]: _choose_contact(customer, people.get(customer["id"])) for customer in customers}


def _choose_contact(customer: Customer, person: Contact | None) -> ContactToCall:
    if person is None:
        return ContactToCall(None, customer["phone"], customer["email"])
    phone = person["phone"] or person["mobile"] or customer["phone"]
    return ContactToCall(person["name"], phone, person["email"] or customer["email"])


async def _unset_other_primaries(req: Request, contact: Contact) -> None:
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
