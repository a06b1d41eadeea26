"""What approval provides for the life of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.ports import Approvals, OwnRequests, Passes
from plugins.api.records import Catalogue
from plugins.approval.passes import ApprovalPasses
from plugins.approval.people import OwnRequestsSetting
from plugins.approval.requests import PendingApprovals
from plugins.system.api import Configs


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the rule about deciding on one's own requests, and the passes of people who are asked."""
    service.provide(Approvals, PendingApprovals(service.database))
    service.provide(OwnRequests, OwnRequestsSetting(service.part(Configs)))
    service.provide(Passes, ApprovalPasses(service.database, service.part(Catalogue)))
    yield
