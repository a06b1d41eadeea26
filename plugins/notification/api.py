"""What plugins that require notification may import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plugins.api import Message, Request, Service
from plugins.api.data import Database
from plugins.api.requests import SYSTEM
from plugins.notification.inbox import Inbox


async def notify(
    source: Request | Service | Database,
    user_ids: Iterable[int],
    kind: str,
    title: Message | str,
    body: Message | str | None = None,
    link: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
) -> int:
    """Put a message into the inboxes of these users; return how many received it.

    It joins the transaction of the caller. Jobs, which have no request, pass the service as `source`; with a database
    the message is in the inboxes alone, and goes out on no other channel. A user gets at most one message for each `key`. Plugins that do not require notification emit the event `notification.send` with
    the same arguments.
    """
    actor = source.actor if isinstance(source, Request) else SYSTEM
    inbox = Inbox(source) if isinstance(source, Database) else source.part(Inbox)
    return await inbox.send(user_ids, kind, title, body, link, data, key=key, actor=actor)


__all__ = ["notify"]
