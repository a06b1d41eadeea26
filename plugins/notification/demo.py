"""Demonstration messages."""

from __future__ import annotations

from plugins.api import Service
from plugins.notification.api import notify
from plugins.notification.messages import WELCOME, WELCOME_BODY
from plugins.rbac.api import Directory


async def load(service: Service) -> None:
    """Send a welcome message to each of the demo users."""
    directory = service.part(Directory)
    people = [await directory.by_username(name) for name in ("admin", "manager", "sales", "staff")]
    ids = [user["id"] for user in people if user]
    await notify(service, ids, "announcement", WELCOME, WELCOME_BODY, key="demo:welcome")
