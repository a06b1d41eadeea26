"""A company of its own whose last two months are closed, every figure of their days, and whatever people may write."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from handlers.route import Route
from handlers.schema.fields import Field
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.inventory.goods import AT as INVENTORY, Goods
from tests.support.catalogue import CATALOGUE
from tests.support.sample_values import scalar

CRM = "/api/v1/crm"


def today() -> date:
    """The present day of the company, which may be another one than when the tests began."""
    return datetime.now(ZoneInfo("Asia/Shanghai")).date()


TODAY = today()
OPEN_FROM = TODAY.replace(day=1)
LAST = OPEN_FROM - timedelta(days=1)
FIRST = (LAST.replace(day=1) - timedelta(days=1)).replace(day=1)
SECOND = LAST.replace(day=1)
Record = dict[str, Any]
_TEXT = re.compile("name|reference|sku|counterparty|contact|phone|email")
_TABLES = ("import", "export")


def closed_days() -> list[str]:
    """Some days of the closed months: their ends, and one a week."""
    days = {FIRST, SECOND - timedelta(days=1), SECOND, LAST}
    days |= {FIRST + timedelta(days=count) for count in range(0, (LAST - FIRST).days, 7)}
    return sorted(day.isoformat() for day in days)


@dataclass
class ClosedBooks:
    """The company, and what it had written when its months were closed."""

    running: Running
    client: Client
    chance: random.Random
    books: Books
    goods: Goods
    parties: Mapping[str, str]

    @classmethod
    async def of(cls, running: Running, chance: random.Random) -> ClosedBooks:
        """Write two months of business, drafts of everything among it, and close them."""
        client = await Client(running.url).log_in("admin")
        books, goods = await Books.fresh(client), await Goods.fresh(client)
        customer = expect(await client.post(f"{CRM}/customers", {"name": "c"}))["id"]
        company = cls(
            running, client, chance, books, goods, {"customer_id": customer, "supplier_id": await goods.supplier()}
        )
        expect(await goods.count(500, "4.00", day=FIRST.isoformat()))
        for day in (FIRST + timedelta(days=4), SECOND + timedelta(days=4)):
            await company._trade(day)
            await company._agree(day)
            await company._bill(day)
        for month in (FIRST, SECOND):
            expect(await client.post(f"{FINANCE}/periods/{month:%Y-%m}/close"))
        return company

    async def order(self, kind: str, day: date, *actions: str) -> Record:
        """An order of ten pieces dated `day`, after these actions."""
        party = {"sales-orders": {"customer_id": self.parties["customer_id"], "customer_name": "c"}}
        body = party.get(kind, {"supplier_id": self.parties["supplier_id"]})
        lines = [{"product_id": self.goods.product_id, "quantity": "10", "price": "10.00"}]
        body |= {
            "warehouse_id": self.goods.warehouse_id,
            "lines": lines,
            "ordered_on": day.isoformat(),
            "terms_days": 10,
        }
        order: Record = expect(await self.client.post(f"{INVENTORY}/{kind}", body))
        for action in actions:
            shipped = {"day": day.isoformat(), "lines": [{"product_id": self.goods.product_id, "quantity": "4"}]}
            given = shipped if action in ("deliver", "receive") else {}
            order = expect(await self.client.post(f"{INVENTORY}/{kind}/{order['id']}/{action}", given))
        return order

    async def contract(self, day: date, *actions: str) -> Record:
        """A contract of 100.00 that is signed on a day, with a plan, after these actions."""
        body = {"customer_id": self.parties["customer_id"], "name": "x", "amount": "100.00"}
        made: Record = expect(await self.client.post(f"{CRM}/contracts", {**body, "signed_date": day.isoformat()}))
        plan = {"contract_id": made["id"], "amount": "60.00", "due_date": (day + timedelta(days=9)).isoformat()}
        expect(await self.client.post(f"{CRM}/payment-plans", plan))
        for action in actions:
            made = expect(await self.client.post(f"{CRM}/contracts/{made['id']}/{action}"))
        return made

    async def _trade(self, day: date) -> None:
        for kind, ship in (("sales-orders", "deliver"), ("purchase-orders", "receive")):
            for actions in ((), ("confirm",), ("confirm", ship), ("confirm", ship)):
                await self.order(kind, day, *actions)

    async def _agree(self, day: date) -> None:
        for actions in ((), ("submit",), ("submit", "approve"), ("submit", "approve")):
            made = await self.contract(day, *actions)
        paid = {"contract_id": made["id"], "amount": "20.00", "paid_at": f"{day}T12:00:00+08:00"}
        expect(await self.client.post(f"{CRM}/payments", paid))
        expect(await self.client.post(f"{CRM}/payments", {**paid, "account_id": self.books.account_id}))

    async def _bill(self, day: date) -> None:
        expect(await self.books.book("income", "300.00", day=day.isoformat()))
        for direction, party in (("out", "customer_id"), ("in", "supplier_id")):
            body = {"direction": direction, "counterparty": "c", party: self.parties[party], "amount": "50.00"}
            for confirmed in (False, True, True):
                made = {**body, "number": unique("INV"), "day": day.isoformat(), "due_on": day.isoformat()}
                invoice = expect(await self.client.post(f"{FINANCE}/invoices", made))
                if confirmed:
                    expect(await self.client.post(f"{FINANCE}/invoices/{invoice['id']}/confirm"))
            paid = {"account_id": self.books.account_id, "amount": "20.00", "day": day.isoformat()}
            expect(await self.client.post(f"{FINANCE}/invoices/{invoice['id']}/pay", paid))

    async def figures(self) -> dict[str, Any]:
        """Every figure of the closed days, by its path."""
        paths = [f"{FINANCE}/ageing?kind={kind}&day={on}" for kind in ("receivable", "payable") for on in closed_days()]
        paths += [f"{FINANCE}/statements?{name}={id}&to={LAST}&page_size=1000" for name, id in self.parties.items()]
        paths += [f"{INVENTORY}/stock/ledger?day_to={LAST}&page_size=200&page={page}" for page in (1, 2)]
        days = f"date_from={FIRST}&date_to={LAST}"
        paths += [f"/api/dashboard/finance-summary?{days}"]
        paths += [f"/api/dashboard/sales-ranking?by={by}&{days}" for by in ("payments", "contracts")]
        paths += [
            "/api/dashboard/contract-trend",
            "/api/dashboard/sales-vs-purchase",
            "/api/dashboard/sales-trend?days=90",
        ]
        return {path: _closed_part(expect(await self.client.get(path))) for path in paths}

    async def write(self) -> tuple[Route, Reply]:
        """Send one request that somebody may think of."""
        route = self.chance.choice(WRITES)
        record = await self._pick(route.collection or "") if "{id}" in route.path else None
        body = await self._make(route.body, record) if route.body is not None else None
        path = route.path.replace("{id}", str(record["_id"] if record else "f" * 24))
        return route, await self.client.call(route.method, path, body)

    async def _pick(self, collection: str) -> Record | None:
        if collection not in CATALOGUE.collections:
            return None
        found = await self.running.service.database.driver.find(collection, {}, limit=200)
        return self.chance.choice(found) if found else None

    async def _make(self, field: Field, record: Record | None, name: str = "") -> Any:
        pick = self.chance.choice
        if field.kind == "object":
            chosen = {
                key: child
                for key, child in (field.fields or {}).items()
                if not child.read_only and (child.required or key in ("day", "version") or self.chance.random() < 0.3)
            }
            return {key: await self._make(child, record, key) for key, child in chosen.items()}
        if field.kind == "array" and field.items is not None:
            return [await self._make(field.items.but(ref=field.ref or field.items.ref), record)]
        if name == "version":
            return record["version"] if record else 1
        if field.ref:
            found = await self._pick(CATALOGUE_NAMES.get(field.ref, field.ref))
            return str(found["_id"]) if found and field.kind == "object_id" else found and found["_id"]
        if field.kind == "day":
            return pick([*closed_days(), TODAY.isoformat(), TODAY.isoformat(), OPEN_FROM.isoformat()])
        if field.kind == "timestamp":
            return f"{pick([*closed_days(), OPEN_FROM.isoformat()])}T12:00:00+08:00"
        if field.kind in ("money", "quantity"):
            return pick(["1", "2", "5"]) if "maximum" not in field.rules or len(field.rules["maximum"]) > 1 else "0.1"
        if name in ("number", "code", "sku"):
            return unique("X")
        return pick(field.rules["enum"]) if "enum" in field.rules else scalar(field)


def _closed_part(data: Record) -> Record:
    """Leave out the rows of open months, and what things are called now."""
    rows = data.get("items", [])
    kept = [row for row in rows if (row.get("month") or row.get("date") or "") < OPEN_FROM.isoformat()[:7]]
    return {**_without_texts(data), "items": [_without_texts(row) for row in kept]}


def _without_texts(row: Record) -> Record:
    return {name: value for name, value in row.items() if not _TEXT.search(name)}


def _is_write(route: Route) -> bool:
    """Whether it changes one record of business, or creates one, by a body of JSON."""
    parts = route.path.split("/")
    plain = parts[-1] not in _TABLES and route.path.count("{") == route.path.count("{id}")
    return route.method != "GET" and plain and parts[3:4] != [] and parts[3] in _PLUGINS and parts[-1] != "audit"


_PLUGINS = ("crm", "finance", "inventory")
WRITES = tuple(route for route in CATALOGUE.routes if _is_write(route))
CATALOGUE_NAMES = {"users": "rbac_users"}
