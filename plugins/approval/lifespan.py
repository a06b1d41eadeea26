"""What approval sets up for the life of the process: its listeners, and the rule about one's own requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import OwnRequests, Service
from plugins.approval import requests
from plugins.approval.engine import CANCELLED_EVENT, REQUESTED_EVENT
from plugins.approval.people import OwnRequestsSetting
from plugins.system.api import Configs


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Listen to the requests of business plugins, and provide the rule about deciding on one's own."""
    service.provide(OwnRequests, OwnRequestsSetting(service.part(Configs)))
    service.events.listen(REQUESTED_EVENT, partial(requests.on_requested, service))
    service.events.listen(CANCELLED_EVENT, partial(requests.on_cancelled, service))
    yield
