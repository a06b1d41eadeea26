"""What hrm provides as long as the process runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.hrm import results


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the `Reconciliation`, which keeps two runs of `reconcile_soon` in this process from overlapping."""
    service.provide(results.Reconciliation, results.Reconciliation())
    yield
