"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import Field

from plugins.api import EnvironmentSettings, Service
from plugins.dashboard.rows import Executions


class DashboardSettings(EnvironmentSettings):
    """How long a dashboard may take."""

    dashboard_seconds: float = Field(10, gt=0, description="Time limit of computing one dashboard, in seconds.")


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the executions."""
    seconds = service.settings_of(DashboardSettings).dashboard_seconds
    service.provide(Executions, Executions(service.database, seconds))
    yield
