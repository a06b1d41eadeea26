"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from plugins.api import Message, Plugin
from plugins.finance import accounts, claims, demo, invoices, open_items, periods, tables, vouchers
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.documents import EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS
from plugins.finance.lifespan import start
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.records import ACCOUNTS, PERIODS, VOUCHERS

plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    start=start,
    demo=demo.load,
    event_refusals={periods.DATED_EVENT: periods.DATED_REFUSALS},
    collections=(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS),
    biz_types={"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES},
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *accounts.ROUTES,
        *vouchers.ROUTES,
        *periods.ROUTES,
        *claims.ROUTES,
        *invoices.ROUTES,
        *open_items.ROUTES,
        *tables.ROUTES,
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
)
