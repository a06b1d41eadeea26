"""Demonstration stock: half a year of buying and selling, through the handlers of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import ALL_ROWS, Actor, Collection, Request, Service, perform, store_money, store_quantity, utc_now
from plugins.inventory import orders, purchase_orders, sales_orders, stock_counts, transfers
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.trades import PURCHASE, SALE, Trade
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
    """Create products, two warehouses with stock, and six months of orders by the demonstration users."""
    directory = service.part(Directory)
    buyer, seller = await directory.by_username("manager"), await directory.by_username("sales")
    boss = await directory.user(1)
    if buyer and seller and boss:
        await _Trading(service, _make_actor(buyer), _make_actor(seller), _make_actor(boss)).run()


class _Trading:
    def __init__(self, service: Service, buyer: Actor, seller: Actor, boss: Actor) -> None:
        self.service, self.buyer, self.seller, self.boss = service, buyer, seller, boss
        self.start = utc_now() - timedelta(days=30 * _MONTHS - 10)

    async def run(self) -> None:
        """Create master data and opening stock, then one purchase and one sale a month, and a transfer at the end."""
        self.products = await self._create_all(
            PRODUCTS, ("sku", "name", "unit", "category", "price", "cost"), _PRODUCTS
        )
        self.warehouses = await self._create_all(WAREHOUSES, ("code", "name", "address"), _WAREHOUSES)
        self.suppliers = await self._create_all(SUPPLIERS, ("code", "name", "contact"), _SUPPLIERS)
        for warehouse in self.warehouses:
            lines = [{"product_id": one["id"], "counted": _to_quantity(120)} for one in self.products]
            await stock_counts.count(self._make_request(self.buyer, self.start, {**_at(warehouse), "lines": lines}))
        for month in range(_MONTHS):
            await self._trade_in_month(month, self.start + timedelta(days=30 * month))
        await transfers.transfer(
            self._make_request(
                self.buyer,
                utc_now(),
                {
                    "from_warehouse_id": self.warehouses[0]["id"],
                    "to_warehouse_id": self.warehouses[1]["id"],
                    "lines": [self._make_line(0, 15)],
                },
            )
        )

    async def _trade_in_month(self, month: int, at: datetime) -> None:
        warehouse = self.warehouses[month % 2]
        bought = {
            **_at(warehouse),
            "supplier_id": self.suppliers[month % 2]["id"],
            "lines": [self._make_line(month, 40 + 5 * month), self._make_line(month + 1, 30)],
        }
        sold = {
            **_at(warehouse),
            "customer_name": _CUSTOMERS[month % len(_CUSTOMERS)],
            "salesperson_id": self.seller.user_id,
            "lines": [self._make_line(month, 25 + 4 * month), self._make_line(month + 1, 20)],
        }
        await self._trade(PURCHASE, self.buyer, at, bought)
        await self._trade(SALE, self.seller, at + timedelta(days=3), sold)

    async def _trade(self, trade: Trade, actor: Actor, at: datetime, body: Record) -> None:
        order: Any = await orders.make_create_handler(trade)(self._make_request(actor, at, body))
        path = {"id": str(order["id"])}
        # nobody confirms a purchase order of their own
        confirming = self.boss if trade is PURCHASE else actor
        routes = purchase_orders.ROUTES if trade is PURCHASE else sales_orders.ROUTES
        await perform(routes, "confirm", self._make_request(confirming, at, {}, path))
        await perform(routes, "ship", self._make_request(actor, at, {}, path))

    async def _create_all(
        self, collection: Collection, names: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> list[Record]:
        store = self.service.database.store(collection, self.buyer, now=self.start)
        return [await store.create(_convert_amounts(dict(zip(names, row, strict=True)))) for row in rows]

    def _make_line(self, product: int, pieces: int) -> Record:
        return {"product_id": self.products[product % len(self.products)]["id"], "quantity": _to_quantity(pieces)}

    def _make_request(self, actor: Actor, at: datetime, body: Record, path: dict[str, str] | None = None) -> Request:
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


def _make_actor(user: Record) -> Actor:
    return Actor(user_id=user["id"], username=user["username"], department_id=user["department_id"])


def _at(warehouse: Record) -> Record:
    return {"warehouse_id": warehouse["id"]}


def _to_quantity(pieces: int) -> Any:
    return store_quantity(Decimal(pieces))


def _convert_amounts(values: Record) -> Record:
    amounts = {name: store_money(Decimal(values[name])) for name in ("price", "cost") if name in values}
    return values | amounts
