"""What finance does on its own events and on those of other plugins."""

from __future__ import annotations

from functools import partial

from plugins.api import DATED, OWED_ASKED, PAYABLE_CHANGED, RECEIVABLE_CHANGED, Listener
from plugins.finance import ageing, claims, invoices, open_items, periods, vouchers

LISTENS = (
    Listener(vouchers.REVERSED_EVENT, claims.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, invoices.reopen_payment),
    Listener(vouchers.REVERSED_EVENT, open_items.reopen_payment),
    Listener(DATED, periods.check_open, periods.DATED_REFUSALS),
    Listener(RECEIVABLE_CHANGED, partial(open_items.update_from_event, "out")),
    Listener(PAYABLE_CHANGED, partial(open_items.update_from_event, "in")),
    Listener(OWED_ASKED, ageing.tell_owed),
)
