"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.dashboard.settings import DashboardSettings
from plugins.dashboard.sharing import Executions


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the executions."""
    seconds = service.settings_of(DashboardSettings).dashboard_seconds
    service.provide(Executions, Executions(service.database, seconds))
    yield
