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
    announcement_id: StoredId | None
    must_confirm: bool | None
    confirmed_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    title_en: NotRequired[object]
    body_en: NotRequired[object]
    key: NotRequired[object]
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


class AnnouncementAudience(TypedDict):
    """An object within `Announcement`."""

    all: bool
    departments: NotRequired[list[int] | None]
    roles: NotRequired[list[int] | None]
    users: NotRequired[list[int] | None]


class Announcement(TypedDict):
    """A record of `notification_announcements`."""

    id: StoredId
    title: str
    content: str
    to: AnnouncementAudience
    publish_at: datetime | None
    expires_at: datetime | None
    confirm: bool
    status: Literal["scheduled", "published", "ended", "withdrawn"]
    published_at: datetime | None
    recipients: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    cleared: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class AnnouncementReceipt(TypedDict):
    """A record of `notification_receipts`."""

    id: str
    announcement_id: StoredId
    user_id: int
    state: Literal["unread", "read", "confirmed"]
    sent_at: datetime
    read_at: datetime | None
    confirmed_at: datetime | None


class NotificationDelivery(TypedDict):
    """A record of `notification_deliveries`."""

    id: str
    message: str
    user_id: int
    kind: str
    channel: Literal["email", "wecom"]
    state: Literal["waiting", "sent", "failed", "skipped"]
    attempts: int
    created_at: datetime
    rule: Literal["always", "own", "default", "off", "preferred", "read", "gone", "disabled", "no_address", "bad_address", "dead_address", "not_set_up"] | None
    waits_for: Literal["quiet", "digest", "retry"] | None
    next_at: datetime | None
    address: str | None
    answer: str | None
    ended_at: datetime | None
    digest: str | None


class NotificationAddress(TypedDict):
    """A record of `notification_addresses`."""

    id: str
    address: str
    dead_since: datetime
    answer: str | None


class NotificationChoice(TypedDict):
    """An object within `NotificationPreferences`."""

    kind: str
    email: Literal["on", "off", "digest"]
    wecom: Literal["on", "off", "digest"]


class NotificationPreferences(TypedDict):
    """A record of `notification_preferences`."""

    id: int
    language: Literal["zh", "en"]
    quiet_from: str | None
    quiet_to: str | None
    digest_at: str | None
    kinds: list[NotificationChoice]


class NotificationTemplate(TypedDict):
    """A record of `notification_templates`."""

    id: StoredId
    kind: str
    language: Literal["zh", "en"]
    subject: str
    text: str
    html: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
