"""Amendments and renewals of contracts: own requests with approval, which put new terms in force on a day.

A contract shows the terms of today. Each amendment keeps those before it, so that the terms of any day can be read, and
counts in figures by itself, on its own day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    NOTIFY,
    Action,
    ApiError,
    Approval,
    Record,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    day,
    day_of,
    exact,
    invalid,
    money,
    route,
    store_money,
    text,
    transitions,
    utc_now,
)
from plugins.api.business import Books, currency_amount, date_versions, find_booked_on, in_base, value_for_limits
from plugins.api.errors import STALE
from plugins.api.records import change_state
from plugins.api.values import ReadOnlyRecord
from plugins.crm import customer_children, receivables
from plugins.crm.amendment_records import AMENDMENTS, EFFECT, REHEARSAL_BODY, RENEWAL, TERMS, VERSIONS
from plugins.crm.bodies import REJECT, TERMINATE
from plugins.crm.contract_records import CONTRACTS, PLANS, VERSION_BODY
from plugins.crm.currencies import limit_worth
from plugins.crm.messages import (
    AMENDMENT_BLOCKED,
    AMENDMENT_FIXED,
    BELOW_PLANNED,
    BELOW_RECEIVED,
    NOT_AMENDABLE,
    TOO_EARLY,
)
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.record_types import Contract, ContractAmendment
from plugins.crm.records import CUSTOMERS
from plugins.crm.states import AMENDMENT_STATES

BIZ_TYPE = "CONTRACT_AMENDMENT"
REFUSALS = conflicts(NOT_AMENDABLE, TOO_EARLY, BELOW_PLANNED, BELOW_RECEIVED)
_EDITABLE = AMENDMENT_STATES.allows("submit")
_AGREED = {"status": {"$in": ["approved", "in_force"]}}
_MADE = {"status": {"$in": ["approved", "in_force", "ended"]}}


async def create(req: Request) -> ContractAmendment:
    """Create a draft for a contract in force, which the caller may change."""
    contract = await find_reference(req, CONTRACTS, "contract_id", req.body["contract_id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    values = await _complete(req, contract, req.body)

    async def work() -> ContractAmendment:
        counted = {"$inc": {"amendments": 1}}
        numbered = await req.system_store(CONTRACTS).update_unversioned({"_id": contract["id"]}, counted)
        sequence = numbered.get("amendments") if numbered is not None else None
        named = {**values, "number": f"{contract['number'] or ''}-{sequence}", "currency": contract["currency"]}
        return await customer_children.insert(req, AMENDMENTS, named, customer, contract["owner_id"])

    return await req.transaction(work)


async def update(req: Request) -> ContractAmendment:
    """Change a draft or a rejected amendment; its contract cannot change."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, AMENDMENTS, req.path["id"])
    if values.pop("contract_id", before["contract_id"]) != before["contract_id"]:
        raise invalid("contract_id", "invalid")
    contract = await req.system_store(CONTRACTS).get(before["contract_id"])
    await _complete(req, contract, {**before, **values})
    return await req.store(AMENDMENTS).update(
        before["id"], values, version=version, where=_EDITABLE, reason=AMENDMENT_FIXED
    )


async def delete(req: Request) -> None:
    """Delete a draft or a rejected amendment."""
    amendment = await get_editable(req, AMENDMENTS, req.path["id"])
    await req.store(AMENDMENTS).delete(amendment["id"], where=_EDITABLE, reason=AMENDMENT_FIXED)


async def _complete(req: Request, contract: Contract, body: ReadOnlyRecord) -> Record:
    """Return the values of an amendment with its day and kind. Raises 40001 for terms that contradict themselves."""
    today = day_of(req.now, req.service.settings.zone).isoformat()
    renews = body.get("kind") == RENEWAL
    ended = contract["end_date"]
    after = _apply(contract, body)
    limit_worth(after["amount"], contract, "amount")
    if renews and body.get("end_date") is None:
        raise invalid("end_date", "required")
    if renews and ended is not None and after["end_date"] <= ended:
        raise invalid("end_date", "minimum")
    if after["start_date"] and after["end_date"] and after["end_date"] < after["start_date"]:
        raise invalid("end_date", "minimum")
    if after == _terms_of(contract) and not body.get("description"):
        raise invalid("description", "required")
    on = body.get("effective_on") or (max(_next_day(ended), today) if renews and ended else today)
    await _check(req.service, contract, {**body, "effective_on": on})
    return {**body, "effective_on": on}


def _terms_of(record: ReadOnlyRecord) -> Record:
    return {name: record.get(name) for name in TERMS}


def _apply(contract: Contract, amendment: ReadOnlyRecord) -> Record:
    """Return the terms of a contract as an amendment makes them."""
    given = {name: value for name, value in _terms_of(amendment).items() if value is not None}
    return _terms_of(contract) | given


