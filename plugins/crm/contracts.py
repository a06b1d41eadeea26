"""Contracts: their numbers, and their states from draft to end.

Approval flows decide on them; without a flow, whoever holds `crm:contract:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from plugins.api import (
    Action,
    ApiError,
    Approval,
    Message,
    Record,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    exact as amount_of,
    invalid,
    store_money,
    text,
    transitions,
)
from plugins.api.business import Contracts, currency_amount, find_booked_on, replace_currency, value_for_limits
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.records import holds
from plugins.api.reports import Printable
from plugins.crm import amendments, customer_children, receivables
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.bodies import REJECT, TERMINATE
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS, VERSION_BODY
from plugins.crm.currencies import choose_contract_currency, find_worth
from plugins.crm.messages import CONTRACT_FIXED
from plugins.crm.options import CONTRACT_NUMBERS
from plugins.crm.ownership import (
    REFUSES_READERS,
    build_child_sharing,
    find_reference,
    get_editable,
    resolve_child_owner,
)
from plugins.crm.record_types import Contract
from plugins.crm.records import CUSTOMERS, OPPORTUNITIES
from plugins.crm.states import CONTRACT_STATES

_EDITABLE = CONTRACT_STATES.allows("submit")
_TRIES = 20


async def create(req: Request) -> Contract:
    """Create a draft. Its number is the one in the body, or else the next one."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    await _check(req, req.body, {"customer_id": customer["id"]})
    owner_id = await resolve_child_owner(req, req.body, customer)
    nothing = store_money(amount_of(None))
    values = {**req.body, "received_amount": nothing, "planned_amount": nothing}
    values |= await choose_contract_currency(req, req.body)

    async def work() -> Contract:
        number = values.get("number") or await _next_number(req)
        return await customer_children.insert(req, CONTRACTS, {**values, "number": number}, customer, owner_id)

    return await req.transaction(work)


@dataclass(frozen=True)
class DraftedContracts(Contracts):
    """The contracts that crm keeps."""

    service: Service

    async def draft(self, req: Request, values: Record) -> Any:
        """Create a draft in the data scope of the caller, and return its id."""
        return (await create(replace(req, body=values)))["id"]

    async def find_currency(self, contract_id: Any) -> str | None:
        """Return the currency of a contract, or None for the company's own."""
        contract = await self.service.database.store(CONTRACTS).find_one({"_id": contract_id})
        return contract["currency"] if contract is not None else None


async def _next_number(req: Request) -> str:
    """Return the next number, skipping those that were entered by hand. Raises 40900 if too many in a row are taken."""
    contracts = req.system_store(CONTRACTS)
    for _ in range(_TRIES):
        number = await CONTRACT_NUMBERS.take(req)
        if not await contracts.count({"number": number}):
            return number
    raise ApiError(DUPLICATE, data={"field": "number"})


async def update(req: Request) -> Contract:
    """Change a draft or a rejected contract."""
    values, version = customer_children.split_version(req)
    values = replace_currency(values)
    before = await get_editable(req, CONTRACTS, req.path["id"])
    values |= await choose_contract_currency(req, values, before)
    await _check(
        req, {name: value for name, value in values.items() if value != before.get(name)}, {**before, **values}
    )
    where = dict(_EDITABLE)
    if "amount" in values and amount_of(values["amount"]) < amount_of(before["planned_amount"]):
        raise invalid("amount", "minimum")
    if "amount" in values:
        where["$expr"] = {"$gte": [values["amount"], "$planned_amount"]}
    if values["currency"] != before["currency"]:
        where["planned_amount"] = before["planned_amount"]

    async def work() -> Contract:
        changed = await customer_children.update(
            req, CONTRACTS, before, values, version, where=where, reason=CONTRACT_FIXED
        )
        if any(changed[name] != before[name] for name in ("customer_id", "owner_id")):
            await move_below(req, changed)
        return changed

    return await req.transaction(work)


async def move_below(req: Request, contract: Contract) -> None:
    """Give the amendments, plans and payments of a contract the customer and the owner of the contract."""
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    owner_id = contract["owner_id"]
    theirs = {"customer_id": customer["id"], "owner_id": owner_id, **build_child_sharing(customer, owner_id, 0)}
    for collection in (AMENDMENTS, PLANS, PAYMENTS):
        await req.system_store(collection).update_many({"contract_id": contract["id"]}, {"$set": theirs})


async def delete(req: Request) -> None:
    """Delete a draft or a rejected contract with its payment plans. Its number is not reused."""
    contract = await get_editable(req, CONTRACTS, req.path["id"])
    await req.store(CONTRACTS).delete(contract["id"], where=_EDITABLE, reason=CONTRACT_FIXED)


