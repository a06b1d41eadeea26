"""Demonstration stock: half a year of buying and selling, through the handlers of the API."""

from __future__ import annotations

from datetime import datetime, timedelta

from plugins.api import Actor, Collection, Record, Service, utc_now
from plugins.api.records import Demonstration
from plugins.api.values import ReadOnlyRecord
from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.order_records import PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.rbac.api import people_of_the_demo

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
    people = await people_of_the_demo(service)
    if people:
        await _Trading(service, people["manager"], people["sales"], people["admin"]).run()


class _Trading:
    def __init__(self, service: Service, buyer: Actor, seller: Actor, boss: Actor) -> None:
        self.buyer, self.seller, self.boss = buyer, seller, boss
        self.demo, self.start = Demonstration(service), utc_now() - timedelta(days=30 * _MONTHS - 10)

    async def run(self) -> None:
        """Create master data and opening stock, then one purchase and one sale a month, and a transfer at the end."""
        self.products = await self._create_all(PRODUCTS, "sku name unit category price cost", _PRODUCTS)
        self.warehouses = await self._create_all(WAREHOUSES, "code name address", _WAREHOUSES)
        self.suppliers = await self._create_all(SUPPLIERS, "code name contact", _SUPPLIERS)
        for warehouse in self.warehouses:
            lines = [{"product_id": one["id"], "counted": "120"} for one in self.products]
            await self.demo.create(STOCK_COUNTS, {**_at(warehouse), "lines": lines}, self.buyer, self.start)
        for month in range(_MONTHS):
            await self._trade_in_month(month, self.start + timedelta(days=30 * month))
        first, second = (one["id"] for one in self.warehouses)
        moved = {"from_warehouse_id": first, "to_warehouse_id": second, "lines": [self._make_line(0, 15)]}
        await self.demo.create(TRANSFERS, moved, self.buyer)
        for place, actions in enumerate(((), ("send",), ("send", "accept"))):
            await self._quote(place, actions)

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
        # nobody may confirm their own purchase order
        await self._trade(PURCHASE_ORDERS, self.buyer, self.boss, at, bought)
        await self._trade(SALES_ORDERS, self.seller, self.seller, at + timedelta(days=3), sold)

    async def _quote(self, place: int, actions: tuple[str, ...]) -> None:
        body = {
            "customer_name": _CUSTOMERS[place],
            "salesperson_id": self.seller.user_id,
            "valid_until": (utc_now() + timedelta(days=30)).date().isoformat(),
            "lines": [self._make_line(place, 20), self._make_line(place + 1, 5)],
        }
        quotation = await self.demo.create(QUOTATIONS, body, self.seller)
        for action in actions:
            await self.demo.act(QUOTATIONS, action, quotation, self.seller)

    async def _trade(self, orders: Collection, actor: Actor, confirming: Actor, at: datetime, body: Record) -> None:
        order = await self.demo.create(orders, body, actor, at)
        await self.demo.act(orders, "confirm", order, confirming, at)
        await self.demo.act(orders, "ship", order, actor, at)

    async def _create_all(self, collection: Collection, names: str, rows: tuple[tuple[str, ...], ...]) -> list[Record]:
        return await self.demo.create_all(collection, names.split(), rows, self.buyer, self.start)

    def _make_line(self, product: int, pieces: int) -> Record:
        return {"product_id": self.products[product % len(self.products)]["id"], "quantity": str(pieces)}


def _at(warehouse: ReadOnlyRecord) -> Record:
    return {"warehouse_id": warehouse["id"]}
