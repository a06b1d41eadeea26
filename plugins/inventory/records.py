"""The lasting records of inventory: products, warehouses, suppliers, and the stock with its ledger."""

from __future__ import annotations

from typing import Unpack

from plugins.api import Collection, Field, FieldOptions, Index, choice, integer, money, object_id, quantity, text
from plugins.api import day as calendar_day

MAX_QUANTITY = "999999999.9999"
MAX_PRICE = "999999999.99"
ENTRY_KINDS = ("receipt", "delivery", "transfer_in", "transfer_out", "count")
_STATUS = choice("enabled", "disabled", default="enabled", filter=True, nullable=False)


def price(**options: Unpack[FieldOptions]) -> Field:
    """An amount for one unit."""
    return money(minimum="0", maximum=MAX_PRICE, **options)


PRODUCTS = Collection(
    name="inventory_products",
    code="sku",
    title="Product",
    scoped=True,
    fields={
        "sku": text(required=True, max_length=64, sort=True, filter=True, search=True, example="SKU-0001"),
        "name": text(required=True, max_length=200, sort="folded", search=True, example="铝合金支架"),
        "unit": text(max_length=32, min_length=1, default="piece", example="piece"),
        "category": text(max_length=64, filter=True, sort=True, example="parts"),
        "price": price(sort=True, description="Sales price for one unit: what an order line takes unless it says."),
        "cost": price(description="Purchase price for one unit: what an order line takes unless it says."),
        "status": _STATUS,
        "remark": text(max_length=2000),
    },
    indexes=(Index("sku", unique=True),),
    internal=("stock_rows",),
)

WAREHOUSES = Collection(
    name="inventory_warehouses",
    title="Warehouse",
    scoped=True,
    fields={
        "code": text(required=True, max_length=64, sort=True, filter=True, search=True, example="WH-01"),
        "name": text(required=True, max_length=200, sort="folded", search=True, example="上海仓"),
        "address": text(max_length=500),
        "manager_id": integer(minimum=1, filter=True, ref="rbac_users"),
        "status": _STATUS,
        "remark": text(max_length=2000),
    },
    indexes=(Index("code", unique=True),),
    internal=("stock_rows",),
)

SUPPLIERS = Collection(
    name="inventory_suppliers",
    title="Supplier",
    scoped=True,
    fields={
        "code": text(required=True, max_length=64, sort=True, filter=True, search=True, example="SUP-0001"),
        "name": text(required=True, max_length=200, sort="folded", search=True, example="华东金属"),
        "contact": text(max_length=100, search=True),
        "phone": text(max_length=50, example="021-5555 0200"),
        "email": text(max_length=200, format="email", example="orders@example.com"),
        "address": text(max_length=500),
        "status": _STATUS,
        "remark": text(max_length=2000),
    },
    indexes=(Index("code", unique=True),),
)

_WAREHOUSE_OWNER = {
    "warehouse_creator_id": integer(minimum=0, read_only=True, nullable=False),
    "warehouse_department_id": integer(minimum=1, read_only=True),
}

STOCK = Collection(
    name="inventory_stock",
    title="Stock",
    scoped=True,
    # who sees a warehouse sees what is in it, whoever brought it there
    scope_department="warehouse_department_id",
    scope_person="warehouse_creator_id",
    fields={
        "product_id": object_id(read_only=True, nullable=False, filter=True),
        "warehouse_id": object_id(read_only=True, nullable=False, filter=True),
        "quantity": quantity(read_only=True, nullable=False, filter=True, sort=True),
        "value": money(read_only=True, nullable=False, sort=True, description="What the quantity cost, to the cent."),
        "average_cost": money(read_only=True, nullable=False, description="`value` for one unit: the moving average."),
        **_WAREHOUSE_OWNER,
    },
    indexes=(
        Index("product_id", "warehouse_id", unique=True),
        Index("warehouse_id", "-created_at"),
        Index("product_id", "-created_at"),
    ),
)

STOCK_ENTRIES = Collection(
    name="inventory_stock_entries",
    title="StockEntry",
    scoped=True,
    scope_department="warehouse_department_id",
    scope_person="warehouse_creator_id",
    fields={
        "product_id": object_id(read_only=True, nullable=False, filter=True),
        "warehouse_id": object_id(read_only=True, nullable=False, filter=True),
        "kind": choice(*ENTRY_KINDS, read_only=True, nullable=False, filter=True),
        "day": calendar_day(read_only=True, nullable=False, filter=True, sort=True),
        "quantity": quantity(read_only=True, nullable=False, description="What came in; below zero what went out."),
        "value": money(read_only=True, nullable=False, description="The value that moved with it."),
        "quantity_after": quantity(read_only=True, nullable=False),
        "value_after": money(read_only=True, nullable=False),
        "document_id": object_id(read_only=True, nullable=False, filter=True),
        "document_number": text(max_length=32, read_only=True, nullable=False, filter=True),
        **_WAREHOUSE_OWNER,
    },
    indexes=(
        Index("warehouse_id", "-created_at"),
        Index("product_id", "-created_at"),
        Index("document_id"),
        Index("day"),
    ),
)
