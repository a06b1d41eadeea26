"""Settings of the dashboards."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class DashboardSettings(EnvironmentSettings):
    """How long a dashboard may take."""

    dashboard_seconds: float = Field(10, gt=0, description="Time limit of computing one dashboard, in seconds.")
