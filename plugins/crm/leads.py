"""Leads: people who may become customers, and their conversion."""

from __future__ import annotations

from dataclasses import dataclass

from plugins.api import CONFLICT, Action, ApiError, Record, Request, Route, Step, conflicts, crud, invalid, transitions
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.records import Announced, Dictionaries
from plugins.crm import customer_children, opportunities
from plugins.crm.bodies import CONVERT, CONVERTED
from plugins.crm.customers import build_customer, warn_of_duplicates
from plugins.crm.messages import NO_SUCH_STEP
from plugins.crm.ownership import (
    REFUSES_READERS,
    build_sharing,
    check_enabled_user,
    find_reference,
    get_editable,
    resolve_owner,
)
from plugins.crm.record_types import Contact, Customer, Lead, Opportunity
from plugins.crm.records import CONTACTS, CUSTOMERS, LEADS
from plugins.crm.states import LEAD_STATES

_TO_CUSTOMER = ("phone", "email", "source", "remark")


async def create(req: Request) -> Lead:
    """Create a lead, owned by the caller unless the body names an owner."""
    if req.body.get("status") == LEAD_STATES.after("convert"):
        raise invalid("status", "enum")
    owner_id = await resolve_owner(req, req.body)
    shared = build_sharing(owner_id, (), req.actor.user_id)
    return await req.system_store(LEADS).create({**req.body, "owner_id": owner_id, **shared})


async def update(req: Request) -> Lead:
    """Change a lead. Its status follows the state machine; only `convert` sets `converted`."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, LEADS, req.path["id"])
    status: str = values.get("status") or before["status"]
    if values.get("owner_id", before["owner_id"]) == before["owner_id"]:
        values.pop("owner_id", None)
    else:
        if values["owner_id"] is not None:
            await check_enabled_user(req, "owner_id", values["owner_id"])
        values |= build_sharing(values["owner_id"], (), before["creator_id"])
    if status == LEAD_STATES.after("convert") != before["status"]:
        raise invalid("status", "enum")
    allowed = status == before["status"] or LEAD_STATES.leads_to(before["status"], status)
    if not allowed:
        raise ApiError(CONFLICT, NO_SUCH_STEP)
    where = {"status": before["status"]}
    return await req.store(LEADS).update(before["id"], values, version=version, where=where, reason=NO_SUCH_STEP)


async def delete(req: Request) -> None:
    """Delete a lead."""
    lead = await get_editable(req, LEADS, req.path["id"])
    await req.store(LEADS).delete(lead["id"])


@dataclass(frozen=True)
class Converted(Announced):
    """What was made of a lead."""

    customer: Customer
    contact: Contact
    opportunity: Opportunity | None


async def _create_records(step: Step[Lead]) -> None:
    """Create a contact and an opportunity from a lead, for the customer in the body or a new one."""
    req, lead = step.req, step.record
    customer = await _get_or_create_customer(req, lead)
    # an existing customer may have a primary contact already
    primary = req.body.get("customer_id") is None
    contact = await customer_children.insert(
        req, CONTACTS, _build_contact(lead, primary), customer, customer["owner_id"]
    )
    opportunity = await _create_opportunity(req, lead, customer)
    made = {
        "customer_id": customer["id"],
        "contact_id": contact["id"],
        "opportunity_id": opportunity["id"] if opportunity else None,
    }
    converted = await step.store(LEADS).update_unversioned({"_id": lead["id"]}, {"$set": made})
    step.record = converted or lead
    step.keep(Converted(customer, contact, opportunity))


async def _get_or_create_customer(req: Request, lead: Lead) -> Customer:
    given = req.body.get("customer_id")
    if given is not None:
        return await find_reference(req, CUSTOMERS, "customer_id", given)
    values = {name: value for name in _TO_CUSTOMER if (value := lead.get(name)) is not None}
    if not await req.part(Dictionaries).has(CUSTOMERS.fields["source"], values.get("source")):
        values.pop("source", None)  # a source of leads that customers do not have
    name = req.body.get("customer_name") or lead["company"] or lead["name"]
    values |= {"name": name, "owner_id": lead["owner_id"] or req.actor.user_id}
    await warn_of_duplicates(req, values)
    return await req.system_store(CUSTOMERS).create(build_customer(req, values))


def _build_contact(lead: Lead, primary: bool) -> Record:
    return {"name": lead["name"], "phone": lead["phone"], "email": lead["email"], "is_primary": primary}


async def _create_opportunity(req: Request, lead: Lead, customer: Customer) -> Opportunity | None:
    given = req.body.get("opportunity", {})
    if given is None:
        return None
    values = {"name": customer["name"], "source": lead["source"], **{k: v for k, v in given.items() if v is not None}}
    return await opportunities.insert(req, values, customer, customer["owner_id"])


ROUTES: tuple[Route, ...] = (
    *crud(
        LEADS,
        at="/api/v1/crm/leads",
        resource="crm:lead",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"update": conflicts(NO_SUCH_STEP)},
    ),
    *transitions(
        LEADS,
        Action(
            "POST /api/v1/crm/leads/{id}/convert",
            access="crm:lead:convert",
            summary="Convert a lead into a customer, a contact and an opportunity",
            body=CONVERT,
            values=lambda step: {"converted_at": step.now},
            # the lead is written first, so that concurrent conversions conflict on it
            after=_create_records,
            respond=lambda step: {"lead": step.record, **vars(step.kept[Converted])},
            returns=CONVERTED,
        ),
        find=get_editable,
        errors=(DUPLICATE,),
        refusals=(REFUSES_READERS,),
    ),
)
