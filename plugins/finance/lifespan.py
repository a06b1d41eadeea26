"""What finance does at start: answer questions about the books, and register the figures of its audit for monitoring."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Service
from plugins.api.business import Books
from plugins.api.ports import Metrics
from plugins.finance.ageing import find_owed
from plugins.finance.audit_runs import count_differences, measure_age
from plugins.finance.books import find_open_day


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


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the books, and register gauges for what the last audit found and how long ago it ended."""
    service.provide(Books, KeptBooks(service))
    metrics = service.part(Metrics)
    differences = "Differences between ledgers and their entries"
    metrics.gauge("tradewind_ledger_differences", differences, partial(count_differences, service), "check")
    age = "Seconds since the ledgers were compared with their entries"
    metrics.gauge("tradewind_ledger_audit_age_seconds", age, partial(measure_age, service))
    yield
