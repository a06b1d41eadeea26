"""The notification centre."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import (
    NOT_FOUND,
    NOTHING,
    SIGNED_IN,
    SYSTEM,
    Dictionary,
    Item,
    Menu,
    Message,
    Plugin,
    Refusal,
    Service,
    object_id,
    route,
)  # fmt: skip
from plugins.notification import demo, live, notifications
from plugins.notification.inbox import PROGRESS_EVENT, SEND_EVENT, Inbox
from plugins.notification.messages import KINDS, NOT_YOURS
from plugins.notification.records import COUNT, MESSAGES, PROGRESS, SEND_BODY, SENT, SIGNALS, SOCKET_MESSAGES
from plugins.notification.resetting import after_reset
from plugins.notification.settings import NotificationSettings

AT = "/api/v1/notifications"
LAST_ID = object_id(
    nullable=False,
    example="000000000001000000000007",
    description="The id of the last message that the client has; without it, only what comes from now on is sent.",
)
_SOCKET = """The token is sent in `Authorization`, or as the subprotocol `bearer.<token>`, as browsers set no headers here.
`ready` comes first; a client that was away gives its `last_id` when it comes back, and misses nothing."""
_NOT_YOURS = (Refusal(NOT_FOUND, when=NOT_YOURS),)
_own: dict[str, Any] = {"access": SIGNED_IN, "tag": "notification"}


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the inbox and the listeners; send what other plugins ask for by event."""
    inbox = Inbox(service.database)
    service.provide(Inbox, inbox)
    service.provide(live.Listeners, live.Listeners(service.database))
    service.events.listen(SEND_EVENT, partial(_send, inbox))
    service.events.listen(PROGRESS_EVENT, partial(_progress, inbox))
    service.events.listen("system.data_reset", partial(after_reset, service))
    yield


async def _send(inbox: Inbox, payload: Mapping[str, Any]) -> None:
    request = payload.get("request")
    asked = {name: value for name, value in payload.items() if name != "request"}
    await inbox.send(**asked, actor=request.actor if request is not None else SYSTEM)


async def _progress(inbox: Inbox, payload: Mapping[str, Any]) -> None:
    await inbox.progress(**{name: value for name, value in payload.items() if name != "request"})


plugin = Plugin(
    name="notification",
    title=Message("消息通知", "Notifications"),
    requires=("rbac", "auth"),
    settings=NotificationSettings,
    start=start,
    demo=demo.load,
    collections=(MESSAGES, SIGNALS, SENT, PROGRESS),
    routes=(
        route(f"GET {AT}", notifications.list_messages, summary="List my notifications", paged=True,
              query=MESSAGES.list_query, returns=MESSAGES.read, **_own),
        route(f"GET {AT}/unread-count", notifications.count_unread, summary="How many of my notifications are unread",
              returns=COUNT, **_own),
        route(f"GET {AT}/ws", live.live, summary="My new notifications, as a WebSocket", socket=True,
              query={"last_id": LAST_ID}, messages=SOCKET_MESSAGES, description=_SOCKET, **_own),
        route(f"POST {AT}/{{id}}/read", notifications.mark_read, summary="Mark a notification as read",
              returns=MESSAGES.read, refusals=_NOT_YOURS, **_own),
        route(f"POST {AT}/read-all", notifications.mark_all_read, summary="Mark all my notifications as read",
              returns=COUNT, **_own),
        route(f"DELETE {AT}/{{id}}", notifications.delete, summary="Delete a notification", returns=NOTHING,
              refusals=_NOT_YOURS, **_own),
        route(f"POST {AT}", notifications.announce, summary="Send an announcement to people",
              access="notification:announcement:create", body=SEND_BODY, returns=COUNT, tag="notification"),
    ),
    menus=(
        Menu("notification", Message("消息通知", "Notifications"), path="/notification", resource="notification:announcement",
             icon="lucide:bell", order=900),
    ),
    permissions={"notification:announcement:create": Message("发送公告", "Send announcements")},
    dictionaries=(
        Dictionary("notification_kind", Message("通知类型", "Notification kind"),
                   tuple(Item(kind, label, color) for kind, (label, color) in KINDS.items())),
    ),
)  # fmt: skip
