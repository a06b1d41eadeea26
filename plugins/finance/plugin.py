"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from plugins.api import Job, Message, Plugin, View, routes_of
from plugins.finance import (
    accounts,
    ageing,
    auditing,
    audits,
    claims,
    credit_notes,
    demo,
    dunning,
    entries,
    filling,
    invoices,
    older_bills,
    open_items,
    payables,
    payments,
    periods,
    reallocations,
    same_papers,
    statements,
    tables,
    vouchers,
)
from plugins.finance.audit_records import LEDGER_AUDITS
from plugins.finance.credit_note_records import CREDIT_NOTES
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.documents import EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS
from plugins.finance.entries import ENTRIES
from plugins.finance.ledger_audits import AUDITS, DEBTS
from plugins.finance.lifespan import start
from plugins.finance.listening import LISTENS
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.money_audits import AUDITS as MONEY_AUDITS
from plugins.finance.payment_records import PAYMENT_NUMBERS, PAYMENTS
from plugins.finance.records import ACCOUNTS, PERIODS, VOUCHERS
from plugins.finance.settings import FinanceSettings
from plugins.finance.settled_entries import MARKING

_AUDIT = Message("核对账目", "Audit the ledgers")

plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    settings=FinanceSettings,
    start=start,
    demo=demo.load,
    emits=(vouchers.REVERSED_EVENT, credit_notes.CREDITED, credit_notes.NOTE_REVERSED),
    listens=LISTENS,
    collections=(
        *(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, CREDIT_NOTES),
        *(OPEN_ITEMS, ENTRIES, PAYMENTS, LEDGER_AUDITS),
    ),
    biz_types={"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES, entries.PAYMENT: PAYMENTS},
    jobs=(Job("finance.audit", "finance_audit_resume_seconds", auditing.audit_if_due, _AUDIT), MARKING),
    migrations=(filling.FILLING, same_papers.KEYS, older_bills.BILLS),
    audits=(*AUDITS, *MONEY_AUDITS),
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *routes_of(accounts, vouchers, periods, claims, invoices, credit_notes, open_items, payables, payments),
        *routes_of(reallocations),
        *routes_of(statements, ageing, dunning, audits, tables),
    ),
    menus=MENUS,
    views=(View(PERIODS, columns=("id", "closed", "closed_at", "closed_by", "last_number")),),  # the id is the month
    permissions=PERMISSIONS,
    options=(claims.CLAIM_NUMBERS.option, credit_notes.CREDIT_NOTE_NUMBERS.option, PAYMENT_NUMBERS.option),
)
