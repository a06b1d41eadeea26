"""Sends announcements at their time, takes those that are over out of the inboxes, and lets recipients read them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from plugins.api import CONFLICT, Actor, ApiError, Collection, Message, Service, Store, utc_now
from plugins.api.data import Database
from plugins.api.ports import Departments
from plugins.api.records import change_state
from plugins.notification.announcement_records import ANNOUNCEMENT_STATES, ANNOUNCEMENTS, RECEIPTS, receipt_id
from plugins.notification.inbox import Inbox
from plugins.notification.messages import SENT_TO_YOU
from plugins.notification.record_types import Announcement
from plugins.notification.records import MESSAGES
from plugins.rbac.api import USERS

_AT_ONCE = 16
_A_RUN = 20  # announcements


async def run(service: Service) -> None:
    """Send what is due, end what is over, and take back what was withdrawn. Repeatable at any point."""
    store, now = service.database.store(ANNOUNCEMENTS), utc_now()
    due = {"status": "scheduled", "publish_at": {"$lte": now}}
    for announcement in await store.find(due, sort="publish_at", limit=_A_RUN):
        await _publish(service, announcement)
    over = {**ANNOUNCEMENT_STATES.allows("end"), "expires_at": {"$lte": now}}
    for announcement in await store.find(over, limit=_A_RUN):
        await _change(store, announcement, "end", {})
    gone = {"status": {"$in": sorted(ANNOUNCEMENT_STATES.ended)}, "cleared": {"$ne": True}}
    for announcement in await store.find(gone, limit=_A_RUN):
        await _take_back(service, announcement)


async def _publish(service: Service, announcement: Announcement) -> None:
    now, database = utc_now(), service.database
    if announcement["expires_at"] is not None and announcement["expires_at"] <= now:
        return
    of_this = {"announcement_id": announcement["id"]}
    had = {row["user_id"] for row in await database.store(RECEIPTS).find(of_this, fields=["user_id"])}
    waiting = [id for id in await find_audience(service, announcement["to"]) if id not in had]
    for start in range(0, len(waiting), _AT_ONCE):
        if (await database.store(ANNOUNCEMENTS).get(announcement["id"], fields=_STATE))["status"] != "scheduled":
            return
        works = [partial(_deliver, service, announcement, id) for id in waiting[start : start + _AT_ONCE]]
        await asyncio.gather(*(database.transaction(work) for work in works))
    count = await database.store(RECEIPTS).count(of_this)
    values = {"published_at": now, "recipients": count}
    await _change(database.store(ANNOUNCEMENTS), announcement, "publish", values)


async def _deliver(service: Service, announcement: Announcement, user_id: int) -> None:
    id = announcement["id"]
    sent = await service.part(Inbox).send(
        [user_id],
        "announcement",
        announcement["title"],
        announcement["content"],
        f"/notifications/announcements/{id}",
        key=f"announcement:{id}",
        about={"announcement_id": id, "must_confirm": announcement["confirm"]},
    )
    if sent:
        values = {"announcement_id": id, "user_id": user_id, "state": "unread", "sent_at": utc_now()}
        await service.database.store(RECEIPTS).create(values, id=receipt_id(id, user_id))


async def _take_back(service: Service, announcement: Announcement) -> None:
    database, of_this = service.database, {"announcement_id": announcement["id"]}
    await database.remove(MESSAGES, of_this)
    for row in await database.store(RECEIPTS).find(of_this, fields=["user_id"]):
        await service.part(Inbox).signal(row["user_id"])
    done = {"_id": announcement["id"]}
    await database.store(ANNOUNCEMENTS).update_unversioned(done, {"$set": {"cleared": True}})


async def _change(
    store: Store[Announcement], announcement: Announcement, action: str, values: Mapping[str, Any]
) -> None:
    try:
        await change_state(store, announcement["id"], action, values)
    except ApiError as error:
        if error.kind is not CONFLICT:  # withdrawn in this moment
            raise


async def find_audience(service: Service, to: Mapping[str, Any]) -> list[int]:
    """Return the ids of the enabled people whom an audience names now; people of departments with those below."""
    people: dict[str, Any] = {"status": "enabled", "service": {"$ne": True}}
    if not to.get("all"):
        below = [await service.part(Departments).below(id) for id in to.get("departments") or ()]
        departments = sorted(frozenset[int]().union(*below))
        named = {"department_id": departments, "role_ids": to.get("roles") or [], "_id": to.get("users") or []}
        people["$or"] = [{field: {"$in": ids}} for field, ids in named.items()]
    return sorted(row["id"] for row in await service.database.store(USERS).find(people, fields=["username"]))


class AnnouncementPasses:
    """The port `Passes` of the core: who has received an announcement may read it, and what is attached to it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def covers(self, collection: Collection) -> bool:
        """Return whether it is the collection of announcements."""
        return collection.name == ANNOUNCEMENTS.name

    async def reasons(self, actor: Actor, collection: Collection, ids: Sequence[Any]) -> Mapping[Any, Message]:
        """Return, by id, that these announcements were sent to the actor."""
        wanted = {receipt_id(id, actor.user_id): id for id in ids}
        found = await self._database.store(RECEIPTS).find({"_id": {"$in": list(wanted)}}, fields=["user_id"])
        return {wanted[row["id"]]: SENT_TO_YOU for row in found}


_STATE = ("status", "deleted", "creator_id", "creator_department_id")
