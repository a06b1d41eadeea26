"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import SYSTEM, Service
from plugins.notification.inbox import PROGRESS_EVENT, SEND_EVENT, Inbox
from plugins.notification.live import Listeners
from plugins.notification.resetting import after_reset


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the inbox and the listeners, and send what other plugins emit as events."""
    inbox = Inbox(service.database)
    service.provide(Inbox, inbox)
    service.provide(Listeners, Listeners(service.database))
    service.events.listen(SEND_EVENT, partial(_send, inbox))
    service.events.listen(PROGRESS_EVENT, partial(_set_progress, inbox))
    service.events.listen("system.data_reset", partial(after_reset, service))
    yield


async def _send(inbox: Inbox, payload: Mapping[str, Any]) -> None:
    request = payload.get("request")
    arguments = {name: value for name, value in payload.items() if name != "request"}
    await inbox.send(**arguments, actor=request.actor if request is not None else SYSTEM)


async def _set_progress(inbox: Inbox, payload: Mapping[str, Any]) -> None:
    await inbox.progress(**{name: value for name, value in payload.items() if name != "request"})
