"""The people of a random company, and what they trade with."""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tornado.httpclient import HTTPClientError

from plugins.testing import Client, People, Reply, expect, unique
from tests.support.random_company.model import Company

CRM, INVENTORY, FINANCE = "/api/v1/crm", "/api/v1/inventory", "/api/v1/finance"
Record = dict[str, Any]
_MODULES = ("crm:", "inventory:", "finance:", "dashboard:")
_MOST_PAUSE_SECONDS = 5.0  # between repetitions, which many people would otherwise send at once
_DAYS = 100  # how far back documents are dated


@dataclass
class Person:
    """Somebody who sends requests.

    With `patience` (seconds) each write has an idempotency key, and is repeated until the service responds.
    """

    client: Client
    patience: float = 0.0
    lost: int = 0

    async def get(self, path: str) -> Any:
        """The data of a response."""
        return expect(await self._repeat("GET", path, None, {}))

    async def every(self, path: str) -> list[Record]:
        """All rows of a list, page by page."""
        rows: list[Record] = []
        cursor = ""
        while True:
            more = "&" if "?" in path else "?"
            page = await self.get(f"{path}{more}page_size=200{cursor}")
            rows += page["items"]
            if page["next_cursor"] is None:
                return rows
            cursor = f"&cursor={page['next_cursor']}"

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """The response to a write."""
        key = {"Idempotency-Key": uuid.uuid4().hex} if self.patience else {}
        return await self._repeat("POST", path, body or {}, key)

    async def patch(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The response to a change."""
        key = {"Idempotency-Key": uuid.uuid4().hex} if self.patience else {}
        return await self._repeat("PATCH", path, body, key)

    async def _repeat(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        deadline = asyncio.get_running_loop().time() + self.patience
        for attempt in itertools.count():
            try:
                reply = await self.client.call(method, path, body, headers=headers)
            except (OSError, HTTPClientError):
                if asyncio.get_running_loop().time() > deadline:
                    raise
            else:
                if reply.status < 500 or asyncio.get_running_loop().time() > deadline:
                    return reply
            self.lost += 1
            await asyncio.sleep(random.uniform(0.05, min(0.1 * 2**attempt, _MOST_PAUSE_SECONDS)))
        raise AssertionError("unreachable")


@dataclass
class Office:
    """Four people of two departments, whom one manager sees whole and another one half of; and what they trade with."""

    admin: Client
    people: Sequence[Person]
    manager: Person
    half: Person
    chance: random.Random
    customers: Sequence[Record]
    suppliers: Sequence[str]
    products: Sequence[str]
    places: Sequence[str]
    accounts: Sequence[str]
    today: date
    model: Company = field(default_factory=Company)
    item_ids: dict[str, str] = field(default_factory=dict)  # of open items, by their documents
    opening: list[str] = field(default_factory=list)  # the counts of the opening stock
    late: bool = False  # what is left may wait for a late day

    @property
    def first_day(self) -> str:
        """The first day on which something happens."""
        return (self.today - timedelta(days=_DAYS)).isoformat()

    def day(self, since: str | None = None) -> str:
        """A day of the last months, not before another one; today when it is `late`."""
        if self.late:
            return self.today.isoformat()
        first = date.fromisoformat(since or self.first_day)
        return (first + timedelta(days=self.chance.randint(0, (self.today - first).days))).isoformat()

    def other(self, person: Person) -> Person:
        """A colleague, who decides on what the person asks for."""
        return self.people[(self.people.index(person) + 1) % len(self.people)]


async def open_office(admin: Client, seed: int, patience: float = 0.0) -> Office:
    """Make departments, roles, people, customers, suppliers, products, warehouses and accounts."""
    people, chance = People(admin), random.Random(seed)
    codes = [menu["permission"] for menu in await people.menus() if (menu["permission"] or "").startswith(_MODULES)]
    top = await people.department()
    below = await people.department(top)
    both = await people.role(codes, "custom", [top, below])
    whole = [await _person(people, both, department) for department in (top, top, below, below, top)]
    half = await _person(people, await people.role(codes, "department"), below)
    staff = [Person(client, patience) for client in whole]
    at, made = staff[0], admin.post

    async def create(path: str, **values: Any) -> Record:
        record: Record = expect(await made(path, values))
        return record

    customers = [expect(await at.client.post(f"{CRM}/customers", {"name": unique("customer")})) for _ in range(6)]
    names = [unique(name) for name in ("SUP",) * 4 + ("SKU",) * 6 + ("WH",) * 2 + ("ACC",) * 3]
    coded = [{"code": name, "name": name} for name in names]
    return Office(
        admin=admin,
        people=staff[:4],
        manager=staff[4],
        half=Person(half, patience),
        chance=chance,
        customers=customers,
        suppliers=[(await create(f"{INVENTORY}/suppliers", **one))["id"] for one in coded[:4]],
        products=[
            (await create(f"{INVENTORY}/products", sku=one, name=one, price="9.90", cost="4.00"))["id"]
            for one in names[4:10]
        ],
        places=[(await create(f"{INVENTORY}/warehouses", **one))["id"] for one in coded[10:12]],
        accounts=[(await create(f"{FINANCE}/accounts", **one, type="bank"))["id"] for one in coded[12:]],
        today=datetime.now(UTC).astimezone(ZoneInfo("Asia/Shanghai")).date(),
    )


async def _person(people: People, role: int, department_id: int) -> Client:
    user = await people.account([role], department_id)
    return await people.admin.log_in(user["username"])
