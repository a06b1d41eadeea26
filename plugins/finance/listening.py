"""What finance answers other plugins, the events that it listens to, and the figures of its audit for monitoring."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Listener, Service, conflicts
from plugins.api.business import (
    DATED,
    DEBT_ASKED,
    MONEY_MOVED,
    MONEY_RETURNED,
    OF_BOOKS,
    PAYABLE_CHANGED,
    RECEIVABLE_CHANGED,
    BilledOrder,
    Books,
    Rates,
)
from plugins.api.events import CONFIG_CHANGING
from plugins.api.ports import Metrics
from plugins.api.workers import Confined
from plugins.finance import books, claims, entering, invoices, migrations, open_items
from plugins.finance.ageing import find_owed
from plugins.finance.audit_runs import count_differences, measure_age
from plugins.finance.books import find_open_day
from plugins.finance.e_invoices import EInvoices
from plugins.finance.exchange_rates import KeptRates, keep_base
from plugins.finance.invoice_lines import find_billed
from plugins.finance.messages import BASE_FIXED, PAID_BACK


@dataclass(frozen=True)
class KeptBooks(Books):
    """The books that finance keeps."""

    service: Service

    async def find_open_day(self, day: str) -> str:
        """Return the day on which the effect of something dated `day` is booked."""
        return await find_open_day(self.service, day)

    async def find_owed(self, customer_id: Any) -> Decimal:
        """Return what a customer owes now."""
        return await find_owed(self.service, customer_id)

    async def find_billed(self, biz_type: str, resource_id: str) -> BilledOrder:
        """Return what invoices bill of an order, and lock its item."""
        return await find_billed(self.service, biz_type, resource_id)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the books, the rates and the reader of e-invoices; register gauges for what the last audit found and how long ago it ended."""
    service.provide(Books, KeptBooks(service))
    service.provide(Rates, KeptRates(service))
    service.provide(EInvoices, EInvoices(service.part(Confined).lane("finance.e_invoices", seconds=20, each=2)))
    metrics = service.part(Metrics)
    differences = "Differences between ledgers and their entries"
    metrics.gauge("tradewind_ledger_differences", differences, partial(count_differences, service), "check")
    age = "Seconds since the ledgers were compared with their entries"
    metrics.gauge("tradewind_ledger_audit_age_seconds", age, partial(measure_age, service))
    yield


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
    Listener(CONFIG_CHANGING, keep_base, conflicts(BASE_FIXED)),
    *OF_BOOKS,
)
