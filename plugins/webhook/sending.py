"""Sends deliveries: in order for each record, again after failures, on one instance at a time.

An instance that is killed is replaced by another after its lease, which sends again what it finds pending, with the
same message id. A webhook that fails for days is disabled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from plugins.api import NOTIFY, Record, Service, utc_now
from plugins.api.data import CachedSnapshot, retry_at
from plugins.api.errors import DatabaseUnavailable
from plugins.api.ports import Accounts
from plugins.rbac.api import people_permitted
from plugins.webhook.collecting import Collector, Hook
from plugins.webhook.messages import DISABLED, DISABLED_WHY
from plugins.webhook.posting import Attempt, Poster
from plugins.webhook.records import DELIVERIES, WEBHOOKS
from plugins.webhook.signing import Secrets

RETRY_SECONDS: Sequence[float] = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
GIVE_UP = timedelta(days=5)
_AT_ONCE = 8  # messages to one receiver
_LOOKED_AT, _PAGES = 200, 50  # pending deliveries of a webhook: so many at once, and so often while none is due
_LOOKED_FOR = ("number", "record", "next_at")
_WAIT_SECONDS = 0.2
_GONE = 410  # the receiver asks for no more messages


class Webhooks:
    """The webhooks of one process: which there are, and the work of the job that serves them."""

    def __init__(self, service: Service, poster: Poster) -> None:
        self._service = service
        self._poster = poster
        self._known: CachedSnapshot[Sequence[Hook]] = CachedSnapshot(self._load)
        self._secrets = Secrets(service.signing_secrets)
        self.collector = Collector(service)

    def invalidate(self, _id: object = None) -> None:
        """Read the webhooks again before they are next used."""
        self._known.invalidate()

    async def heed(self) -> None:
        """Have the changes noted that webhooks wait for now."""
        hooks = await self._known.current()
        self._service.database.outbox.wanted = self.collector.named(event for hook in hooks for event in hook["events"])

    async def heed_when_reachable(self) -> None:
        """As `heed`, again until the database replies."""
        while True:
            try:
                return await self.heed()
            except DatabaseUnavailable:
                await asyncio.sleep(_WAIT_SECONDS)

    async def run(self) -> None:
        """Collect and send until nothing is due."""
        running: dict[Any, asyncio.Task[None]] = {}
        try:
            while True:
                hooks = await self._known.current()
                collected = await self.collector.collect(hooks) if hooks else 0
                for hook in hooks:
                    if hook["id"] not in running and (due := await self._find_due(hook)):
                        running[hook["id"]] = asyncio.create_task(self._send_all(hook, due))
                if not running and not collected:
                    return
                if running:
                    await asyncio.wait(running.values(), timeout=_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                for id in [id for id, task in running.items() if task.done()]:
                    running.pop(id).result()
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    async def try_out(self, hook: Hook, message_id: str, body: bytes) -> Attempt:
        """Send a message now, whatever waits."""
        secrets = [self._secrets.read(one["encrypted"]) for one in valid_secrets(hook, utc_now())]
        known = [secret for secret in secrets if secret is not None]
        if not known:
            return Attempt(fault="no secret can be decrypted: rotate it")
        return await self._poster.post(hook["url"], known, message_id, body)

    def make_secret(self) -> tuple[str, Record]:
        """Return a new secret, and what is stored of it."""
        secret, encrypted = self._secrets.make()
        return secret, {"encrypted": encrypted, "until": None}

    async def _load(self) -> Sequence[Hook]:
        return await self._service.database.store(WEBHOOKS).find({"status": "enabled"}, sort="created_at")

    async def _find_due(self, hook: Hook) -> list[Record]:
        """Return the first pending delivery of each record, those that are due: a later one waits for it."""
        store, now = self._service.database.store(DELIVERIES), utc_now()
        first: dict[str, Record] = {}
        after = -1
        for _ in range(_PAGES):
            pending = {"webhook_id": hook["id"], "state": "pending", "number": {"$gt": after}}
            rows = await store.find(pending, sort="number", limit=_LOOKED_AT, fields=_LOOKED_FOR)
            for row in rows:
                first.setdefault(row["record"], row)
            due = [row["id"] for row in first.values() if row["next_at"] <= now][:_AT_ONCE]
            if due:
                return await store.find({"_id": {"$in": due}}, sort="number")
            if len(rows) < _LOOKED_AT:
                break
            after = rows[-1]["number"]
        return []

    async def _send_all(self, hook: Hook, due: Sequence[Record]) -> None:
        await asyncio.gather(*(self._send(hook, one) for one in due))

    async def _send(self, hook: Hook, delivery: Record) -> None:
        if await self._service.part(Accounts).actor_of(hook["account_id"]) is None:
            attempt = Attempt(fault="the service account is disabled or deleted")
        else:
            attempt = await self.try_out(hook, delivery["message"], delivery["payload"])
        await self._note(delivery, attempt)
        await (self._note_success(hook) if attempt.succeeded else self._note_failure(hook, attempt))

    async def _note(self, delivery: Record, attempt: Attempt) -> None:
        now, attempts = utc_now(), delivery["attempts"] + 1
        values: dict[str, Any] = {
            "attempts": attempts,
            "status": attempt.status,
            "response": attempt.response or None,
            "fault": attempt.fault or None,
        }
        if attempt.succeeded:
            values |= {"state": "delivered", "delivered_at": now}
        elif attempts > len(RETRY_SECONDS):
            values |= {"state": "failed"}
        else:
            values |= {"next_at": retry_at(now, attempts, RETRY_SECONDS)}
        same = {"_id": delivery["id"], "state": "pending", "attempts": delivery["attempts"]}
        await self._service.database.store(DELIVERIES).update_where(same, values)

    async def _note_success(self, hook: Hook) -> None:
        if hook["failing_since"] is not None:
            await self._hooks.update_unversioned({"_id": hook["id"]}, {"$set": {"failing_since": None}})

    async def _note_failure(self, hook: Hook, attempt: Attempt) -> None:
        now = utc_now()
        failing = {"_id": hook["id"], "failing_since": None}
        if attempt.status == _GONE:
            await self._disable(hook, {})
        elif hook["failing_since"] is None:
            await self._hooks.update_unversioned(failing, {"$set": {"failing_since": now}})
        elif now - hook["failing_since"] >= GIVE_UP:
            await self._disable(hook, {"failing_since": hook["failing_since"]})

    async def _disable(self, hook: Hook, still: Mapping[str, Any]) -> None:
        async def work() -> None:
            enabled = {"_id": hook["id"], "status": "enabled", **still}
            if await self._hooks.update_where(enabled, {"status": "disabled"}) is not None:
                await self._service.events.emit(NOTIFY, await self._notice(hook))

        await self._service.database.transaction(work)

    async def _notice(self, hook: Hook) -> Mapping[str, Any]:
        return {
            "user_ids": await people_permitted(self._service, "system:webhook:update"),
            "kind": "webhook_disabled",
            "title": DISABLED.filled(name=hook["name"]),
            "body": DISABLED_WHY,
            "link": "/system/webhooks",
        }

    @property
    def _hooks(self) -> Any:
        return self._service.database.store(WEBHOOKS)


def valid_secrets(hook: Hook, now: datetime) -> list[Record]:
    """Return what is stored of the secrets that sign now, the newest first."""
    return [one for one in hook["secrets"] if one["until"] is None or one["until"] > now]
