"""Writing into inboxes, and reading the caller's own.

The transaction that writes a message takes its number from a counter, which serialises such transactions for one user.
So a message with a greater number is committed later, and a client that has read up to a number misses none below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from plugins.api import Actor, Message, Request, Store, utc_now
from plugins.api.data import Database, Scope
from plugins.api.requests import SYSTEM
from plugins.api.values import Language, Values
from plugins.notification.channel_records import DELIVERIES
from plugins.notification.record_types import Notification
from plugins.notification.records import MAX_BODY, MAX_TITLE, MESSAGES, PROGRESS, SENT, SIGNALS, message_id


def own_store(req: Request) -> Store[Notification]:
    """Return a store of the caller's messages only."""
    scope = Scope(creator_id=req.actor.user_id)
    return req.service.database.store(MESSAGES, req.actor, scope, req.now)


def localise(message: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """Return the message in `language`."""
    texts = {name: message.get(f"{name}_en") or message[name] for name in ("title", "body")} if language == "en" else {}
    return {**message, **texts}


class Inbox:
    """Sends messages, in the transaction of the caller if there is one. `channels` are those that have to get them too."""

    def __init__(self, database: Database, channels: Sequence[str] = ()) -> None:
        self._database = database
        self._channels = channels

    async def send(
        self,
        user_ids: Iterable[int],
        kind: str,
        title: Message | str,
        body: Message | str | None = None,
        link: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        actor: Actor = SYSTEM,
        about: Values | None = None,
    ) -> int:
        """Put a message into the inboxes of these users; return how many received it.

        `data` holds BSON values, `about` further fields of the message. A user gets at most one message for each `key`.
        """
        values: dict[str, Any] = {**_make_texts("title", title, MAX_TITLE), **_make_texts("body", body, MAX_BODY)}
        values |= {"kind": kind, "link": link, "data": dict(data or {}), "unread": True, "read_at": None}
        values |= {**(about or {}), "key": key}
        sent = 0
        # sorted, so that two senders to the same users conflict at the first one instead of deadlocking
        for user_id in sorted(set(user_ids)):
            sent += await self._database.transaction(partial(self._put, user_id, values, key, actor))
        return sent

    async def _put(self, user_id: int, values: Mapping[str, Any], key: str | None, actor: Actor) -> int:
        # the counter comes first: a transaction that cannot see what another one has written to `SENT` conflicts here
        number = await self._database.next_number(f"notification:{user_id}", outside_transaction=False)
        if key is not None and not await self._mark_sent(f"{user_id}:{key}"):
            return 0
        store = self._database.store(MESSAGES, actor)
        message = await store.create({**values, "user_id": user_id}, id=message_id(user_id, number))
        if self._channels:
            await self._database.driver.insert(DELIVERIES.name, self._deliveries(message))
        await self.signal(user_id)
        return 1

    def _deliveries(self, message: Notification) -> list[dict[str, Any]]:
        """Return what the queue of the channels gets, in the same transaction."""
        now, id = message["created_at"], message["id"]
        waiting = {"state": "waiting", "attempts": 0, "created_at": now, "next_at": now}
        about = {"message": str(id), "user_id": message["user_id"], "kind": message["kind"], **waiting}
        return [{"_id": f"{id}:{channel}", "channel": channel, **about} for channel in self._channels]

    async def _mark_sent(self, id: str) -> bool:
        sent = self._database.store(SENT)
        if await sent.find_one({"_id": id}) is not None:
            return False
        await sent.create({"at": utc_now()}, id=id)
        return True

    async def progress(self, user_ids: Iterable[int], kind: str, key: str, data: Mapping[str, Any] | None) -> None:
        """Replace the progress that these users see under `key`, or remove it if `data` is None."""
        store = self._database.store(PROGRESS)
        for user_id in user_ids:
            id = f"{user_id}:{key}"
            if data is None:
                await store.remove({"_id": id})
            else:
                row = {"user_id": user_id, "key": key, "kind": kind, "data": dict(data), "at": utc_now()}
                await store.upsert(id, row)
            await self.signal(user_id)

    async def signal(self, user_id: int) -> None:
        """Wake the WebSockets of the user on every instance."""
        await self._database.store(SIGNALS).upsert(user_id, {"changed_at": utc_now()})

    async def newest(self, user_id: int) -> Any:
        """Return the id of the user's newest message, deleted or not; the lowest possible id if there is none."""
        rows = await self._database.store(MESSAGES).find({"user_id": user_id}, sort="-id", limit=1, fields=["kind"])
        return rows[0]["id"] if rows else message_id(user_id, 0)


def _make_texts(name: str, given: Message | str | None, longest: int) -> dict[str, str | None]:
    if given is None:
        return {name: None, f"{name}_en": None}
    message = given if isinstance(given, Message) else Message(given, given)
    return {name: message.zh[:longest], f"{name}_en": message.en[:longest]}
