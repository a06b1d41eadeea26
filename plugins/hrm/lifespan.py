"""What hrm provides for the life of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.hrm import results


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide what keeps two reconciliations from running at once."""
    service.provide(results.Reconciliation, results.Reconciliation())
    yield
