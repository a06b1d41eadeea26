"""Finance: accounts, vouchers, periods, expense claims, invoices, receivables and payables."""

from __future__ import annotations

from functools import partial

from plugins.api import DATED, PAYABLE_CHANGED, RECEIVABLE_CHANGED, Job, Listener, Message, Plugin, routes_of
from plugins.finance import (
    accounts,
    auditing,
    audits,
    claims,
    credit_notes,
    demo,
    invoices,
    open_items,
    periods,
    tables,
    vouchers,
)
from plugins.finance.audit_records import LEDGER_AUDITS
from plugins.finance.credit_note_records import CREDIT_NOTES
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.documents import EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS
from plugins.finance.ledger_audits import AUDITS, DEBTS
from plugins.finance.lifespan import start
from plugins.finance.menus import MENUS, PERMISSIONS
from plugins.finance.records import ACCOUNTS, PERIODS, VOUCHERS
from plugins.finance.settings import FinanceSettings

plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    settings=FinanceSettings,
    start=start,
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
    collections=(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, CREDIT_NOTES, OPEN_ITEMS, LEDGER_AUDITS),
    biz_types={"EXPENSE": EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES},
    jobs=(Job("finance.audit", "finance_audit_resume_seconds", auditing.audit_if_due),),
    audits=AUDITS,
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=routes_of(accounts, vouchers, periods, claims, invoices, credit_notes, open_items, audits, tables),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=(claims.CLAIM_NUMBERS.option,),
)
