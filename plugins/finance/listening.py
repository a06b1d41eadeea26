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
from plugins.finance import books, claims, entering, invoices, migrations, open_items
from plugins.finance.messages import PAID_BACK

LISTENS = (
    Listener(books.REVERSED_EVENT, claims.reopen_payment),
    Listener(books.REVERSED_EVENT, invoices.reopen_payment),
    Listener(books.REVERSED_EVENT, open_items.reopen_payment),
    Listener(books.REVERSED_EVENT, entering.reverse_with_voucher, conflicts(PAID_BACK)),
    Listener(MONEY_MOVED, entering.enter_from_event, books.DATED_REFUSALS),
    Listener(MONEY_RETURNED, entering.return_from_event, (*books.DATED_REFUSALS, *conflicts(PAID_BACK))),
    Listener(DATED, books.check_open, books.DATED_REFUSALS),
    Listener(RECEIVABLE_CHANGED, partial(open_items.update_from_event, "out")),
    Listener(PAYABLE_CHANGED, partial(open_items.update_from_event, "in")),
    Listener(DEBT_ASKED, claims.report_owed),
    Listener(DEBT_ASKED, migrations.report_owed),
    *OF_BOOKS,
)
