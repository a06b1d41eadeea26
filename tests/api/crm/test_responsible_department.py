"""The responsible department over HTTP: who sees a customer and what hangs below it, after any transfers and moves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, People, eventually, expect
from tests.api.crm.sales import (
    CONTACTS,
    CUSTOMERS,
    EVERYTHING,
    FOLLOW_UPS,
    OPPORTUNITIES,
    PAYMENTS,
    PLANS,
    Record,
    customer,
    in_force,
    sees,
    seller,
)

pytestmark = pytest.mark.gen_test(timeout=60)
OVERVIEW = "/api/dashboard/overview"
KINDS = ("department", "department_and_below", "self", "custom")


async def received(client: Client) -> Decimal:
    """What the dashboard shows as received: the sum of the payments that the person lists."""

    async def agreed() -> list[Decimal]:
        listed = expect(await client.get(f"{PAYMENTS}?page_size=200"))["items"]
        total = Decimal(expect(await client.get(OVERVIEW))["received_amount"])
        return [total] if total == sum(Decimal(one["amount"]) for one in listed) else []

    total: Decimal = (await eventually(agreed))[0]  # payments may still follow a person who moved
    return total


async def manager(people: People, department: int, scope: str = "department_and_below") -> Client:
    """Who sees the department, its dashboards included, and may do everything there."""
    return await people.person([*EVERYTHING, "dashboard:chart:overview"], scope, department)


async def move(admin: Client, person: Client, department: int | None) -> None:
    """Put a person into another department."""
    at = f"/api/v1/system/users/{person.user['userId']}"
    version = expect(await admin.get(at))["version"]
    expect(await admin.patch(at, {"version": version, "department_id": department}))


async def test_two_managers_see_what_their_people_are_responsible_for(admin: Client, people: People) -> None:
    east, west = await people.department(), await people.department()
    chiefs = [await manager(people, department) for department in (east, west)]
    sellers = [await seller(people, department_id=department) for department in (east, west)]
    accounting = await manager(people, await people.department(), "all")
    of = await customer(sellers[0])
    contract = await in_force(admin, customer_id=of["id"])
    paid = expect(await accounting.post(PAYMENTS, {"contract_id": contract["id"], "amount": "40.00"}))
    assert (paid["owner_id"], paid["owner_department_id"]) == (sellers[0].user["userId"], east)
    assert [await received(chief) for chief in chiefs] == [Decimal(40), Decimal(0)]
    for giver, taker in ((0, 1), (1, 0)):
        body = {"owner_id": sellers[taker].user["userId"]}
        moved = expect(await chiefs[giver].post(f"{CUSTOMERS}/{of['id']}/transfer", body))
        assert moved["owner_department_id"] == (east, west)[taker]
        # the creator's department goes on seeing the customer, which its seller made
        assert [await sees(chief, CUSTOMERS, of["id"]) for chief in chiefs] == [True, taker == 1]
        # the contract and the payment were entered by others: they are the new owner's department's alone
        assert [await received(chief) for chief in chiefs] == [Decimal(40) * (n == taker) for n in range(2)]


async def test_children_of_a_customer_have_its_owner_whoever_enters_them(admin: Client, people: People) -> None:
    owner = await seller(people, department_id=await people.department())
    of = await customer(admin, owner_id=owner.user["userId"])
    contract = await in_force(admin, customer_id=of["id"])
    bodies: dict[str, Record] = {
        CONTACTS: {"customer_id": of["id"], "name": "王芳"},
        OPPORTUNITIES: {"customer_id": of["id"], "name": "年度采购"},
        FOLLOW_UPS: {"customer_id": of["id"], "content": "电话"},
        PLANS: {"contract_id": contract["id"], "amount": "1.00", "due_date": "2099-01-01"},
        PAYMENTS: {"contract_id": contract["id"], "amount": "1.00"},
    }
    made = [contract, *[expect(await admin.post(path, body)) for path, body in bodies.items()]]
    department = of["owner_department_id"]
    assert {(one["owner_id"], one["owner_department_id"]) for one in made} == {(of["owner_id"], department)}
    assert department == owner.user["department"]["id"]


async def test_a_contact_of_another_customer_gets_the_owner_of_that_one(admin: Client, people: People) -> None:
    first, second = await seller(people), await seller(people)
    before, after = [await customer(admin, owner_id=one.user["userId"]) for one in (first, second)]
    contact = expect(await admin.post(CONTACTS, {"customer_id": before["id"], "name": "王芳"}))
    change = {"version": contact["version"], "customer_id": after["id"]}
    assert expect(await admin.patch(f"{CONTACTS}/{contact['id']}", change))["owner_id"] == after["owner_id"]
    assert [await sees(one, CONTACTS, contact["id"]) for one in (first, second)] == [False, True]


async def test_the_responsible_department_filters_and_is_not_written_by_clients(admin: Client, people: People) -> None:
    department = await people.department()
    owner = await seller(people, department_id=department)
    of = await customer(admin, owner_id=owner.user["userId"])
    await customer(admin)
    listed = expect(await admin.get(f"{CUSTOMERS}?owner_department_id={department}"))["items"]
    assert [one["id"] for one in listed] == [of["id"]]
    assert listed[0]["owner_department_name"] == owner.user["department"]["name"]
    change = {"version": of["version"], "owner_department_id": 1}
    expect(await admin.patch(f"{CUSTOMERS}/{of['id']}", change), 40001)
    released = expect(await admin.post(f"{CUSTOMERS}/{of['id']}/release"))
    assert released["owner_department_id"] is None


# -- a random company


@dataclass
class Person:
    """Somebody with one role."""

    client: Client
    kind: str
    department: int | None
    named: frozenset[int]

    @property
    def id(self) -> int:
        """The id of the account."""
        return int(self.client.user["userId"])


@dataclass
class Row:
    """A customer: who made it in which department, and who is responsible."""

    id: str
    creator: Person
    made_in: int | None
    owner: Person | None


@dataclass
class Company:
    """What the model knows: departments with their parents, people and customers."""

    parents: dict[int, int | None] = field(default_factory=dict)
    people: list[Person] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def upwards(self, department: int | None) -> Iterator[int]:
        """The department and those above it."""
        while department is not None:
            yield department
            department = self.parents[department]

    def sees(self, me: Person, row: Row) -> bool:
        """By the department of who made it or of who owns it; one's own; what one owns, unless one sees nothing."""
        mine, own = me.department, row.creator is me or row.owner is me
        theirs = {one for one in (row.made_in, row.owner and row.owner.department) if one is not None}
        above = {one for department in theirs for one in self.upwards(department)}
        if me.kind == "custom":
            return bool(me.named and (me.named & theirs or row.owner is me))
        if me.kind == "self" or mine is None:
            return own
        return row.owner is me or mine in (theirs if me.kind == "department" else above)


