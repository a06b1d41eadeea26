"""From the outbox to deliveries: which webhook gets which change, and what of it its service account may read."""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from plugins.api import ApiError, Collection, Record, Request, Route, Service, utc_now
from plugins.api.data import Change
from plugins.api.errors import DatabaseUnavailable, refusal
from plugins.api.ports import Accounts, Authorizer
from plugins.api.records import Catalogue
from plugins.api.requests import as_json, encode_once
from plugins.webhook.events import EVERYTHING, readers_of
from plugins.webhook.records import DELIVERIES, EVENT

Hook = Mapping[str, Any]
log = logging.getLogger("tradewind.webhook")


class Collector:
    """Makes deliveries from the outbox of the collections that webhooks name."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._catalogue: Catalogue | None = None
        self._readers: Mapping[str, tuple[Collection, Route]] = {}

    @property
    def readers(self) -> Mapping[str, tuple[Collection, Route]]:
        """The collections whose records can be read with a permission, and the routes that read one, by name."""
        catalogue = self._service.part(Catalogue)
        if catalogue is not self._catalogue:  # own fields make another one
            self._catalogue, self._readers = catalogue, readers_of(catalogue)
        return self._readers

    def named(self, events: Iterable[str]) -> set[str]:
        """Return the names of the collections that these events belong to."""
        names = {event.partition(".")[0] for event in events}
        return set(self.readers) if EVERYTHING in names else names & self.readers.keys()

    async def collect(self, hooks: Sequence[Hook]) -> int:
        """Make the deliveries of all unsent changes; return of how many records."""
        count = 0
        for name in sorted(self.named(event for hook in hooks for event in hook["events"])):
            collection, route = self.readers[name]
            receive = partial(self._receive, hooks, collection, route)
            count += await self._service.database.outbox.hand_on(collection, receive)
        return count

    async def _receive(
        self, hooks: Sequence[Hook], collection: Collection, route: Route, document: Record, changes: Sequence[Change]
    ) -> None:
        made: list[Record] = []
        for hook in hooks:
            wanted = [one for one in changes if one.at >= hook["created_at"] and _matches(hook, collection, one)]
            record = await self._read(hook, collection, route, document) if wanted else None
            if record is not None:
                made += [await self._delivery(hook, collection, document, record, one) for one in wanted]
        if made:
            # those that a failed attempt has made already keep their message
            await self._service.database.driver.insert_missing(DELIVERIES.name, made)

    async def _read(self, hook: Hook, collection: Collection, route: Route, document: Record) -> Record | None:
        """Return the record as the service account reads it, or None if it may not."""
        actor = await self._service.part(Accounts).actor_of(hook["account_id"])
        authorizer = self._service.part(Authorizer)
        if actor is None or await refusal(actor, route, authorizer) is not None:
            return None
        req = Request(self._service, route.method, route.path, uuid.uuid4().hex, {}, "", route=route, actor=actor)
        req.path, req.query = {"id": str(document["_id"])}, route.check_query({})
        req.scope, req.deleted = await authorizer.scope_of(actor), collection if document["deleted"] else None
        try:
            answer = await encode_once(req, await route.handler(req))
        except (DatabaseUnavailable, TimeoutError):
            raise
        except ApiError:
            return None
        except Exception:
            log.exception("a record cannot be read for a webhook", extra={"collection": collection.name})
            return None
        record: Record = json.loads(answer.body)["data"]
        return record

    async def _delivery(
        self, hook: Hook, collection: Collection, document: Record, record: Record, change: Change
    ) -> Record:
        now, at, event = utc_now(), f"{collection.name}/{document['_id']}", f"{collection.name}.{change.action}"
        return {
            "_id": f"{hook['id']}/{at}/{change.n:012}",
            "webhook_id": hook["id"],
            "message": _message_id(f"{at}/{change.n}"),
            "event": event,
            "resource_id": str(document["_id"]),
            "state": "pending",
            "attempts": 0,
            "next_at": now,
            "created_at": now,
            "number": await self._service.database.next_number(DELIVERIES.name),
            "record": at,
            "payload": _payload(event, collection, document, record, change),
        }


def _matches(hook: Hook, collection: Collection, change: Change) -> bool:
    wanted = (EVERYTHING, f"{collection.name}.*", f"{collection.name}.{change.action}")
    return any(event in hook["events"] for event in wanted)


def _message_id(change: str) -> str:
    return f"msg_{hashlib.sha256(change.encode()).hexdigest()[:32]}"


def _payload(event: str, collection: Collection, document: Record, record: Record, change: Change) -> bytes:
    # what the response with the record leaves out, the changes leave out too
    shown = [name for name in collection.recorded if name in change.after and name in record]
    before, after = (as_json(collection.read, values) for values in (change.before, change.after))
    return json.dumps(
        {
            "type": event,
            "timestamp": as_json(EVENT, {"timestamp": change.at})["timestamp"],
            "data": {
                "collection": collection.name,
                "id": str(document["_id"]),
                "action": change.action,
                "user_id": change.user_id,
                "request_id": change.request_id,
                "version": change.version,
                "changes": [{"field": name, "before": before[name], "after": after[name]} for name in shown],
                "record": None if document["deleted"] else record,
            },
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