async def _check(req: Request, given: Mapping[str, Any], whole: Mapping[str, Any]) -> None:
    whole = {**whole, **given}
    if ("customer_id" in given or "opportunity_id" in given) and whole.get("opportunity_id") is not None:
        same = {"customer_id": whole["customer_id"]}
        await find_reference(req, OPPORTUNITIES, "opportunity_id", whole["opportunity_id"], **same)
    start, end = whole.get("start_date"), whole.get("end_date")
    if start and end and end < start:
        raise invalid("end_date", "minimum")


# -- transitions


def _submission(step: Step[Contract]) -> Record:
    return {"submitted_at": step.now, "submitted_by": step.by, "decided_at": None, "reason": None}


async def _approval(step: Step[Contract]) -> Record:
    """Figures count the contract by its day. An approved contract needs a signing date for it."""
    signed = step.record["signed_date"] or step.today
    days = {"signed_date": signed, "booked_on": await find_booked_on(step.service, signed)}
    return {"decided_at": step.now, "salesperson_id": step.record["owner_id"], **days}


async def _end(step: Step[Contract]) -> Record:
    """If the month by which figures count the contract is closed, it stays there."""
    booked = step.record["booked_on"] or step.record["signed_date"] or step.today
    is_closed = await find_booked_on(step.service, booked) != booked
    days = {"booked_on": booked, "taken_off_on": step.today if is_closed else None}
    return {"ended_at": step.now, "reason": step.reason, **days}


async def _publish(step: Step[Contract]) -> None:
    await receivables.publish(step.service, step.request, step.record["id"])


async def _describe(step: Step[Contract]) -> Record:
    """Return the name of the customer, because approvers may not be allowed to see the customer itself.

    The amount, which conditions compare, is in the company's currency; `currency_amount` is that of a contract in another one.
    """
    contract = step.record
    customer = (await step.store(CUSTOMERS).get(contract["customer_id"]))["name"]
    worth = find_worth(contract["amount"], await value_for_limits(step.service, contract, step.today))
    if worth is None:
        return {"customer": customer}
    own = f"{amount_of(contract['amount']):.2f}"
    return {"customer": customer, "amount": f"{amount_of(worth):.2f}", "currency_amount": own}


ROUTES: tuple[Route, ...] = (
    *crud(
        CONTRACTS,
        at="/api/v1/crm/contracts",
        resource="crm:contract",
        always=("reference", "remark"),
        find=get_editable,
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"update": conflicts(CONTRACT_FIXED), "delete": conflicts(CONTRACT_FIXED)},
    ),
    *transitions(
        CONTRACTS,
        Action(
            "POST /api/v1/crm/contracts/{id}/submit",
            access="crm:contract:submit",
            summary="Submit a contract for approval",
            body=VERSION_BODY,
            values=_submission,
            waits=True,
        ),
        Action(
            "POST /api/v1/crm/contracts/{id}/withdraw",
            access="crm:contract:withdraw",
            summary="Withdraw a contract from approval",
            body=VERSION_BODY,
            values=lambda step: {"submitted_at": None, "submitted_by": None, "reason": step.reason},
        ),
        Action(
            "POST /api/v1/crm/contracts/{id}/approve",
            access="crm:contract:approve",
            body=VERSION_BODY,
            values=_approval,
            waits=True,
        ),
        Action(
            "POST /api/v1/crm/contracts/{id}/reject",
            access="crm:contract:reject",
            body=REJECT,
            values=lambda step: {"decided_at": step.now, "reason": step.reason},
        ),
        Action(
            "POST /api/v1/crm/contracts/{id}/complete",
            access="crm:contract:complete",
            summary="Complete a contract",
            body=VERSION_BODY,
            values=lambda step: {"ended_at": step.now},
            after=amendments.end,
            waits=True,
        ),
        Action(
            "POST /api/v1/crm/contracts/{id}/terminate",
            access="crm:contract:terminate",
            summary="Terminate a contract early",
            body=TERMINATE,
            values=_end,
            after=amendments.end,
        ),
        find=get_editable,
        after=_publish,
        approval=Approval(record=_describe, fields={"customer": text(), "currency_amount": currency_amount()}),
        errors=(DUPLICATE,),
        refusals=(REFUSES_READERS,),
    ),
    *holds(
        CONTRACTS,
        hold="POST /api/v1/crm/contracts/{id}/hold",
        release="POST /api/v1/crm/contracts/{id}/release",
        access="crm:contract:hold",
        find=get_editable,
        refusals=(REFUSES_READERS,),
    ),
)

PRINTS = (
    Printable(
        "contract",
        Message("合同", "Contract"),
        "/api/v1/crm/contracts/{id}",
        "crm:contract:read",
        CONTRACTS,
        number="number",
        total="amount",
        party=("customer_id", "name"),
        facts=("signed_date", "currency", "start_date", "end_date", "reference", "salesperson_id"),
        totals=("amount",),
        notes=("remark",),
        signed_by=(Message("甲方", "Customer"), Message("乙方", "Supplier")),
    ),
)
