"""What hrm runs for the life of the process: a listener, and the job that keeps daily results up to date."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Jobs, Service
from plugins.hrm import results
from plugins.hrm.closing import refuse_closing_ahead
from plugins.system.api import CONFIG_CHANGING_EVENT

_SETTLE_SECONDS = 60


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Listen for changes of options, and schedule the job that settles daily results."""
    service.events.listen(CONFIG_CHANGING_EVENT, refuse_closing_ahead)
    service.provide(results.Reconciliation, results.Reconciliation())
    service.part(Jobs).every(_SETTLE_SECONDS, "hrm.settle", partial(results.reconcile, service))
    yield
