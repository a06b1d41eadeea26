"""The numbering of the documents of inventory."""

from __future__ import annotations

from plugins.api.records import Numbering
from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.return_records import PURCHASE_RETURNS, SALES_RETURNS

QUOTATION_NUMBERS = Numbering("inventory_quotation_number", QUOTATIONS.noun, "QT", "inventory:QT")
PURCHASE_ORDER_NUMBERS = Numbering("inventory_purchase_order_number", PURCHASE_ORDERS.noun, "PO", "inventory:PO")
SALES_ORDER_NUMBERS = Numbering("inventory_sales_order_number", SALES_ORDERS.noun, "SO", "inventory:SO")
RECEIPT_NUMBERS = Numbering("inventory_receipt_number", RECEIPTS.noun, "GR", "inventory:GR")
DELIVERY_NUMBERS = Numbering("inventory_delivery_number", DELIVERIES.noun, "DN", "inventory:DN")
TRANSFER_NUMBERS = Numbering("inventory_transfer_number", TRANSFERS.noun, "TR", "inventory:TR")
STOCK_COUNT_NUMBERS = Numbering("inventory_stock_count_number", STOCK_COUNTS.noun, "SC", "inventory:SC")
PURCHASE_RETURN_NUMBERS = Numbering("inventory_purchase_return_number", PURCHASE_RETURNS.noun, "PR", "inventory:PR")
SALES_RETURN_NUMBERS = Numbering("inventory_sales_return_number", SALES_RETURNS.noun, "SR", "inventory:SR")
OPTIONS = tuple(
    numbers.option
    for numbers in (
        QUOTATION_NUMBERS,
        PURCHASE_ORDER_NUMBERS,
        SALES_ORDER_NUMBERS,
        RECEIPT_NUMBERS,
        DELIVERY_NUMBERS,
        TRANSFER_NUMBERS,
        STOCK_COUNT_NUMBERS,
        PURCHASE_RETURN_NUMBERS,
        SALES_RETURN_NUMBERS,
    )
)
