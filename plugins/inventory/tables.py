"""Tables of inventory. Documents have a row for each line; orders and quotations can be imported, as drafts."""

from __future__ import annotations

from dataclasses import replace

from plugins.api import Route, tables
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.quotations import list_quotations
from plugins.inventory.records import PRICES, PRODUCTS, REORDER_LEVELS, STOCK, STOCK_ENTRIES, SUPPLIERS, WAREHOUSES
from plugins.inventory.reservations import list_products
from plugins.inventory.return_records import PURCHASE_RETURNS, SALES_RETURNS
from plugins.inventory.stock import LIST_QUERY, list_stock

_EXPORT = ("export",)
_LEDGER = tables(STOCK_ENTRIES, at="/api/v1/inventory/stock/ledger", resource="inventory:stock", only=_EXPORT)
ROUTES: tuple[Route, ...] = (
    *tables(PRODUCTS, at="/api/v1/inventory/products", resource="inventory:product", lister=list_products),
    *tables(PRICES, at="/api/v1/inventory/prices", resource="inventory:price"),
    *tables(REORDER_LEVELS, at="/api/v1/inventory/reorder-levels", resource="inventory:reorder-level"),
    *tables(WAREHOUSES, at="/api/v1/inventory/warehouses", resource="inventory:warehouse"),
    *tables(SUPPLIERS, at="/api/v1/inventory/suppliers", resource="inventory:supplier"),
    *tables(
        STOCK,
        at="/api/v1/inventory/stock",
        resource="inventory:stock",
        only=_EXPORT,
        lister=list_stock,
        query=LIST_QUERY,
    ),
    # who may list the ledger may export it
    *(replace(one, access="inventory:stock:ledger") for one in _LEDGER),
    *tables(
        PURCHASE_ORDERS,
        at="/api/v1/inventory/purchase-orders",
        resource="inventory:purchase-order",
        lines="lines",
    ),
    *tables(
        QUOTATIONS,
        at="/api/v1/inventory/quotations",
        resource="inventory:quotation",
        lister=list_quotations,
        lines="lines",
    ),
    *tables(SALES_ORDERS, at="/api/v1/inventory/sales-orders", resource="inventory:sales-order", lines="lines"),
    *tables(RECEIPTS, at="/api/v1/inventory/receipts", resource="inventory:receipt", only=_EXPORT, lines="lines"),
    *tables(DELIVERIES, at="/api/v1/inventory/deliveries", resource="inventory:delivery", only=_EXPORT, lines="lines"),
    *tables(
        PURCHASE_RETURNS,
        at="/api/v1/inventory/purchase-returns",
        resource="inventory:purchase-return",
        only=_EXPORT,
        lines="lines",
    ),
    *tables(
        SALES_RETURNS,
        at="/api/v1/inventory/sales-returns",
        resource="inventory:sales-return",
        only=_EXPORT,
        lines="lines",
    ),
)
