"""Settings of the notification centre."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class NotificationSettings(EnvironmentSettings):
    """How the WebSockets of the notification centre behave."""

    notification_check_seconds: float = Field(
        5, gt=0, description="How often an open notification WebSocket checks that its session is valid, in seconds."
    )