def _next_day(of: str) -> str:
    return (date.fromisoformat(of) + timedelta(days=1)).isoformat()


async def _check(service: Service, contract: Contract, amendment: ReadOnlyRecord) -> None:
    """Raise 40901 unless the contract is in force and no earlier amendment takes effect later than this one."""
    if contract["status"] != "in_force":
        raise ApiError(CONFLICT, NOT_AMENDABLE)
    others = {"contract_id": contract["id"], "_id": {"$ne": amendment.get("id")}, **_AGREED}
    last = await service.database.store(AMENDMENTS).find(others, sort="-effective_on", limit=1)
    first = max((one for one in (contract["signed_date"], *(one["effective_on"] for one in last)) if one), default="")
    on = amendment["effective_on"]
    if on is not None and on < first:
        raise ApiError(CONFLICT, TOO_EARLY.filled(day=first), data={"field": "effective_on", "day": first})


def _check_amount(contract: Contract, amount: Any) -> None:
    """Raise 40901 if the amount becomes less than what is planned of the contract, or was received on it."""
    received, planned = exact(contract["received_amount"]), exact(contract["planned_amount"])
    for most, message in ((received, BELOW_RECEIVED), (planned, BELOW_PLANNED)):
        if exact(amount) < min(most, exact(contract["amount"])):
            least = f"{most:.2f}"
            raise ApiError(CONFLICT, message.filled(least=least), data={"field": "amount", "least": least})


# -- what an amendment would change


async def rehearse(req: Request) -> Record:
    """Return what an amendment with this body would change; nothing is written."""
    contract = await get_editable(req, CONTRACTS, req.path["id"])
    return await _describe_effect(req, contract, await _complete(req, contract, req.body))


async def read_effect(req: Request) -> Record:
    """Return what an amendment that has not taken effect would change."""
    amendment = await req.store(AMENDMENTS).get(req.path["id"])
    contract = await req.system_store(CONTRACTS).get(amendment["contract_id"])
    await _check(req.service, contract, amendment)
    return await _describe_effect(req, contract, amendment)


async def _describe_effect(req: Request, contract: Contract, amendment: ReadOnlyRecord) -> Record:
    before, after = _terms_of(contract), _apply(contract, amendment)
    _check_amount(contract, after["amount"])
    plans = await req.system_store(PLANS).find({"contract_id": contract["id"], "settled": False})
    received, planned = exact(contract["received_amount"]), exact(contract["planned_amount"])
    change = exact(after["amount"]) - exact(before["amount"])
    sums = {"change": change, "received_amount": received, "planned_amount": planned}
    for place, terms in (("before", before), ("after", after)):
        sums |= {
            f"open_{place}": exact(terms["amount"]) - received,
            f"unplanned_{place}": exact(terms["amount"]) - planned,
        }
    came, comes = (_forecast(plans, terms, received) for terms in (before, after))
    months = sorted({*came, *comes}, key=lambda month: month or "~")
    return {
        "effective_on": amendment["effective_on"],
        "currency": contract["currency"],
        "before": before,
        "after": after,
        **{name: store_money(value) for name, value in sums.items()},
        "credit": await _describe_credit(req, contract, _count_change(contract, before, after)),
        "forecast": [
            {"month": month, "before": store_money(came[month]), "after": store_money(comes[month])} for month in months
        ],
    }


def _count_change(contract: Contract, before: Record, after: Record) -> Decimal:
    """Return by how much more a contract comes to in the company's currency: such changes add up to its worth."""
    return in_base(exact(after["amount"]), contract) - in_base(exact(before["amount"]), contract)


def _forecast(plans: Sequence[Any], terms: Record, received: Decimal) -> defaultdict[str | None, Decimal]:
    """Return what is still to come in each month; None is the month of what nobody knows."""
    expected: defaultdict[str | None, Decimal] = defaultdict(Decimal)
    for plan in plans:
        expected[plan["due_date"][:7]] += exact(plan["amount"]) - exact(plan["paid_amount"])
    rest = exact(terms["amount"]) - received - sum(expected.values(), Decimal(0))
    if rest > 0:
        expected[terms["end_date"] and terms["end_date"][:7]] += rest
    return expected


async def _describe_credit(req: Request, contract: Contract, change: Decimal) -> Record | None:
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    if customer["credit_limit"] is None:
        return None
    limit, used = exact(customer["credit_limit"]), await req.service.part(Books).find_owed(customer["id"])
    after = used + change
    sums = {"limit": limit, "used_before": used, "used_after": after, "excess": max(after - limit, Decimal(0))}
    return {name: store_money(value) for name, value in sums.items()}


# -- versions


