"""The inbox over HTTP: everybody reads, marks and deletes their own messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plugins.api import Page, Request, invalid
from plugins.notification.inbox import Inbox, own, shown
from plugins.rbac.api import USERS


async def list_messages(req: Request) -> Page:
    """A page of the caller's messages, newest first."""
    page = await own(req).page(req.query)
    return replace(page, items=[shown(message, req.language) for message in page.items])


async def count_unread(req: Request) -> dict[str, int]:
    """How many of the caller's messages are unread."""
    return {"count": await own(req).count({"unread": True})}


async def mark_read(req: Request) -> dict[str, Any]:
    """Mark a message as read; one that is read already is answered as it is."""
    message = await own(req).get(req.path["id"])
    read = await own(req).change_one({"_id": message["id"], "unread": True}, _read(req))
    if read is not None:
        await req.part(Inbox).signal(req.actor.user_id)
    return shown(read or message, req.language)


async def mark_all_read(req: Request) -> dict[str, int]:
    """Mark every message of the caller as read; answers how many were not."""
    changed = await own(req).change_many({"unread": True}, {"$set": _read(req)})
    if changed:
        await req.part(Inbox).signal(req.actor.user_id)
    return {"count": changed}


async def delete(req: Request) -> None:
    """Delete a message of the caller."""
    await own(req).delete(req.path["id"])
    await req.part(Inbox).signal(req.actor.user_id)


async def announce(req: Request) -> dict[str, int]:
    """Send an announcement to people; answers how many got it."""
    body = req.body
    if await req.system_store(USERS).count({"_id": {"$in": body["user_ids"]}}) != len(body["user_ids"]):
        raise invalid("user_ids", "reference")
    sent = await req.part(Inbox).send(
        body["user_ids"], "announcement", body["title"], body.get("body"), body.get("link"), actor=req.actor
    )
    return {"count": sent}


def _read(req: Request) -> dict[str, Any]:
    return {"unread": False, "read_at": req.now}
