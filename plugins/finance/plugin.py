"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from plugins.api import Message, Plugin, routes_of
from plugins.api.business import Books, Rates
from plugins.finance import (
    adjustments,
    ageing,
    audit_runs,
    balances,
    books,
    claims,
    demo,
    dunning,
    e_invoices,
    exchange_differences,
    exchange_rates,
    invoices,
    journals,
    migrations,
    month_end,
    open_items,
    opening_items,
    payments,
    reallocations,
    statements,
    tables,
    taxes,
    unbilled,
)
from plugins.finance.audits import AUDITS, DEBTS, MONEY_AUDITS
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.entries import ENTRIES, MARKING, PAYMENT
from plugins.finance.listening import LISTENS, start
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.payment_records import ADJUSTMENTS, OPEN_ITEMS, PAYMENT_NUMBERS, PAYMENTS
from plugins.finance.prints import PRINTS
from plugins.finance.records import ACCOUNTS, CREDIT_NOTES, INVOICES, PERIODS, VOUCHERS
from plugins.finance.views import VIEWS

_NUMBERS = (claims.CLAIM_NUMBERS, *invoices.NUMBERS, PAYMENT_NUMBERS, adjustments.NUMBERS)
plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    settings=audit_runs.FinanceSettings,
    provides=(Books, Rates),
    start=start,
    demo=demo.load,
    emits=(books.REVERSED_EVENT, invoices.CREDITED, invoices.NOTE_REVERSED),
    listens=LISTENS,
    collections=(
        *(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, CREDIT_NOTES),
        *(OPEN_ITEMS, ENTRIES, PAYMENTS, ADJUSTMENTS, opening_items.OPENING_ITEMS, audit_runs.LEDGER_AUDITS),
        *(exchange_rates.EXCHANGE_RATES, exchange_differences.EXCHANGE_DIFFERENCES),
    ),
    biz_types={
        **{"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES},
        **{PAYMENT: PAYMENTS, open_items.OPENING: opening_items.OPENING_ITEMS},
    },
    jobs=(audit_runs.AUDITING, MARKING),
    migrations=(migrations.FILLING, invoices.KEYS, migrations.BILLS),
    audits=(*AUDITS, *MONEY_AUDITS),
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *routes_of(books, claims, invoices, open_items, adjustments, payments, reallocations, opening_items),
        *routes_of(statements, balances, journals, ageing, dunning, taxes, unbilled, month_end, e_invoices),
        *routes_of(exchange_rates, exchange_differences, audit_runs, tables),
    ),
    menus=MENUS,
    views=VIEWS,
    prints=PRINTS,
    permissions=PERMISSIONS,
    options=(exchange_rates.BASE, *e_invoices.OPTIONS, *(one.option for one in _NUMBERS)),
)