async def list_versions(req: Request) -> Record:
    """Return the versions of a contract with the days on which they are in force, or the one of a `day`."""
    contract = await req.store(CONTRACTS).get(req.path["id"])
    if contract["signed_date"] is None or contract["status"] not in receivables.OWED:
        return {"items": []}
    made = sorted(await req.system_store(AMENDMENTS).find({"contract_id": contract["id"], **_MADE}), key=_in_order)
    terms = _terms_of(contract)
    first = next((one["before"] for one in made if one["before"] is not None), None)
    items: list[Record] = [{"from": contract["signed_date"], "amendment_id": None, **(first or terms)}]
    for one in made:
        given = {name: value for name, value in _terms_of(one).items() if value is not None}
        items.append({**items[-1], **given, "from": one["effective_on"], "amendment_id": one["id"]})
    numbered = [{**one, "version": number} for number, one in enumerate(items, 1)]
    return {"items": date_versions(numbered, req.query.get("day"))}


def _in_order(amendment: ContractAmendment) -> tuple[str, str]:
    """Return the key by which amendments take effect: by day, and on one day as they were approved."""
    return amendment["effective_on"] or "", str(amendment["decided_at"])


# -- transitions


async def _may_take_effect(step: Step[ContractAmendment]) -> None:
    contract = await step.store(CONTRACTS).get(step.record["contract_id"])
    await _check(step.service, contract, step.record)
    _check_amount(contract, _apply(contract, step.record)["amount"])


async def _after_approval(step: Step[ContractAmendment]) -> None:
    if (step.record["effective_on"] or "") <= step.today:
        step.record = await _take_effect(step)


async def _take_effect(step: Step[ContractAmendment]) -> ContractAmendment:
    """Put the terms of an amendment in force. Raises 40901 if the contract does not allow it any more."""
    amendment, contracts = step.record, step.store(CONTRACTS)
    contract = await contracts.get(amendment["contract_id"])
    if contract["status"] != "in_force":
        raise ApiError(CONFLICT, NOT_AMENDABLE)
    before, after = _terms_of(contract), _apply(contract, amendment)
    _check_amount(contract, after["amount"])
    change, on = exact(after["amount"]) - exact(before["amount"]), amendment["effective_on"] or step.today
    added = store_money(exact(contract["amended_amount"]) + change)
    await contracts.update(contract["id"], {**after, "amended_amount": added})
    worth = store_money(_count_change(contract, before, after)) if contract["rate"] is not None else None
    values = {
        "before": before,
        "change": store_money(change),
        "base_change": worth,
        "booked_on": await find_booked_on(step.service, on),
        "salesperson_id": contract["owner_id"],
    }
    made = await change_state(step.store(AMENDMENTS), amendment["id"], "take-effect", values)
    await receivables.publish(step.service, step.request, contract["id"], on)
    await step.emit(AMENDMENT_STATES.transitions["take-effect"].event, amendment=made)
    return made


async def end(step: Step[Contract]) -> None:
    """Cancel what waits for its day, when a contract ends; of a terminated one, figures no longer count the others.

    What they count in a closed month stays there, and is taken off today.
    """
    store, of_contract = step.store(AMENDMENTS), {"contract_id": step.record["id"]}
    for one in await store.find({**of_contract, "status": "approved"}):
        await change_state(store, one["id"], "cancel", {"reason": step.reason})
    if step.record["status"] != "terminated":
        return
    for one in await store.find({**of_contract, "status": "in_force"}):
        booked = one["booked_on"] or step.today
        is_closed = await find_booked_on(step.service, booked) != booked
        await change_state(store, one["id"], "end", {"taken_off_on": step.today if is_closed else None})


async def put_in_force(service: Service) -> None:
    """Put the approved amendments into effect whose day has come. The owner is told once of one that cannot."""
    now = utc_now()
    due = {"status": "approved", "effective_on": {"$lte": day_of(now, service.settings.zone).isoformat()}}
    for one in sorted(await service.database.store(AMENDMENTS).find(due), key=_in_order):
        step = Step(service, AMENDMENTS, "take-effect", one, now)
        try:
            await service.database.transaction(lambda step=step: _take_effect(step))  # type: ignore[misc]
        except ApiError as error:
            await _tell_blocked(service, one, error)


async def _tell_blocked(service: Service, amendment: ContractAmendment, error: ApiError) -> None:
    async def work() -> None:
        unknown = {"_id": amendment["id"], "blocked": None}
        told = await service.database.store(AMENDMENTS).update_unversioned(unknown, {"$set": {"blocked": True}})
        if told is not None and told["owner_id"] is not None:
            title = AMENDMENT_BLOCKED.filled(number=told["number"], reason=error.reason)
            data = {"contract_id": str(told["contract_id"]), "amendment_id": str(told["id"])}
            message = {"kind": "contract_reminder", "link": f"/crm/contract-amendments/{told['id']}", "data": data}
            await service.events.emit(NOTIFY, {"user_ids": [told["owner_id"]], "title": title, **message})

    await service.database.transaction(work)


