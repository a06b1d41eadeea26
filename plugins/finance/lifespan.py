"""What finance does at start: register the figures of its audit for monitoring."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Service
from plugins.api.ports import Metrics
from plugins.finance.audit.runs import count_differences, measure_age


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Register gauges for what the last audit found and how long ago it ended."""
    metrics = service.part(Metrics)
    differences = "Differences between ledgers and their entries"
    metrics.gauge("tradewind_ledger_differences", differences, partial(count_differences, service), "check")
    age = "Seconds since the ledgers were compared with their entries"
    metrics.gauge("tradewind_ledger_audit_age_seconds", age, partial(measure_age, service))
    yield
