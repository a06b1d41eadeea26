"""Requests of crm that a declaration alone cannot describe: references that belong together, preceding states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from handlers.route import Route
from plugins.testing import expect
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

CRM = "/api/v1/crm"


def without(*names: str) -> HandMade:
    """The derived request without the references that must belong to the same customer."""

    async def made(maker: Maker, route: Route) -> Exercise:
        derived = await maker.derived(route)
        return replace(derived, body={name: value for name, value in derived.body.items() if name not in names})

    return made


def in_state(*actions: str) -> HandMade:
    """A request about a contract after these actions."""

    async def made(maker: Maker, route: Route) -> Exercise:
        contract = await contract_after(maker, *actions)
        body = await maker._body(route, contract, only_required=False)
        return Exercise(maker.admin, route, path_with(route, contract["id"]), body, record=contract)

    return made


async def contract_after(maker: Maker, *actions: str) -> dict[str, Any]:
    """Create a contract and call these actions on it."""
    contract = await maker.record("crm_contracts")
    for action in actions:
        contract = expect(await maker.admin.post(f"{CRM}/contracts/{contract['id']}/{action}", {}))
    return contract


async def held_contract(maker: Maker, route: Route) -> Exercise:
    contract = await maker.record("crm_contracts")
    held = expect(await maker.admin.post(f"{CRM}/contracts/{contract['id']}/hold", {"reason": "no"}))
    return Exercise(maker.admin, route, path_with(route, held["id"]), {}, record=held)


async def payment(maker: Maker, route: Route) -> Exercise:
    contract = await contract_after(maker, "submit", "approve")
    return Exercise(maker.admin, route, route.path, {"contract_id": contract["id"], "amount": "1.00"})


async def amendment(maker: Maker, route: Route) -> Exercise:
    contract = await contract_after(maker, "submit", "approve")
    return Exercise(maker.admin, route, route.path, {"contract_id": contract["id"], "description": "两台设备"})


async def amendment_change(maker: Maker, route: Route) -> Exercise:
    made = await maker.record("crm_contract_amendments")
    body = {"version": made["version"], "amount": "130.00"}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


def amendment_after(*actions: str) -> HandMade:
    """A request about an amendment of tomorrow after these actions."""

    async def made(maker: Maker, route: Route) -> Exercise:
        contract, at = await contract_after(maker, "submit", "approve"), f"{CRM}/contract-amendments"
        body = {"contract_id": contract["id"], "amount": "130.00", "effective_on": "2099-01-01"}
        one = expect(await maker.admin.post(at, body))
        for action in actions:
            one = expect(await maker.admin.post(f"{at}/{one['id']}/{action}", {}))
        given = {"reason": "no"} if route.path.endswith(("/reject", "/cancel")) else {}
        return Exercise(maker.admin, route, path_with(route, one["id"]), given, record=one)

    return made


async def rehearsed_amendment(maker: Maker, route: Route) -> Exercise:
    contract = await contract_after(maker, "submit", "approve")
    return Exercise(maker.admin, route, path_with(route, contract["id"]), {"amount": "130.00"}, record=contract)


async def plan_change(maker: Maker, route: Route) -> Exercise:
    derived = await maker.derived(route)
    return replace(derived, body={**derived.body, "contract_id": derived.record["contract_id"]})


async def duplicates(maker: Maker, route: Route) -> Exercise:
    made = await maker.record("crm_customers")
    return Exercise(maker.admin, route, f"{route.path}?{urlencode({'name': made['name'], 'phone': '021-5555 0100'})}")


HAND_MADE: Mapping[str, HandMade] = {
    f"GET {CRM}/customers/duplicates": duplicates,
    f"POST {CRM}/follow-ups": without("opportunity_id", "contact_id"),
    f"PATCH {CRM}/follow-ups/{{id}}": without("opportunity_id", "contact_id"),
    # what belongs to a contract is in its currency, and so would need a rate of today
    f"POST {CRM}/contracts": without("opportunity_id", "currency", "rate"),
    f"PATCH {CRM}/contracts/{{id}}": without("opportunity_id"),
    f"POST {CRM}/contracts/{{id}}/withdraw": in_state("submit"),
    f"POST {CRM}/contracts/{{id}}/approve": in_state("submit"),
    f"POST {CRM}/contracts/{{id}}/reject": in_state("submit"),
    f"POST {CRM}/contracts/{{id}}/complete": in_state("submit", "approve"),
    f"POST {CRM}/contracts/{{id}}/terminate": in_state("submit", "approve"),
    f"POST {CRM}/contracts/{{id}}/release": held_contract,
    f"PATCH {CRM}/payment-plans/{{id}}": plan_change,
    f"POST {CRM}/payments": payment,
    f"POST {CRM}/contract-amendments": amendment,
    f"PATCH {CRM}/contract-amendments/{{id}}": amendment_change,
    f"POST {CRM}/contract-amendments/{{id}}/withdraw": amendment_after("submit"),
    f"POST {CRM}/contract-amendments/{{id}}/approve": amendment_after("submit"),
    f"POST {CRM}/contract-amendments/{{id}}/reject": amendment_after("submit"),
    f"POST {CRM}/contract-amendments/{{id}}/cancel": amendment_after("submit", "approve"),
    f"POST {CRM}/contracts/{{id}}/amendments/rehearse": rehearsed_amendment,
}
