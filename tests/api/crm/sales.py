"""Shared by the tests of crm: paths, people of a sales department, and records created over HTTP."""

from __future__ import annotations

from typing import Any

from plugins.testing import Client, People, expect
from tests.support.catalogue import CATALOGUE

CRM = "/api/v1/crm"
CUSTOMERS, CONTACTS, LEADS = f"{CRM}/customers", f"{CRM}/contacts", f"{CRM}/leads"
OPPORTUNITIES, FOLLOW_UPS = f"{CRM}/opportunities", f"{CRM}/follow-ups"
CONTRACTS, PLANS, PAYMENTS = f"{CRM}/contracts", f"{CRM}/payment-plans", f"{CRM}/payments"
EVERYTHING = [code for code in CATALOGUE.permissions if code.startswith("crm:")]
Record = dict[str, Any]


async def seller(people: People, scope: str = "self", department_id: int | None = None) -> Client:
    """A person with all permissions of crm, within this data scope."""
    return await people.person(EVERYTHING, scope, department_id)


async def customer(client: Client, **fields: Any) -> Record:
    """Create a customer."""
    made: Record = expect(await client.post(CUSTOMERS, {"name": "晨光科技", **fields}))
    return made


async def contract(client: Client, amount: str = "100.00", customer_id: str | None = None, **fields: Any) -> Record:
    """Create a draft of a contract."""
    of = customer_id or (await customer(client))["id"]
    made: Record = expect(await client.post(CONTRACTS, {"customer_id": of, "name": "合同", "amount": amount, **fields}))
    return made


async def in_force(client: Client, amount: str = "100.00", **fields: Any) -> Record:
    """Create a contract, submit and approve it."""
    draft = await contract(client, amount, **fields)
    expect(await client.post(f"{CONTRACTS}/{draft['id']}/submit", {}))
    approved: Record = expect(await client.post(f"{CONTRACTS}/{draft['id']}/approve", {}))
    return approved


async def sees(client: Client, path: str, id: str) -> bool:
    """Whether this person sees the record."""
    return (await client.get(f"{path}/{id}")).code == 0
