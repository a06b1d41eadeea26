"""What the plugin does at start, and its job."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.data import Jobs
from plugins.webhook.posting import Poster
from plugins.webhook.records import WEBHOOKS
from plugins.webhook.sending import Webhooks
from plugins.webhook.settings import WebhookSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the webhooks, and have the changes noted that they wait for, also after a webhook has changed."""
    poster = Poster(service.settings_of(WebhookSettings).webhook_networks)
    hooks = Webhooks(service, poster)
    service.provide(Webhooks, hooks)

    def changed(_id: object) -> None:
        hooks.invalidate()
        service.part(Jobs).spawn("webhook.heed", hooks.heed_when_reachable())

    service.database.changes.listen(WEBHOOKS.name, changed)
    await hooks.heed()
    try:
        yield
    finally:
        poster.close()


async def run(service: Service) -> None:
    """Send what is due."""
    await service.part(Webhooks).run()
