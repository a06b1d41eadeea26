"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from plugins.api import Job, Message, Plugin, View, routes_of
from plugins.api.business import Books
from plugins.finance import demo, tables
from plugins.finance.audit import routes, runs
from plugins.finance.audit.book_checks import AUDITS, DEBTS
from plugins.finance.audit.payment_checks import AUDITS as MONEY_AUDITS
from plugins.finance.audit.records import LEDGER_AUDITS
from plugins.finance.books import accounts, periods, vouchers
from plugins.finance.books.records import ACCOUNTS, PERIODS, VOUCHERS
from plugins.finance.claims import claims
from plugins.finance.claims.records import EXPENSE_CLAIMS
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.invoices import credit_notes, duplicates, invoices
from plugins.finance.invoices.records import CREDIT_NOTES, INVOICES
from plugins.finance.lifespan import start
from plugins.finance.listening import LISTENS
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.migrations import billed_items, missing_items
from plugins.finance.open_items import entries, open_items
from plugins.finance.open_items.entries import ENTRIES
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.open_items.settled_entries import MARKING
from plugins.finance.payments import payables, payments, reallocations
from plugins.finance.payments.records import PAYMENT_NUMBERS, PAYMENTS
from plugins.finance.reports import ageing, dunning, statements
from plugins.finance.settings import FinanceSettings

_AUDIT = Message("核对账目", "Audit the ledgers")

plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    settings=FinanceSettings,
    provides=(Books,),
    start=start,
    demo=demo.load,
    emits=(vouchers.REVERSED_EVENT, credit_notes.CREDITED, credit_notes.NOTE_REVERSED),
    listens=LISTENS,
    collections=(
        *(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, CREDIT_NOTES),
        *(OPEN_ITEMS, ENTRIES, PAYMENTS, LEDGER_AUDITS),
    ),
    biz_types={"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES, entries.PAYMENT: PAYMENTS},
    jobs=(Job("finance.audit", "finance_audit_resume_seconds", runs.audit_if_due, _AUDIT), MARKING),
    migrations=(missing_items.FILLING, duplicates.KEYS, billed_items.BILLS),
    audits=(*AUDITS, *MONEY_AUDITS),
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *routes_of(accounts, vouchers, periods, claims, invoices, credit_notes, open_items, payables, payments),
        *routes_of(reallocations),
        *routes_of(statements, ageing, dunning, routes, tables),
    ),
    menus=MENUS,
    views=(
        View(PERIODS, columns=("id", "closed", "closed_at", "closed_by", "last_number")),  # the id is the month
        View(OPEN_ITEMS, due="due_on", due_only={"status": "open,partly_paid"}),
    ),
    permissions=PERMISSIONS,
    options=(claims.CLAIM_NUMBERS.option, credit_notes.CREDIT_NOTE_NUMBERS.option, PAYMENT_NUMBERS.option),
)
