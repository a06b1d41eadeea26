"""Demonstration stock: half a year of buying and selling, through the same rules as every request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import ALL_ROWS, Actor, Collection, Request, Service, store_money, store_quantity, utc_now
from plugins.inventory import orders, shipments
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.rbac.api import Directory

Record = dict[str, Any]
_MONTHS = 6
# sku, name, unit, category, sales price, purchase price
_PRODUCTS = (
    ("P-1001", "铝合金支架", "piece", "parts", "58.00", "36.50"),
    ("P-1002", "不锈钢螺栓", "box", "parts", "24.90", "15.20"),
    ("P-2001", "冷轧钢板", "kg", "materials", "7.80", "5.35"),
    ("P-3001", "智能传感器", "piece", "finished", "399.00", "248.00"),
    ("P-4001", "包装纸箱", "piece", "supplies", "3.60", "1.95"),
)
_WAREHOUSES = (("WH-SH", "上海仓", "上海市嘉定区"), ("WH-SZ", "深圳仓", "深圳市宝安区"))
_SUPPLIERS = (("S-001", "华东金属", "陈经理"), ("S-002", "精工电子", "林经理"))
_CUSTOMERS = ("晨光科技", "远航物流", "云帆软件", "天工机械")


async def load(service: Service) -> None:
    """Products, two warehouses with stock, and six months of orders by the demo people."""
    directory = service.part(Directory)
    buyer, seller = await directory.by_username("manager"), await directory.by_username("sales")
    boss = await directory.user(1)
    if buyer and seller and boss:
        await _Trading(service, _actor(buyer), _actor(seller), _actor(boss)).run()


class _Trading:
    def __init__(self, service: Service, buyer: Actor, seller: Actor, boss: Actor) -> None:
        self.service, self.buyer, self.seller, self.boss = service, buyer, seller, boss
        self.start = utc_now() - timedelta(days=30 * _MONTHS - 10)

    async def run(self) -> None:
        """Master data, opening stock, then one purchase and one sale a month and a transfer at the end."""
        self.products = await self._made(PRODUCTS, ("sku", "name", "unit", "category", "price", "cost"), _PRODUCTS)
        self.warehouses = await self._made(WAREHOUSES, ("code", "name", "address"), _WAREHOUSES)
        self.suppliers = await self._made(SUPPLIERS, ("code", "name", "contact"), _SUPPLIERS)
        for warehouse in self.warehouses:
            lines = [{"product_id": one["id"], "counted": _quantity(120)} for one in self.products]
            await shipments.count(self._request(self.buyer, self.start, {**_at(warehouse), "lines": lines}))
        for month in range(_MONTHS):
            await self._month(month, self.start + timedelta(days=30 * month))
        await shipments.transfer(
            self._request(
                self.buyer,
                utc_now(),
                {
                    "from_warehouse_id": self.warehouses[0]["id"],
                    "to_warehouse_id": self.warehouses[1]["id"],
                    "lines": [self._line(0, 15)],
                },
            )
        )

    async def _month(self, month: int, at: datetime) -> None:
        warehouse = self.warehouses[month % 2]
        bought = {
            **_at(warehouse),
            "supplier_id": self.suppliers[month % 2]["id"],
            "lines": [self._line(month, 40 + 5 * month), self._line(month + 1, 30)],
        }
        sold = {
            **_at(warehouse),
            "customer_name": _CUSTOMERS[month % len(_CUSTOMERS)],
            "salesperson_id": self.seller.user_id,
            "lines": [self._line(month, 25 + 4 * month), self._line(month + 1, 20)],
        }
        await self._traded(orders.PURCHASE, self.buyer, at, bought)
        await self._traded(orders.SALE, self.seller, at + timedelta(days=3), sold)

    async def _traded(self, trade: orders.Trade, actor: Actor, at: datetime, body: Record) -> None:
        order = await orders.creator(trade)(self._request(actor, at, body))
        path = {"id": str(order["id"])}
        # who buys does not confirm it
        confirming = self.boss if trade is orders.PURCHASE else actor
        await orders.stepper(trade, "confirm")(self._request(confirming, at, {}, path))
        await orders.shipper(trade)(self._request(actor, at, {}, path))

    async def _made(self, collection: Collection, names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Record]:
        store = self.service.database.store(collection, self.buyer, now=self.start)
        return [await store.create(_typed(dict(zip(names, row, strict=True)))) for row in rows]

    def _line(self, product: int, pieces: int) -> Record:
        return {"product_id": self.products[product % len(self.products)]["id"], "quantity": _quantity(pieces)}

    def _request(self, actor: Actor, at: datetime, body: Record, path: dict[str, str] | None = None) -> Request:
        return Request(
            service=self.service,
            method="POST",
            target="",
            id="demo",
            headers={},
            remote_ip="",
            now=at,
            path=path or {},
            body=body,
            actor=actor,
            scope=ALL_ROWS,
        )


def _actor(user: Record) -> Actor:
    return Actor(user_id=user["id"], username=user["username"], department_id=user["department_id"])


def _at(warehouse: Record) -> Record:
    return {"warehouse_id": warehouse["id"]}


def _quantity(pieces: int) -> Any:
    return store_quantity(Decimal(pieces))


def _typed(values: Record) -> Record:
    amounts = {name: store_money(Decimal(values[name])) for name in ("price", "cost") if name in values}
    return values | amounts
