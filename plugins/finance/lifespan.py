"""What finance does while the service runs: it listens to reversals and to what is owed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Service
from plugins.finance import claims, invoices, open_items, periods, vouchers


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Register the listeners."""
    service.events.listen(vouchers.REVERSED_EVENT, claims.reopen_payment)
    service.events.listen(vouchers.REVERSED_EVENT, invoices.reopen_payment)
    service.events.listen(vouchers.REVERSED_EVENT, open_items.reopen_payment)
    service.events.listen(periods.DATED_EVENT, partial(periods.check_open, service))
    service.events.listen(open_items.RECEIVABLE_EVENT, partial(open_items.update_from_event, "out", service))
    service.events.listen(open_items.PAYABLE_EVENT, partial(open_items.update_from_event, "in", service))
    yield