async def _describe(step: Step[ContractAmendment]) -> Record:
    """Return the contract and the customer, which approvers may not be allowed to look up, and the change.

    The amounts, which conditions compare, are in the company's currency; `currency_amount` is the new one of a contract in
    another one.
    """
    contract = await step.store(CONTRACTS).get(step.record["contract_id"])
    customer = await step.store(CUSTOMERS).get(contract["customer_id"])
    after = exact(_apply(contract, step.record)["amount"])
    worth = await value_for_limits(step.service, contract, step.today)
    amounts = in_base(exact(contract["amount"]), worth), in_base(after, worth)
    own = {"currency_amount": f"{after:.2f}"} if contract["currency"] is not None else {}
    changed = {"amount": f"{amounts[1]:.2f}"} if own and step.record["amount"] is not None else {}
    return {
        **own,
        **changed,
        "customer": customer["name"],
        "contract": contract["name"],
        "amount_before": f"{amounts[0]:.2f}",
        "amount_after": f"{amounts[1]:.2f}",
        "change": f"{amounts[1] - amounts[0]:.2f}",
    }


_RESOURCE = "crm:contract-amendment"
ROUTES: tuple[Route, ...] = (
    *crud(
        AMENDMENTS,
        at="/api/v1/crm/contract-amendments",
        resource=_RESOURCE,
        find=get_editable,
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS, *REFUSALS),
        refusals_of={"update": conflicts(AMENDMENT_FIXED), "delete": conflicts(AMENDMENT_FIXED)},
    ),
    *transitions(
        AMENDMENTS,
        Action(
            "POST /api/v1/crm/contract-amendments/{id}/submit",
            access=f"{_RESOURCE}:submit",
            summary="Submit an amendment for approval",
            body=VERSION_BODY,
            before=_may_take_effect,
            values=lambda step: {
                "submitted_at": step.now,
                "submitted_by": step.by,
                "decided_at": None,
                "reason": None,
            },
            refusals=REFUSALS,
        ),
        Action(
            "POST /api/v1/crm/contract-amendments/{id}/withdraw",
            access=f"{_RESOURCE}:withdraw",
            summary="Withdraw an amendment from approval",
            body=VERSION_BODY,
            values=lambda step: {"submitted_at": None, "submitted_by": None, "reason": step.reason},
        ),
        Action(
            "POST /api/v1/crm/contract-amendments/{id}/approve",
            access=f"{_RESOURCE}:approve",
            body=VERSION_BODY,
            before=_may_take_effect,
            values=lambda step: {"decided_at": step.now},
            after=_after_approval,
            refusals=REFUSALS,
        ),
        Action(
            "POST /api/v1/crm/contract-amendments/{id}/reject",
            access=f"{_RESOURCE}:reject",
            body=REJECT,
            values=lambda step: {"decided_at": step.now, "reason": step.reason},
        ),
        Action(
            "POST /api/v1/crm/contract-amendments/{id}/cancel",
            access=f"{_RESOURCE}:cancel",
            summary="Cancel an approved amendment before its day",
            body=TERMINATE,
            values=lambda step: {"reason": step.reason},
        ),
        find=get_editable,
        approval=Approval(
            record=_describe,
            fields={
                "customer": text(),
                "contract": text(),
                "amount_before": money(),
                "amount_after": money(),
                "change": money(),
                "currency_amount": currency_amount(),
            },
        ),
        refusals=(REFUSES_READERS,),
    ),
    route(
        "GET /api/v1/crm/contract-amendments/{id}/effect",
        read_effect,
        summary="Read what an amendment would change",
        title=("变更影响", "Effect"),
        access=f"{_RESOURCE}:read",
        returns=EFFECT,
        refusals=REFUSALS,
        collection=AMENDMENTS.name,
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/amendments/rehearse",
        rehearse,
        summary="Rehearse an amendment of a contract",
        title=("预演合同变更", "Rehearse an amendment"),
        access=f"{_RESOURCE}:create",
        body=REHEARSAL_BODY,
        returns=EFFECT,
        refusals=(REFUSES_READERS, *REFUSALS),
        collection=CONTRACTS.name,
    ),
    route(
        "GET /api/v1/crm/contracts/{id}/versions",
        list_versions,
        summary="List the versions of a contract",
        title=("合同版本", "Versions"),
        access="crm:contract:read",
        query={"day": day(description="Only the version in force on this day.")},
        returns=VERSIONS,
        collection=CONTRACTS.name,
    ),
)
