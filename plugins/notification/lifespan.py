"""What the plugin does at start and on events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import NOTIFY, Listener, Service
from plugins.api.events import DATA_RESET, NOTIFY_PROGRESS
from plugins.api.ports import Passes
from plugins.api.requests import SYSTEM
from plugins.auth.api import WecomMessages
from plugins.notification.channels import Channel, Channels, WecomCards
from plugins.notification.inbox import Inbox
from plugins.notification.live import Listeners
from plugins.notification.mail import Mailer
from plugins.notification.mail_templates import Templates
from plugins.notification.publishing import AnnouncementPasses
from plugins.notification.resetting import after_reset
from plugins.notification.sending import Sender
from plugins.notification.settings import NotificationSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the inbox, the listeners, and the channels that are set up."""
    channels = _open_channels(service)
    service.provide(Channels, channels)
    service.provide(Inbox, Inbox(service.database, [*channels]))
    service.provide(Templates, Templates(service))
    service.provide(Sender, Sender(service))
    service.provide(Listeners, Listeners(service.database))
    service.provide(Passes, AnnouncementPasses(service.database))
    yield


def _open_channels(service: Service) -> Channels:
    smtp, found = service.settings_of(NotificationSettings).smtp, list[Channel]()
    if smtp is not None:
        found.append(Mailer(smtp))
    if service.part(WecomMessages).is_set_up:
        found.append(WecomCards(service))
    return Channels(found)


async def send_waiting(service: Service) -> None:
    """Send what is due on the channels."""
    await service.part(Sender).run()


async def _send(service: Service, payload: Mapping[str, Any]) -> None:
    request = payload.get("request")
    arguments = {name: value for name, value in payload.items() if name != "request"}
    await service.part(Inbox).send(**arguments, actor=request.actor if request is not None else SYSTEM)


async def _set_progress(service: Service, payload: Mapping[str, Any]) -> None:
    await service.part(Inbox).progress(**{name: value for name, value in payload.items() if name != "request"})


LISTENERS = (Listener(NOTIFY, _send), Listener(NOTIFY_PROGRESS, _set_progress), Listener(DATA_RESET, after_reset))
