"""What inventory does while the service runs: it listens for decided approvals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from plugins.api import Service
from plugins.inventory import purchase_approval


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Listen for approvals that ended."""
    service.events.listen(purchase_approval.DECISION_EVENT, partial(purchase_approval.apply_approval, service))
    yield
