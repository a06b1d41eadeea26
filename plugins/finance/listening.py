"""What finance does on its own events and on those of other plugins."""

from __future__ import annotations

from functools import partial

from plugins.api import Listener, conflicts
from plugins.api.events import (
    DATED,
    DEBT_ASKED,
    MONEY_MOVED,
    MONEY_RETURNED,
    OPEN_DAY_ASKED,
    OWED_ASKED,
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
from plugins.finance.reports import ageing

LISTENS = (
    Listener(vouchers.REVERSED_EVENT, claims.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, invoices.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, open_items.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, entering.reverse_with_voucher, conflicts(PAID_BACK)),
    Listener(MONEY_MOVED, entering.enter_from_event, periods.DATED_REFUSALS),
    Listener(MONEY_RETURNED, entering.return_from_event, (*periods.DATED_REFUSALS, *conflicts(PAID_BACK))),
    Listener(DATED, periods.check_open, periods.DATED_REFUSALS),
    Listener(OPEN_DAY_ASKED, periods.tell_open_day),
    Listener(RECEIVABLE_CHANGED, partial(open_items.update_from_event, "out")),
    Listener(PAYABLE_CHANGED, partial(open_items.update_from_event, "in")),
    Listener(OWED_ASKED, ageing.tell_owed),
    Listener(DEBT_ASKED, claims.report_owed),
    Listener(DEBT_ASKED, older_invoices.report_owed),
)
