"""What finance does on its own events and on those of other plugins."""

from __future__ import annotations

from functools import partial

from plugins.api import Listener, conflicts
from plugins.api.business import (
    DATED,
    DEBT_ASKED,
    MONEY_MOVED,
    MONEY_RETURNED,
    OF_BOOKS,
    PAYABLE_CHANGED,
    RECEIVABLE_CHANGED,
)
from plugins.finance.books import periods, vouchers
from plugins.finance.claims import claims
from plugins.finance.invoices import invoices
from plugins.finance.messages import PAID_BACK
from plugins.finance.migrations import older_invoices
from plugins.finance.open_items import open_items
from plugins.finance.payments import entering

LISTENS = (
    Listener(vouchers.REVERSED_EVENT, claims.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, invoices.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, open_items.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, entering.reverse_with_voucher, conflicts(PAID_BACK)),
    Listener(MONEY_MOVED, entering.enter_from_event, periods.DATED_REFUSALS),
    Listener(MONEY_RETURNED, entering.return_from_event, (*periods.DATED_REFUSALS, *conflicts(PAID_BACK))),
    Listener(DATED, periods.check_open, periods.DATED_REFUSALS),
    Listener(RECEIVABLE_CHANGED, partial(open_items.update_from_event, "out")),
    Listener(PAYABLE_CHANGED, partial(open_items.update_from_event, "in")),
    Listener(DEBT_ASKED, claims.report_owed),
    Listener(DEBT_ASKED, older_invoices.report_owed),
    *OF_BOOKS,
)
