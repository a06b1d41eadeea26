"""What plugins that require inventory may import. Its events are heard by their names."""

from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, SUPPLIERS, WAREHOUSES
from plugins.inventory.return_records import PURCHASE_RETURNS, SALES_RETURNS

__all__ = [
    "DELIVERIES",
    "PRODUCTS",
    "PURCHASE_ORDERS",
    "PURCHASE_RETURNS",
    "QUOTATIONS",
    "RECEIPTS",
    "SALES_ORDERS",
    "SALES_RETURNS",
    "STOCK",
    "STOCK_COUNTS",
    "STOCK_ENTRIES",
    "SUPPLIERS",
    "TRANSFERS",
    "WAREHOUSES",
]
