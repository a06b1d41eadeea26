"""The types of the records of Notifications. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Notification(TypedDict):
    """A record of `notification_messages`."""

    id: StoredId
    user_id: int
    kind: str
    title: str
    body: str | None
    link: str | None
    data: dict[str, object] | None
    unread: bool
    read_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    title_en: NotRequired[object]
    body_en: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class NotificationSignal(TypedDict):
    """A record of `notification_signals`."""

    id: int
    changed_at: datetime


class NotificationSent(TypedDict):
    """A record of `notification_sent`."""

    id: str
    at: datetime


class NotificationProgress(TypedDict):
    """A record of `notification_progress`."""

    id: str
    user_id: int
    key: str
    kind: str
    data: dict[str, object] | None
    at: datetime
