"""The types of the records of Webhooks. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Webhook(TypedDict):
    """A record of `webhook_endpoints`."""

    id: StoredId
    name: str
    url: str
    events: list[str]
    account_id: int
    status: Literal["enabled", "disabled"]
    failing_since: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    secrets: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class WebhookDelivery(TypedDict):
    """A record of `webhook_deliveries`."""

    id: str
    webhook_id: StoredId
    number: int
    message: str
    event: str
    resource_id: str
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    next_at: datetime
    status: int | None
    response: str | None
    fault: str | None
    created_at: datetime
    delivered_at: datetime | None
    record: NotRequired[object]
    payload: NotRequired[object]
