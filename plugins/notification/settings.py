"""Settings of the notification centre."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator

from plugins.api import EnvironmentSettings
from plugins.notification.mail import SmtpServer


class NotificationSettings(EnvironmentSettings):
    """How the WebSockets of the notification centre behave, and where its e-mails go out."""

    notification_check_seconds: float = Field(
        5, gt=0, description="How often an open notification WebSocket checks that its session is valid, in seconds."
    )
    notification_smtp: SecretStr = Field(
        SecretStr(""),
        description="Mail server for notifications: `smtps://user:password@host:465?from=Name <address>`, or `smtp://` "
        "with STARTTLS, percent-encoded; empty: no e-mails.",
    )

    @field_validator("notification_smtp")
    @classmethod
    def _check(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value():
            SmtpServer.parse(value.get_secret_value())
        return value

    @property
    def smtp(self) -> SmtpServer | None:
        """The mail server, or None."""
        url = self.notification_smtp.get_secret_value()
        return SmtpServer.parse(url) if url else None
