"""The inbox over HTTP: users read, mark and delete their own messages; announcements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    invalid,
    route,
)
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL
from plugins.notification.announcement_records import RECEIPTS, receipt_id
from plugins.notification.inbox import Inbox, localise, own_store
from plugins.notification.messages import CONFIRM_FIRST, NOT_TO_CONFIRM, NOT_YOURS
from plugins.notification.record_types import Notification
from plugins.notification.records import COUNT, MESSAGES, SEND_BODY
from plugins.rbac.api import USERS

_NOT_YOURS = Refusal(NOT_FOUND, hint=NOT_YOURS)


async def list_messages(req: Request) -> Page:
    """Return a page of the caller's messages, newest first."""
    page: Page = await own_store(req).page(req.query)
    return replace(page, items=[localise(message, req.language) for message in page.items])


async def count_unread(req: Request) -> dict[str, int]:
    """Return how many of the caller's messages are unread."""
    return {"count": await own_store(req).count({"unread": True})}


async def mark_read(req: Request) -> dict[str, Any]:
    """Mark a message as read and return it. Idempotent."""
    message = await own_store(req).get(req.path["id"])
    return localise(await req.transaction(partial(_mark, req, message, _read_state(req))), req.language)


async def confirm(req: Request) -> dict[str, Any]:
    """Confirm an announcement that asks for it, and return its message. Idempotent."""
    message = await own_store(req).get(req.path["id"])
    if not message["must_confirm"]:
        raise ApiError(CONFLICT, NOT_TO_CONFIRM)
    values = _read_state(req) | {"confirmed_at": req.now}
    return localise(await req.transaction(partial(_mark, req, message, values)), req.language)


async def _mark(req: Request, message: Notification, values: Record) -> Notification:
    """Write that a message was read or confirmed, here and on the receipt of its announcement."""
    confirms = "confirmed_at" in values
    open_until = {"confirmed_at": None} if confirms else {"unread": True}
    marked = await own_store(req).update_where({"_id": message["id"], **open_until}, values)
    if marked is None:
        return await own_store(req).get(message["id"])
    if message["announcement_id"] is not None:
        noted = {name: value for name, value in values.items() if name != "unread"}
        state = "confirmed" if confirms else "read"
        of_this = {"_id": receipt_id(message["announcement_id"], req.actor.user_id)}
        await req.system_store(RECEIPTS).update_where(of_this, {**noted, "state": state})
    await req.part(Inbox).signal(req.actor.user_id)
    return marked


async def mark_all_read(req: Request) -> dict[str, int]:
    """Mark all messages of the caller as read; return how many were unread."""

    async def work() -> int:
        changed = await own_store(req).update_many({"unread": True}, {"$set": _read_state(req)})
        if changed:
            unread = {"user_id": req.actor.user_id, "state": "unread"}
            await req.system_store(RECEIPTS).update_many(unread, {"$set": {"state": "read", "read_at": req.now}})
            await req.part(Inbox).signal(req.actor.user_id)
        return changed

    return {"count": await req.transaction(work)}


async def delete(req: Request) -> None:
    """Delete a message of the caller. Raises 40901 if it still has to be confirmed."""
    done = {"$or": [{"must_confirm": {"$ne": True}}, {"confirmed_at": {"$ne": None}}]}
    await own_store(req).delete(req.path["id"], where=done, reason=CONFIRM_FIRST)
    await req.part(Inbox).signal(req.actor.user_id)


async def announce(req: Request) -> dict[str, int]:
    """Send an announcement; return how many users received it."""
    body = req.body
    if await req.system_store(USERS).count({"_id": {"$in": body["user_ids"]}}) != len(body["user_ids"]):
        raise invalid("user_ids", "reference")
    sent = await req.part(Inbox).send(
        body["user_ids"], "announcement", body["title"], body.get("body"), body.get("link"), actor=req.actor
    )
    return {"count": sent}


def _read_state(req: Request) -> dict[str, Any]:
    return {"unread": False, "read_at": req.now}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/notifications",
        list_messages,
        summary="List my notifications",
        access=SIGNED_IN,
        query=MESSAGES.list_query,
        returns=MESSAGES.read,
        paged=True,
        tag="notification",
    ),
    route(
        "GET /api/v1/notifications/unread-count",
        count_unread,
        summary="Count my unread notifications",
        access=SIGNED_IN,
        returns=COUNT,
        tag="notification",
    ),
    route(
        "POST /api/v1/notifications/{id}/read",
        mark_read,
        summary="Mark a notification as read",
        title=("标为已读", "Mark as read"),
        access=SIGNED_IN,
        returns=MESSAGES.read,
        refusals=(_NOT_YOURS,),
        tag="notification",
    ),
    route(
        "POST /api/v1/notifications/{id}/confirm",
        confirm,
        summary="Confirm an announcement",
        title=("确认公告", "Confirm"),
        access=SIGNED_IN,
        returns=MESSAGES.read,
        refusals=(_NOT_YOURS, *conflicts(NOT_TO_CONFIRM)),
        tag="notification",
        fits={"must_confirm": True, "confirmed_at": False},
    ),
    route(
        "POST /api/v1/notifications/read-all",
        mark_all_read,
        summary="Mark all my notifications as read",
        title=("全部标为已读", "Mark all as read"),
        access=SIGNED_IN,
        returns=COUNT,
        tag="notification",
    ),
    route(
        "DELETE /api/v1/notifications/{id}",
        delete,
        summary="Delete a notification",
        description=FINAL,
        access=SIGNED_IN,
        returns=NOTHING,
        refusals=(_NOT_YOURS, *conflicts(CONFIRM_FIRST)),
        tag="notification",
    ),
    route(
        "POST /api/v1/notifications",
        announce,
        summary="Send an announcement",
        access="notification:announcement:create",
        body=SEND_BODY,
        returns=COUNT,
    ),
)
