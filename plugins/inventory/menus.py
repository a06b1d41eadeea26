"""The menus of inventory, and the titles of its permissions."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message, page

MENUS = (
    Menu("inventory", Message("进销存", "Inventory"), path="/inventory", icon="lucide:warehouse", order=300),
    page("inventory:product", ("商品", "Products"), "/inventory/products", "lucide:package", 1),
    page("inventory:warehouse", ("仓库", "Warehouses"), "/inventory/warehouses", "lucide:warehouse", 2),
    page("inventory:supplier", ("供应商", "Suppliers"), "/inventory/suppliers", "lucide:truck", 3),
    page(
        "inventory:purchase-order",
        ("采购订单", "Purchase orders"),
        "/inventory/purchase-orders",
        "lucide:shopping-cart",
        4,
    ),
    page("inventory:receipt", ("入库单", "Receipts"), "/inventory/receipts", "lucide:package-plus", 5),
    page("inventory:sales-order", ("销售订单", "Sales orders"), "/inventory/sales-orders", "lucide:receipt", 6),
    page("inventory:delivery", ("出库单", "Deliveries"), "/inventory/deliveries", "lucide:package-minus", 7),
    page("inventory:transfer", ("调拨", "Transfers"), "/inventory/transfers", "lucide:arrow-left-right", 8),
    page("inventory:stock-count", ("盘点", "Stock counts"), "/inventory/stock-counts", "lucide:clipboard-check", 9),
    page("inventory:stock", ("库存", "Stock"), "/inventory/stock", "lucide:boxes", 10),
    page(
        "inventory:purchase-return",
        ("采购退货", "Purchase returns"),
        "/inventory/purchase-returns",
        "lucide:undo-2",
        11,
    ),
    page("inventory:sales-return", ("销售退货", "Sales returns"), "/inventory/sales-returns", "lucide:redo-2", 12),
)

PERMISSIONS: Mapping[str, Message] = {
    "inventory:purchase-order:hold": Message("挂起", "Hold"),
    "inventory:sales-order:hold": Message("挂起", "Hold"),
    "inventory:stock:ledger": Message("库存流水", "Stock ledger"),
    "inventory:transfer:reverse": Message("冲销", "Reverse"),
    "inventory:stock-count:reverse": Message("冲销", "Reverse"),
    "inventory:receipt:return": Message("采购退货", "Return to the supplier"),
    "inventory:receipt:reverse": Message("冲销", "Reverse"),
    "inventory:purchase-return:reverse": Message("冲销", "Reverse"),
    "inventory:sales-return:reverse": Message("冲销", "Reverse"),
    "inventory:delivery:return": Message("销售退货", "Return from the customer"),
    "inventory:delivery:reverse": Message("冲销", "Reverse"),
}
