"""A small random company: users in departments, and records of every module with dashboards."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from handlers.access.actor import Actor
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.schema.conversion import store_money, store_quantity
from handlers.schema.money import times
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.states import STATES
from plugins.crm.contract_records import CONTRACTS, PAYMENTS
from plugins.crm.records import CUSTOMERS, LEADS, OPPORTUNITIES
from plugins.crm.states import CONTRACT_STATES, LEAD_STATES, OPPORTUNITY_STAGES
from plugins.finance.records import ACCOUNTS, VOUCHERS
from plugins.inventory.order_records import PURCHASE_ORDERS, PURCHASE_STATES, SALES_ORDERS, SALES_STATES
from plugins.inventory.records import PRODUCTS, STOCK, SUPPLIERS, WAREHOUSES
from plugins.testing import Client, People, expect
from tests.support.catalogue import CATALOGUE
from tests.support.sample_values import completed

SCOPES = ("all", "department", "department_and_below", "self", "custom")
LISTS = {
    "crm": ("customers", "leads", "opportunities", "contracts", "payments"),
    "inventory": ("warehouses", "stock", "sales-orders", "purchase-orders"),
    "finance": ("vouchers",),
    "approvals": ("instances",),
}
MODULES = ("crm", "inventory", "finance", "approval")
_SEES = sorted(
    {
        route.access
        for route in CATALOGUE.routes
        if route.access.startswith("dashboard:chart:")
        or (route.method == "GET" and route.access.endswith(":list") and route.access.split(":")[0] in MODULES)
    }
)


@dataclass
class Company:
    """The database of a server, the departments of a tree, and people with all kinds of scope."""

    database: Database
    departments: Sequence[int]
    people: Sequence[Client]
    chance: random.Random

    async def records(self, count: int) -> None:
        """Records of everybody: `count` payments, and fewer of the rest."""
        makers = {
            self._customer: 1,
            self._lead: 1,
            self._opportunity: 1,
            self._contract: 1,
            self._payment: 3,
            self._order: 1,
            self._stock: 1,
            self._voucher: 2,
            self._approval: 1,
        }
        for maker, weight in makers.items():
            for number in range(count * weight // 3):
                await maker(number)

    def actor(self) -> Actor:
        user = self.chance.choice(self.people).user
        department = user["department"]
        return Actor(user_id=user["userId"], department_id=department["id"] if department else None)

    async def _made(self, collection: Collection, values: dict[str, Any]) -> dict[str, Any]:
        shared = {"shared_with": [self._person()] if self.chance.random() < 0.2 else []} if collection.shared else {}
        store = self.database.store(collection, self.actor())
        made = await store.create(completed(collection, {**values, **shared}))
        if self.chance.random() < 0.1:
            await store.delete(made["id"])
        return made

    def _person(self) -> int:
        return int(self.chance.choice(self.people).user["userId"])

    def _money(self) -> Any:
        return store_money(Decimal(self.chance.randrange(1, 10**9)) / 100)

    def moment(self) -> datetime:
        """Some time in the last eighteen months, often at the edge of a business day."""
        at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=self.chance.randrange(60, 790_000))
        if self.chance.random() < 0.3:
            at = at.replace(hour=16, minute=0, second=0) - timedelta(milliseconds=self.chance.choice([0, 1]))
        return at

    def _day(self) -> str:
        return self.moment().date().isoformat()

    async def _customer(self, number: int) -> dict[str, Any]:
        pick = self.chance.choice
        return await self._made(
            CUSTOMERS,
            {
                "name": f"customer {number}",
                "industry": pick(["retail", "energy", "", None]),
                "level": pick(["A", "B", None]),
            },
        )

    async def _lead(self, number: int) -> None:
        source, status = self.chance.choice(["website", "phone", None]), self.chance.choice(list(LEAD_STATES.states))
        await self._made(LEADS, {"name": f"lead {number}", "source": source, "status": status})

    async def _opportunity(self, number: int) -> None:
        customer = await self.database.store(CUSTOMERS).find_one({})
        stage = self.chance.choice(list(OPPORTUNITY_STAGES.states))
        await self._made(
            OPPORTUNITIES,
            {
                "name": f"deal {number}",
                "customer_id": customer and customer["id"],
                "amount": self._money(),
                "stage": stage,
            },
        )

    async def _contract(self, number: int) -> dict[str, Any]:
        customer = await self.database.store(CUSTOMERS).find_one({})
        return await self._made(
            CONTRACTS,
            {
                "customer_id": customer and customer["id"],
                "name": f"contract {number}",
                "number": f"C-{number}",
                "amount": self._money(),
                "owner_id": self._person(),
                "status": self.chance.choice(list(CONTRACT_STATES.states)),
                "signed_date": self._day(),
                "received_amount": store_money(Decimal(0)),
                "planned_amount": store_money(Decimal(0)),
            },
        )

    async def _payment(self, number: int) -> None:
        contract = await self.database.store(CONTRACTS).find_one({})
        amount = self._money()
        if self.chance.random() < 0.2:  # as the reversal of another one
            amount = store_money(-amount.to_decimal())
        await self._made(
            PAYMENTS,
            {
                "contract_id": contract and contract["id"],
                "amount": amount,
                "paid_at": self.moment(),
                "owner_id": self._person(),
                "account_id": self.chance.choice([None, await self._account(f"p {number}")]),
            },
        )

    async def _order(self, number: int) -> None:
        # not deleted, because an order refers to it
        named = completed(PRODUCTS, {"sku": f"sku {number}", "name": "thing"})
        product = await self.database.store(PRODUCTS, self.actor()).create(named)
        selling = self.chance.random() < 0.5
        states, done = (SALES_STATES, "delivered") if selling else (PURCHASE_STATES, "received")
        supplier = await self.database.store(SUPPLIERS).create({"code": f"s {number}", "name": "supplier"})
        quantity, price = (
            Decimal(self.chance.randrange(1, 10**6)) / 10_000,
            Decimal(self.chance.randrange(1, 10**5)) / 100,
        )
        discount = self.chance.choice([Decimal(0), Decimal("0.15")])
        line = {
            "product_id": product["id"],
            "quantity": store_quantity(quantity),
            "price": store_money(price),
            "discount": store_quantity(discount) if discount else None,
            "amount": store_money(times(quantity, price * (1 - discount))),
            done: store_quantity(quantity / 2),
        }
        await self._made(
            SALES_ORDERS if selling else PURCHASE_ORDERS,
            {
                "number": f"O-{number}",
                "lines": [line],
                "amount": line["amount"],
                "shipped_amount": self.chance.choice([None, self._money()]),
                "returned_amount": self.chance.choice([None, self._money()]),
                "ordered_on": self._day(),
                "status": self.chance.choice(list(states.states)),
                **({"customer_name": "somebody"} if selling else {"supplier_id": supplier["id"]}),
            },
        )

    async def _stock(self, number: int) -> None:
        keepers = self.chance.choice([[], sorted({self._person(), self._person()})])
        warehouse = await self._made(
            WAREHOUSES, {"code": f"w {number}", "name": f"warehouse {number}", "keeper_ids": keepers}
        )
        for product in range(self.chance.randrange(3)):
            await self.database.store(STOCK).create(
                {
                    "product_id": f"{product:024x}",
                    "warehouse_id": warehouse["id"],
                    "value": self._money(),
                    "quantity": store_quantity(Decimal(self.chance.randrange(1, 10**8)) / 10_000),
                    "average_cost": store_money(Decimal(1)),
                    "warehouse_creator_id": warehouse["creator_id"],
                    "warehouse_department_id": warehouse["creator_department_id"],
                }
            )

    async def _account(self, code: str) -> Any:
        account = {"code": code, "name": "account", "type": "bank", "balance": store_money(Decimal(0))}
        return (await self.database.store(ACCOUNTS).create(account))["id"]

    async def _voucher(self, number: int) -> None:
        await self._made(
            VOUCHERS,
            {
                "number": f"V-{number}",
                "kind": self.chance.choice(["income", "expense", "transfer"]),
                "amount": self._money(),
                "day": self._day(),
                "account_id": await self._account(f"a {number}"),
            },
        )

    async def _approval(self, number: int) -> None:
        status = self.chance.choice(list(STATES.states))
        flow = await self.database.store(DEFINITIONS).create(completed(DEFINITIONS, {"name": f"flow {number}"}))
        await self._made(
            INSTANCES,
            {"title": f"asked {number}", "status": status, "initiator_id": self._person(), "definition_id": flow["id"]},
        )


async def founded(admin: Client, database: Database, chance: random.Random) -> Company:
    """A tree of three departments, and two people for each kind of scope."""
    departments: list[int] = []
    for name in ("head office", "sales", "field sales"):
        body = {"name": name, "code": name.replace(" ", "-"), "parent_id": departments[-1] if departments else None}
        departments.append(expect(await admin.post("/api/v1/system/departments", body))["id"])
    makers, people = People(admin), [admin]
    for scope in SCOPES * 2:
        department = chance.choice([*departments, None])
        chosen = chance.sample(departments, 2) if scope == "custom" else ()
        people.append(await makers.person(_SEES, scope, department, chosen))
    return Company(database, departments, people, chance)


async def listed(client: Client, module: str, noun: str) -> AsyncIterator[dict[str, Any]]:
    """Every record that the person can list, page by page."""
    page: dict[str, Any] = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else ""
        page = expect(await client.get(f"/api/v1/{module}/{noun}?page_size=200{cursor}"))
        for item in page["items"]:
            yield item
