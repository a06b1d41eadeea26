"""Purchasing, sales and stock."""

from __future__ import annotations

from plugins.api import Message, Plugin, routes_of
from plugins.api.business import PricedLines, Suppliers
from plugins.api.records import Holding
from plugins.inventory import (
    demo,
    margins,
    master_data,
    orders,
    prices,
    quotations,
    reordering,
    returns,
    revisions,
    shipping,
    stock,
    stock_documents,
    tables,
)
from plugins.inventory.audits import AUDITS, DEBTS
from plugins.inventory.dashboards import DASHBOARDS
from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.listening import LISTENS, start
from plugins.inventory.migrations import MIGRATIONS
from plugins.inventory.numbers import OPTIONS
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.prints import PRINTS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.records import MASTER_DATA, PRODUCTS, STOCK, STOCK_ENTRIES, SUPPLIERS, WAREHOUSES
from plugins.inventory.texts import DICTIONARIES, MENUS, PERMISSIONS
from plugins.inventory.trades import PURCHASE, SALE
from plugins.inventory.views import VIEWS

_DOCUMENTS = (QUOTATIONS, PURCHASE_ORDERS, SALES_ORDERS, RECEIPTS, DELIVERIES, TRANSFERS, STOCK_COUNTS)
_TRADES = (PURCHASE, SALE)
_LATER = (*(one.returns for one in _TRADES), *(one.changes for one in _TRADES), *(one.revisions for one in _TRADES))

plugin = Plugin(
    name="inventory",
    title=Message("进销存", "Inventory"),
    requires=("rbac",),
    provides=(PricedLines, Suppliers),
    start=start,
    demo=demo.load,
    collections=(*MASTER_DATA, *_DOCUMENTS, *_LATER, STOCK, STOCK_ENTRIES),
    views=VIEWS,
    prints=PRINTS,
    emits=tuple(
        event for trade in _TRADES for event in (trade.revised, trade.returned, trade.reversed, trade.return_reversed)
    ),
    listens=LISTENS,
    biz_types={
        **{"PRODUCT": PRODUCTS, "SUPPLIER": SUPPLIERS, "QUOTATION": QUOTATIONS},
        **{trade.biz_type: trade.orders for trade in _TRADES},
        "PURCHASE_ORDER_REVISION": PURCHASE.revisions,
    },
    holdings=(
        Holding(WAREHOUSES, "manager_id"),
        *(Holding(one, "salesperson_id") for one in (QUOTATIONS, SALES_ORDERS)),
    ),
    migrations=MIGRATIONS,
    audits=AUDITS,
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=routes_of(
        *(master_data, prices, quotations, orders, revisions, shipping, returns),
        *(stock_documents, stock, reordering, margins, tables),
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=(*OPTIONS, orders.TAX_ROUNDING),
)
