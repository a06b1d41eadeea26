"""Announcements over HTTP: make, list and withdraw them, and see who has received, read and confirmed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Action, Collection, Page, Request, Route, crud, invalid, route, transitions
from plugins.notification.announcement_records import ANNOUNCEMENTS, RECEIPTS
from plugins.notification.record_types import Announcement
from plugins.rbac.api import DEPARTMENTS, ROLES, USERS, visible_users_filter

_AT = "/api/v1/notifications/announcements"
_AUDIENCES: Mapping[str, Collection] = {"departments": DEPARTMENTS, "roles": ROLES, "users": USERS}


async def create(req: Request) -> Announcement:
    """Make an announcement, which is sent at its time, or within seconds."""
    body = req.body
    await _check_audience(req, body["to"])
    publish_at, expires_at = body.get("publish_at") or req.now, body.get("expires_at")
    if expires_at is not None and expires_at <= max(publish_at, req.now):
        raise invalid("expires_at", "range")
    return await req.store(ANNOUNCEMENTS).create({**body, "publish_at": publish_at})


async def list_readers(req: Request) -> Page:
    """Return a page of the receipts of the people in the caller's data scope."""
    announcement = await req.store(ANNOUNCEMENTS).get(req.path["id"])
    about = {"announcement_id": announcement["id"], **await visible_users_filter(req)}
    return await req.store(RECEIPTS).page(req.query, about)


async def _check_audience(req: Request, to: Mapping[str, Any]) -> None:
    """Raise 40001 for an audience that names nobody, or what does not exist."""
    if not (to.get("all") or any(to.get(name) for name in _AUDIENCES)):
        raise invalid("to", "required")
    for name, collection in _AUDIENCES.items():
        ids = to.get(name) or []
        if ids and await req.system_store(collection).count({"_id": {"$in": ids}}) != len(ids):
            raise invalid(f"to.{name}", "reference")


ROUTES: tuple[Route, ...] = (
    *crud(
        ANNOUNCEMENTS,
        at=_AT,
        resource="notification:announcement",
        only=("list", "read", "create"),
        create=create,
    ),
    *transitions(
        ANNOUNCEMENTS,
        Action(
            "POST /api/v1/notifications/announcements/{id}/withdraw",
            access="notification:announcement:withdraw",
            summary="Withdraw an announcement: it leaves the inboxes within seconds",
        ),
    ),
    route(
        "GET /api/v1/notifications/announcements/{id}/readers",
        list_readers,
        summary="List who has received, read and confirmed an announcement",
        title=("阅读情况", "Readers"),
        access="notification:announcement:read",
        query=RECEIPTS.list_query,
        returns=RECEIPTS.read,
        paged=True,
        collection=ANNOUNCEMENTS.name,
    ),
)
