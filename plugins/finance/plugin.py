"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from functools import partial

from plugins.api import DATED, PAYABLE_CHANGED, RECEIVABLE_CHANGED, Listener, Message, Plugin, routes_of
from plugins.finance import accounts, claims, credit_notes, demo, invoices, open_items, periods, tables, vouchers
from plugins.finance.credit_note_records import CREDIT_NOTES
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.documents import EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.records import ACCOUNTS, PERIODS, VOUCHERS

plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    demo=demo.load,
    emits=(vouchers.REVERSED_EVENT, credit_notes.CREDITED),
    listens=(
        Listener(vouchers.REVERSED_EVENT, claims.reopen_payment),
        Listener(vouchers.REVERSED_EVENT, invoices.reopen_payment),
        Listener(vouchers.REVERSED_EVENT, open_items.reopen_payment),
        Listener(DATED, periods.check_open, periods.DATED_REFUSALS),
        Listener(RECEIVABLE_CHANGED, partial(open_items.update_from_event, "out")),
        Listener(PAYABLE_CHANGED, partial(open_items.update_from_event, "in")),
    ),
    collections=(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, CREDIT_NOTES, OPEN_ITEMS),
    biz_types={"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES},
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=routes_of(accounts, vouchers, periods, claims, invoices, credit_notes, open_items, tables),
    menus=MENUS,
    permissions=PERMISSIONS,
)
