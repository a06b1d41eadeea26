"""What became of messages on the channels: the list for administrators, and the explanation of one's own message."""

from __future__ import annotations

from typing import Any

from plugins.api import NOT_FOUND, SIGNED_IN, Page, Record, Refusal, Request, Route, route
from plugins.notification.channel_records import DELIVERIES, WHY
from plugins.notification.channels import CHANNELS
from plugins.notification.inbox import own_store
from plugins.notification.messages import NOT_YOURS
from plugins.rbac.api import visible_users_filter


async def list_deliveries(req: Request) -> Page:
    """Return a page of the deliveries to the people in the caller's data scope."""
    return await req.store(DELIVERIES).page(req.query, await visible_users_filter(req))


async def explain(req: Request) -> Record:
    """Return where a message of the caller comes from, and what became of it on each channel."""
    message = await own_store(req).get(req.path["id"])
    rows = await req.system_store(DELIVERIES).find({"message": str(message["id"])})
    known: dict[str, Any] = {row["channel"]: row for row in rows}
    inbox = {"channel": "inbox", "state": "sent", "attempts": 1, "ended_at": message["created_at"]}
    return {
        "kind": message["kind"],
        "key": message.get("key"),
        "caused_by": message["creator_id"],
        "created_at": message["created_at"],
        "channels": [inbox, *(known.get(name) or _not_set_up(name) for name in CHANNELS)],
    }


def _not_set_up(channel: str) -> Record:
    """Return the entry of a channel that was not set up when the message was made."""
    return {"channel": channel, "state": "skipped", "attempts": 0, "rule": "not_set_up"}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/notifications/deliveries",
        list_deliveries,
        summary="List what was sent by e-mail and WeCom, and what was not",
        access="notification:delivery:list",
        query=DELIVERIES.list_query,
        returns=DELIVERIES.read,
        paged=True,
        collection=DELIVERIES.name,
    ),
    route(
        "GET /api/v1/notifications/{id}/why",
        explain,
        summary="Explain where my notification comes from, and what became of it on each channel",
        title=("发送情况", "Why and how"),
        access=SIGNED_IN,
        returns=WHY,
        refusals=(Refusal(NOT_FOUND, hint=NOT_YOURS),),
        tag="notification",
    ),
)
