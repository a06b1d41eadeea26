"""Purchasing, sales and stock."""

from __future__ import annotations

from plugins.api import Message, Plugin, View, routes_of
from plugins.api.business import Suppliers
from plugins.api.records import Holding
from plugins.inventory import demo, master_data, tables
from plugins.inventory.audits import AUDITS, DEBTS
from plugins.inventory.dashboards import DASHBOARDS
from plugins.inventory.dictionaries import DICTIONARIES
from plugins.inventory.listening import LISTENS, start
from plugins.inventory.menus import MENUS, PERMISSIONS
from plugins.inventory.migrations import MIGRATIONS
from plugins.inventory.numbers import OPTIONS
from plugins.inventory.orders import changes, purchase_orders, sales_orders, shipments
from plugins.inventory.orders.change_records import PURCHASE_ORDER_CHANGES, SALES_ORDER_CHANGES
from plugins.inventory.orders.records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.orders.trades import PURCHASE, SALE
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, SUPPLIERS, WAREHOUSES
from plugins.inventory.returns import purchase_returns, sales_returns
from plugins.inventory.returns.records import PURCHASE_RETURNS, SALES_RETURNS
from plugins.inventory.stock import counts, stock, transfers
from plugins.inventory.stock.records import STOCK_COUNTS, TRANSFERS

_MASTER_DATA = (PRODUCTS, WAREHOUSES, SUPPLIERS)
_DOCUMENTS = (PURCHASE_ORDERS, SALES_ORDERS, RECEIPTS, DELIVERIES, TRANSFERS, STOCK_COUNTS)
_LATER = (PURCHASE_RETURNS, SALES_RETURNS, PURCHASE_ORDER_CHANGES, SALES_ORDER_CHANGES)

plugin = Plugin(
    name="inventory",
    title=Message("进销存", "Inventory"),
    requires=("rbac",),
    provides=(Suppliers,),
    start=start,
    demo=demo.load,
    collections=(*_MASTER_DATA, *_DOCUMENTS, *_LATER, STOCK, STOCK_ENTRIES),
    views=(
        View(PURCHASE_ORDERS, due="expected_on", due_only={"status": "ordered,partly_received"}),
        View(SALES_ORDERS, due="expected_on", due_only={"status": "confirmed,partly_delivered"}),
    ),
    emits=tuple(
        event for trade in (PURCHASE, SALE) for event in (trade.returned, trade.reversed, trade.return_reversed)
    ),
    listens=LISTENS,
    biz_types={
        "PRODUCT": PRODUCTS,
        "SUPPLIER": SUPPLIERS,
        **{trade.biz_type: trade.orders for trade in (PURCHASE, SALE)},
    },
    holdings=(Holding(WAREHOUSES, "manager_id"), Holding(SALES_ORDERS, "salesperson_id")),
    migrations=MIGRATIONS,
    audits=AUDITS,
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=routes_of(
        master_data,
        purchase_orders,
        sales_orders,
        shipments,
        purchase_returns,
        sales_returns,
        transfers,
        counts,
        changes,
        stock,
        tables,
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
