"""Moves the records that a person holds, in batches, so that any instance can continue where another one stopped.

A batch is moved and counted in one transaction, and the person no longer holds a record that was moved: a handover that
is started again continues with the rest. A record that cannot be moved is left and noted in `failures`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any

from plugins.api import NOTIFY, Actor, ApiError, Collection, Message, Record, Request, Service, utc_now
from plugins.api.data import ALL_ROWS, Lease
from plugins.api.errors import DatabaseUnavailable
from plugins.api.events import caused_by
from plugins.api.records import Holding, Move
from plugins.rbac.directory import Directory
from plugins.rbac.handover_records import HANDOVERS, MAX_FAILURES
from plugins.rbac.holdings import Held, describe, holdings, key_of
from plugins.rbac.messages import HANDED_OVER, RECEIVER_GONE
from plugins.rbac.records import USERS

_LEASE_SECONDS = 5  # how long a handover waits after its instance was killed
_AT_ONCE = 100
log = logging.getLogger("tradewind.rbac")


async def resume(service: Service) -> None:
    """Continue running handovers, except those that another instance is working on."""
    for handover in await service.database.store(HANDOVERS).find({"status": "running"}, limit=100):
        await run(service, handover["id"])


async def run(service: Service, id: Any) -> None:
    """Move what a handover has not moved yet, unless another instance is working on it."""
    lease = Lease(service.database, f"handover:{id}", _LEASE_SECONDS)
    if not await lease.acquire():
        return
    try:
        handover = await service.database.store(HANDOVERS).get(id)
        if handover["status"] == "running":
            with caused_by(handover["request_id"], "handover"):
                await _Handover(await _build_request(service, handover), handover, lease).run()
    except (DatabaseUnavailable, _Interrupted) as reason:
        # the status stays `running`: `resume` continues
        log.warning("handover interrupted", extra={"handover_id": str(id), "reason": str(reason)[:300]})
    except Exception:
        log.exception("handover failed", extra={"handover_id": str(id)})
        await service.database.store(HANDOVERS).update_unversioned({"_id": id}, {"$set": _ended("failed")})
    finally:
        await lease.release()


async def _build_request(service: Service, handover: Record) -> Request:
    """Return a request by the creator of the handover, which is finished even if that account is disabled or gone."""
    user_id = handover["creator_id"]
    actor = await service.part(Directory).actor_of(user_id) or Actor(user_id=user_id)
    return Request(service, "POST", "/handover", handover["request_id"], {}, "", actor=actor, scope=ALL_ROWS)


def _ended(status: str) -> Record:
    return {"status": status, "finished_at": utc_now()}


class _Interrupted(Exception):
    """Raised to stop this run of a handover, which is continued by another instance or later."""


class _Handover:
    """One handover that this instance is working on."""

    def __init__(self, req: Request, handover: Record, lease: Lease) -> None:
        self._req = req
        self._handover = handover
        self._lease = lease
        self._failed: set[Any] = set()

    async def run(self) -> None:
        """Move the chosen holdings one after the other, then end the handover."""
        chosen = [(item["collection"], item["field"]) for item in self._handover["items"]]
        for one in holdings(self._req.service):
            if (one.collection.name, one.field) in chosen:
                await self._move_all(one, chosen.index((one.collection.name, one.field)))
        if not await self._has_receiver():
            await self._note_failure(USERS, self._handover["to_user_id"], RECEIVER_GONE)
        await self._req.transaction(self._finish)

    async def _move_all(self, holding: Holding, place: int) -> None:
        before: list[Any] = []
        self._failed = set()
        while await self._has_receiver() and (moved := await self._move_some(holding, place, _AT_ONCE)):
            if moved == before:
                raise RuntimeError(f"{key_of(holding)} is still held after its move")
            before = moved
            if not await self._lease.renew():
                raise _Interrupted("another instance continues it")

    async def _has_receiver(self) -> bool:
        """Return whether the receiver is still an enabled account."""
        receiver = await self._req.part(Directory).user(self._handover["to_user_id"])
        return receiver is not None and receiver["status"] == "enabled"

    async def _move_some(self, holding: Holding, place: int, most: int) -> list[Any]:
        """Try to move up to `most` records, and return their ids. One that cannot be moved does not stop the others."""
        rows: list[Record] = []

        async def work() -> None:
            rows[:] = await self._find(holding, most)
            await self._move(holding, place, rows)

        try:
            await self._req.transaction(work)
        except ApiError as error:
            if error.kind.status >= 500:
                raise _Interrupted(str(error)) from error
            if most > 1:
                # moved one by one, so that only the records at fault fail
                for _ in range(len(rows)):
                    await self._move_some(holding, place, 1)
            else:
                self._failed.add(rows[0]["id"])
                await self._note_failure(holding.collection, rows[0]["id"], error.reason)
        return [row["id"] for row in rows]

    async def _find(self, holding: Holding, most: int) -> list[Record]:
        held = holding.filter(self._handover["user_id"], self._req.now)
        left = {"_id": {"$nin": list(self._failed)}} if self._failed else None
        store = self._req.system_store(holding.collection)
        return await store.find({"$and": [held, left]} if left else held, limit=most)

    async def _move(self, holding: Holding, place: int, rows: Sequence[Record]) -> None:
        if rows:
            from_id, to_id = self._handover["user_id"], self._handover["to_user_id"]
            await holding.move(Move(self._req, holding, from_id, to_id), rows)
            await self._change({"$inc": {f"items.{place}.count": len(rows)}})

    async def _note_failure(self, collection: Collection, id: Any, reason: Message) -> None:
        failure = {"collection": collection.name, "resource_id": str(id), "zh": reason.zh, "en": reason.en}
        await self._change({"$push": {"failures": {"$each": [failure], "$slice": MAX_FAILURES}}})

    async def _change(self, change: Record) -> Record | None:
        running = {"_id": self._handover["id"], "status": "running"}
        return await self._req.system_store(HANDOVERS).update_unversioned(running, change)

    async def _finish(self) -> None:
        """End the handover, and notify the receiver if anything was moved."""
        handover = await self._req.system_store(HANDOVERS).get(self._handover["id"])
        await self._change({"$set": _ended("failed" if handover["failures"] else "finished")})
        counts = Counter({(item["collection"], item["field"]): item["count"] for item in handover["items"]})
        moved = [Held(one, counts[one.collection.name, one.field]) for one in holdings(self._req.service)]
        received = [one for one in moved if one.count]
        if not received:
            return
        names = await self._req.system_store(USERS).find({"_id": handover["user_id"]}, fields=["real_name", "username"])
        person = names[0] if names else await self._req.system_store(USERS).deleted.get(handover["user_id"])
        await self._req.emit(
            NOTIFY,
            user_ids=[handover["to_user_id"]],
            kind="handover",
            title=HANDED_OVER.filled(name=person["real_name"] or person["username"]),
            body=describe(received),
            data={"handover_id": str(handover["id"]), "user_id": handover["user_id"]},
            key=f"handover:{handover['id']}",
        )
