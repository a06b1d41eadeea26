"""A product on a shelf, and what people do with it over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.testing import Client, Reply, expect, unique

AT = "/api/v1/inventory"
LONG_AGO = "2000-01-01"  # so that tests may date what leaves as they like


@dataclass
class Goods:
    """A product and a warehouse that only this test uses."""

    client: Client
    product_id: str
    warehouse_id: str

    @classmethod
    async def fresh(cls, client: Client, **product: Any) -> Goods:
        """A product that was never in stock."""
        body = {"sku": unique("SKU"), "name": "goods", "price": "9.90", "cost": "4.00", **product}
        made = expect(await client.post(f"{AT}/products", body))
        goods = cls(client, made["id"], "")
        goods.warehouse_id = await goods.warehouse()
        return goods

    @classmethod
    async def stocked(cls, client: Client, quantity: Any, cost: str = "4.00", **further: Any) -> Goods:
        """A product with this much stock, at this cost, since long ago."""
        goods = await cls.fresh(client)
        expect(await goods.count(quantity, cost, **{"day": LONG_AGO, **further}))
        return goods

    async def warehouse(self) -> str:
        """Another warehouse."""
        code = unique("WH")
        return str(expect(await self.client.post(f"{AT}/warehouses", {"code": code, "name": code}))["id"])

    async def supplier(self) -> str:
        """A supplier."""
        code = unique("SUP")
        return str(expect(await self.client.post(f"{AT}/suppliers", {"code": code, "name": code}))["id"])

    async def count(self, quantity: Any, cost: str | None = None, **further: Any) -> Reply:
        """Count the stock."""
        line = {"product_id": self.product_id, "counted": str(quantity), "cost": cost}
        body = {"warehouse_id": self.warehouse_id, "lines": [line], **further}
        return await self.client.post(f"{AT}/stock-counts", body)

    async def purchase(self, quantity: Any, price: str | None = None) -> dict[str, Any]:
        """A purchase order that has gone out."""
        return await self._ordered("purchase-orders", {"supplier_id": await self.supplier()}, quantity, price)

    async def sale(self, quantity: Any, price: str | None = None, **line: Any) -> dict[str, Any]:
        """A confirmed sales order."""
        return await self._ordered("sales-orders", {"customer_name": "somebody"}, quantity, price, **line)

    async def _ordered(
        self, at: str, body: dict[str, Any], quantity: Any, price: str | None, **further: Any
    ) -> dict[str, Any]:
        line = {"product_id": self.product_id, "quantity": str(quantity), "price": price, **further}
        draft = {**body, "warehouse_id": self.warehouse_id, "lines": [line]}
        order = expect(await self.client.post(f"{AT}/{at}", draft))
        confirmed: dict[str, Any] = expect(await self.client.post(f"{AT}/{at}/{order['id']}/confirm"))
        return confirmed

    async def receive(self, order: dict[str, Any], quantity: Any = None, **further: Any) -> Reply:
        """Receive what is open, or this much of it."""
        return await self._ship("purchase-orders", "receive", order, quantity, further)

    async def deliver(self, order: dict[str, Any], quantity: Any = None, **further: Any) -> Reply:
        """Deliver what is open, or this much of it."""
        return await self._ship("sales-orders", "deliver", order, quantity, further)

    async def _ship(self, at: str, action: str, order: dict[str, Any], quantity: Any, further: dict[str, Any]) -> Reply:
        lines = [{"product_id": self.product_id, "quantity": str(quantity)}]
        body = {**({"lines": lines} if quantity else {}), **further}
        return await self.client.post(f"{AT}/{at}/{order['id']}/{action}", body)

    async def transfer(self, to: str, quantity: Any, **further: Any) -> Reply:
        """Move some to another warehouse."""
        line = {"product_id": self.product_id, "quantity": str(quantity)}
        body = {"from_warehouse_id": self.warehouse_id, "to_warehouse_id": to, "lines": [line], **further}
        return await self.client.post(f"{AT}/transfers", body)

    async def stock(self, warehouse_id: str | None = None) -> tuple[str, str]:
        """Quantity and value in a warehouse, read over HTTP."""
        where = f"product_id={self.product_id}&warehouse_id={warehouse_id or self.warehouse_id}"
        rows = expect(await self.client.get(f"{AT}/stock?{where}"))["items"]
        return (rows[0]["quantity"], rows[0]["value"]) if rows else ("0", "0.00")

    async def ledger(self) -> list[dict[str, Any]]:
        """Every movement of the product, oldest first."""
        query = f"product_id={self.product_id}&page_size=200&sort=created_at"
        rows: list[dict[str, Any]] = expect(await self.client.get(f"{AT}/stock/ledger?{query}"))["items"]
        return rows
