"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Catalogue, Service
from plugins.dashboard.serving import Executions
from plugins.dashboard.settings import DashboardSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the executions. Raises ValueError if no route serves a declared dashboard."""
    catalogue = service.part(Catalogue)
    served = {route.path.removeprefix("/api/dashboard/") for route in catalogue.routes}
    unknown = sorted({dashboard.name for dashboard in catalogue.dashboards} - served)
    if unknown:
        raise ValueError(f"no route serves the dashboard {', '.join(unknown)}: declare it with dashboard_route")
    seconds = service.settings_of(DashboardSettings).dashboard_seconds
    service.provide(Executions, Executions(service.database, seconds))
    yield
