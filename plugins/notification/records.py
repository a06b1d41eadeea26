"""The records of notification: messages, keys of sent messages, and the signal that an inbox changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    anything,
    array,
    boolean,
    choice,
    integer,
    link,
    mapping,
    object_id,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.notification.record_types import Notification, NotificationProgress, NotificationSent, NotificationSignal

KEPT_SECONDS = 180 * 86_400
MAX_TITLE, MAX_BODY, MAX_RECIPIENTS = 200, 2000, 1000

# handlers read it only through `inbox.own_store`, so that users see only their own messages
MESSAGES: Collection[Notification] = Collection(
    name="notification_messages",
    title="Notification",
    noun=Message("消息", "notification"),
    scoped=True,
    scope_person="user_id",
    default_sort="-id",
    fields={
        **service_fields(
            user_id=integer(label=("接收人", "Recipient"), minimum=1, ref="users"),
            kind=text(
                label=("消息类型", "Kind"),
                max_length=64,
                filter=True,
                dictionary="notification_kind",
                example="approval_task",
                description="Also a kind of a plugin that the dictionary does not have.",
            ),
            title=text(label=("标题", "Title"), max_length=MAX_TITLE, description="In the caller's language."),
        ),
        "body": text(label=("内容", "Body"), max_length=MAX_BODY, read_only=True),
        "link": text(
            label=("链接", "Link"),
            max_length=500,
            read_only=True,
            description="Where clients go when the notification is opened.",
        ),
        "data": mapping(
            anything(),
            label=("附加数据", "Data"),
            read_only=True,
            description="Data that belong to the kind, such as `resource_id`.",
        ),
        "unread": boolean(label=("未读", "Unread"), nullable=False, read_only=True, filter=True),
        "read_at": timestamp(label=("阅读时间", "Read at"), read_only=True),
        "announcement_id": object_id(
            label=("公告", "Announcement"), read_only=True, ref="notification_announcements", on_delete="keep"
        ),
        "must_confirm": boolean(label=("需要确认", "Must be confirmed"), read_only=True),
        "confirmed_at": timestamp(label=("确认时间", "Confirmed at"), read_only=True),
    },
    indexes=(
        Index("user_id", "-id"),
        Index("user_id", "unread", "-id"),
        Index("user_id", "kind", "-id"),
        Index("announcement_id", where={"announcement_id": {"$type": "objectId"}}),
        Index("created_at", expire_seconds=KEPT_SECONDS),
    ),
    internal=("title_en", "body_en", "key"),
)

# one document for each user, written when their messages change, which wakes WebSockets on every instance
SIGNALS: Collection[NotificationSignal] = Collection(
    name="notification_signals",
    title="NotificationSignal",
    plain=True,
    ids="integer",
    watched=True,
    default_sort="id",
    fields={"changed_at": timestamp(nullable=False)},
)

# keys of sent messages, which are not sent again even if the user deleted the message
SENT: Collection[NotificationSent] = Collection(
    name="notification_sent",
    title="NotificationSent",
    plain=True,
    ids="text",
    default_sort="id",
    fields={"at": timestamp(nullable=False)},
    indexes=(Index("at", expire_seconds=KEPT_SECONDS),),
)

# the progress of background work, until it ends
PROGRESS: Collection[NotificationProgress] = Collection(
    name="notification_progress",
    title="NotificationProgress",
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "user_id": integer(minimum=1, nullable=False),
        "key": text(nullable=False),
        "kind": text(nullable=False),
        "data": mapping(anything()),
        "at": timestamp(nullable=False),
    },
    indexes=(Index("user_id"), Index("at", expire_seconds=86_400)),
)

SEND_BODY = shape(
    "NotificationSend",
    user_ids=array(
        integer(minimum=1),
        label=("接收人", "Recipients"),
        required=True,
        min_items=1,
        max_items=MAX_RECIPIENTS,
        unique=True,
        ref="rbac_users",
    ),
    title=text(required=True, max_length=MAX_TITLE, example="周五系统维护"),
    body=text(max_length=MAX_BODY),
    link=link(example="/crm/customers"),
)


def _socket_message(name: str, fields: Mapping[str, Field]) -> Field:
    return shape(f"NotificationSocket{name.title()}", type=choice(name, nullable=False), **fields)


# the messages of the WebSocket, by `type`
SOCKET_MESSAGES = {
    "ready": _socket_message(
        "ready", {"last_id": object_id(nullable=False), "unread": integer(minimum=0, nullable=False)}
    ),
    "notification": _socket_message("notification", {"data": MESSAGES.read}),
    "progress": _socket_message("progress", {name: PROGRESS.all_fields[name] for name in ("kind", "key", "data")}),
    "unread": _socket_message("unread", {"count": integer(minimum=0, nullable=False)}),
}

COUNT = shape("NotificationCount", count=integer(minimum=0, nullable=False))


def message_id(user_id: int, number: int) -> Any:
    """Return the `_id` of a user's message with this number; a later message has a greater one."""
    return MESSAGES.parse_id(f"{user_id:012x}{number:012x}")
