"""What the plugin does at start and on events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import NOTIFY, Listener, Service
from plugins.api.events import DATA_RESET, NOTIFY_PROGRESS
from plugins.api.requests import SYSTEM
from plugins.notification.inbox import Inbox
from plugins.notification.live import Listeners
from plugins.notification.resetting import after_reset


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the inbox and the listeners."""
    service.provide(Inbox, Inbox(service.database))
    service.provide(Listeners, Listeners(service.database))
    yield


async def _send(service: Service, payload: Mapping[str, Any]) -> None:
    request = payload.get("request")
    arguments = {name: value for name, value in payload.items() if name != "request"}
    await service.part(Inbox).send(**arguments, actor=request.actor if request is not None else SYSTEM)


async def _set_progress(service: Service, payload: Mapping[str, Any]) -> None:
    await service.part(Inbox).progress(**{name: value for name, value in payload.items() if name != "request"})


LISTENERS = (Listener(NOTIFY, _send), Listener(NOTIFY_PROGRESS, _set_progress), Listener(DATA_RESET, after_reset))