async def test_after_random_moves_everybody_lists_what_the_model_says(admin: Client, people: People) -> None:
    await check_moves(admin, people, 0)


async def check_moves(admin: Client, people: People, seed: int) -> None:
    """Move people and customers, and compare what everybody lists with the model."""
    pick, company = random.Random(seed), Company()
    for _ in range(4):
        parent = pick.choice([None, *company.parents])
        company.parents[await people.department(parent)] = parent
    departments = [*company.parents, None]
    permissions = [*EVERYTHING, "dashboard:chart:overview"]
    for kind in (*KINDS, "department", "self"):
        named = pick.sample(list(company.parents), pick.choice([0, 1, 2])) if kind == "custom" else []
        place = pick.choice(departments)
        client = await people.person(permissions, kind, place, named)
        company.people.append(Person(client, kind, place, frozenset(named)))
    for number in range(6):
        maker = company.people[number]
        made = await customer(maker.client, name=f"客户{number}")
        company.rows.append(Row(made["id"], maker, maker.department, maker))
        await pay(admin, made, number)
    for _ in range(12):
        await change(admin, company, pick, departments)
    for person in company.people:
        visible = {row.id for row in company.rows if company.sees(person, row)}

        async def listed(person: Person = person, visible: set[str] = visible) -> bool:
            page = expect(await person.client.get(f"{CUSTOMERS}?page_size=200"))
            assert page["total"] == len(page["items"])
            return {one["id"] for one in page["items"]} == visible

        await eventually(listed)
        for row in company.rows:
            assert await sees(person.client, CUSTOMERS, row.id) == (row.id in visible)
        await received(person.client)


async def pay(admin: Client, of: Record, number: int) -> None:
    """A contract with a payment, entered by the administrator."""
    contract = await in_force(admin, customer_id=of["id"])
    expect(await admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": f"{10 + number}.00"}))


async def change(admin: Client, company: Company, pick: random.Random, departments: list[Any]) -> None:
    """One random move: of a person to a department, or of a customer to an owner or into the pool."""
    person, row = pick.choice(company.people), pick.choice(company.rows)
    kind = pick.choice(["move", "transfer", "release"])
    if kind == "move":
        person.department = pick.choice(departments)
        await move(admin, person.client, person.department)
    elif kind == "transfer" and row.owner is not person:
        expect(await admin.post(f"{CUSTOMERS}/{row.id}/transfer", {"owner_id": person.id}))
        row.owner = person
    elif kind == "release" and row.owner is not None:
        expect(await admin.post(f"{CUSTOMERS}/{row.id}/release"))
        row.owner = None
