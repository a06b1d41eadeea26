"""What crm runs for the life of the process: a listener, three jobs and the worker lanes of tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Confined, Jobs, Service
from plugins.crm import contracts, import_run, pool, reminders
from plugins.crm.lanes import Lanes
from plugins.crm.settings import CrmSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Open the lanes for tables, listen for decided approvals, and schedule the jobs of pool, reminders and imports."""
    settings, jobs = service.settings_of(CrmSettings), service.part(Jobs)
    service.provide(Lanes, Lanes.open(service.part(Confined)))
    service.events.listen(contracts.DECISION_EVENT, partial(contracts.apply_decision, service))
    jobs.every(settings.crm_pool_seconds, "crm.pool", partial(pool.return_neglected, service))
    jobs.every(settings.crm_reminder_seconds, "crm.reminders", partial(reminders.remind, service))
    jobs.every(settings.crm_import_resume_seconds, "crm.imports", partial(import_run.resume, service))
    yield
