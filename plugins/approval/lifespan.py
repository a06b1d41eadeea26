"""What approval provides for the life of the process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.ports import Approvals, DirectLinks, OwnRequests, Passes
from plugins.api.records import Catalogue
from plugins.approval.links import TaskLinks
from plugins.approval.passes import ApprovalPasses
from plugins.approval.people import OwnRequestsSetting
from plugins.approval.requests import PendingApprovals
from plugins.system.api import Configs


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the rule about one's own requests, the passes of people who are asked, and the links to their tasks."""
    service.provide(Approvals, PendingApprovals(service.database))
    service.provide(OwnRequests, OwnRequestsSetting(service.part(Configs)))
    service.provide(Passes, ApprovalPasses(service.database, service.part(Catalogue)))
    service.provide(DirectLinks, TaskLinks(service))
    yield
