"""What approval provides for the life of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import OwnRequests, Service
from plugins.approval.people import OwnRequestsSetting
from plugins.system.api import Configs


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the rule about deciding on one's own requests."""
    service.provide(OwnRequests, OwnRequestsSetting(service.part(Configs)))
    yield
