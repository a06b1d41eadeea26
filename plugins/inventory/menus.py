"""The menus of inventory, and the titles of its permissions."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message

MENUS = (
    Menu("inventory", Message("进销存", "Inventory"), path="/inventory", icon="lucide:warehouse", order=300),
    Menu(
        "inventory.product",
        Message("商品", "Products"),
        path="/inventory/products",
        parent="inventory",
        resource="inventory:product",
        icon="lucide:package",
        order=1,
    ),
    Menu(
        "inventory.warehouse",
        Message("仓库", "Warehouses"),
        path="/inventory/warehouses",
        parent="inventory",
        resource="inventory:warehouse",
        icon="lucide:warehouse",
        order=2,
    ),
    Menu(
        "inventory.supplier",
        Message("供应商", "Suppliers"),
        path="/inventory/suppliers",
        parent="inventory",
        resource="inventory:supplier",
        icon="lucide:truck",
        order=3,
    ),
    Menu(
        "inventory.purchase-order",
        Message("采购订单", "Purchase orders"),
        path="/inventory/purchase-orders",
        parent="inventory",
        resource="inventory:purchase-order",
        icon="lucide:shopping-cart",
        order=4,
    ),
    Menu(
        "inventory.receipt",
        Message("入库单", "Receipts"),
        path="/inventory/receipts",
        parent="inventory",
        resource="inventory:receipt",
        icon="lucide:package-plus",
        order=5,
    ),
    Menu(
        "inventory.sales-order",
        Message("销售订单", "Sales orders"),
        path="/inventory/sales-orders",
        parent="inventory",
        resource="inventory:sales-order",
        icon="lucide:receipt",
        order=6,
    ),
    Menu(
        "inventory.delivery",
        Message("出库单", "Deliveries"),
        path="/inventory/deliveries",
        parent="inventory",
        resource="inventory:delivery",
        icon="lucide:package-minus",
        order=7,
    ),
    Menu(
        "inventory.transfer",
        Message("调拨", "Transfers"),
        path="/inventory/transfers",
        parent="inventory",
        resource="inventory:transfer",
        icon="lucide:arrow-left-right",
        order=8,
    ),
    Menu(
        "inventory.stock-count",
        Message("盘点", "Stock counts"),
        path="/inventory/stock-counts",
        parent="inventory",
        resource="inventory:stock-count",
        icon="lucide:clipboard-check",
        order=9,
    ),
    Menu(
        "inventory.stock",
        Message("库存", "Stock"),
        path="/inventory/stock",
        parent="inventory",
        resource="inventory:stock",
        icon="lucide:boxes",
        order=10,
    ),
)

PERMISSIONS: Mapping[str, Message] = {
    "inventory:stock:ledger": Message("库存流水", "Ledger"),
}
