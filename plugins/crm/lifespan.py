"""What crm runs for the life of the process: three jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Jobs, Service
from plugins.crm import customer_tables, pool, reminders
from plugins.crm.settings import CrmSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Schedule the jobs of pool, reminders and imports."""
    settings, jobs = service.settings_of(CrmSettings), service.part(Jobs)
    jobs.every(settings.crm_pool_seconds, "crm.pool", partial(pool.return_neglected, service))
    jobs.every(settings.crm_reminder_seconds, "crm.reminders", partial(reminders.remind, service))
    jobs.every(settings.crm_import_resume_seconds, "crm.imports", partial(customer_tables.resume, service))
    yield
