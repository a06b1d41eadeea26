"""Updates the departments of records whose owners move to another department: in the background, in batches.

For each person, a document says which department their records have. It is written after the records, so any instance
can continue where another one stopped. The records are checked once more a little later, because other instances and
open transactions may have written some with the former department meanwhile. Without such documents, as in a database
of an older version, every record gets its department.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from config.database import DatabaseUnavailable, Document
from handlers.data.collection import THE_USERS, Collection
from handlers.data.database import Database, Lease, utc_now
from handlers.data.visible.responsible import changed_fields, without_department
from handlers.data.visible.scope import OWNER_DEPARTMENT
from handlers.schema.values import RecordId

log = logging.getLogger("tradewind.database")
FOLLOWED = "core_owner_departments"
_SETTLED_AFTER = timedelta(seconds=10)  # until every instance knows the department, and older transactions have ended
_CHECK_SECONDS = 5.0
_RETRY_SECONDS = 1.0
_COMPARE_SECONDS = 600.0
_LEASE_SECONDS = 30.0
_PEOPLE_AT_ONCE = 500
_FOUND_AT_ONCE = 20_000
_BATCH = 500
Departments = Mapping[int, int | None]


class OwnerMoves:
    """Writes the departments of owners into their records whenever they differ."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._driver = database.driver
        self._people = database.referred.get(THE_USERS)
        self._owned = [one for one in database.collections.values() if one.owner]
        self._changed: set[int] = set()  # people whose records may have a department that is not theirs
        self._known: dict[int, int | None] = {}  # the departments of people at the last comparison
        self._unsettled: dict[int, datetime] = {}  # people whose records are checked once more, and when
        self._compare_all = True
        self._started = False
        self._compared_at = 0.0
        self._wake = asyncio.Event()
        if self._people is not None and self._people.watched:
            database.changes.listen(self._people.name, self._notice)

    def _notice(self, id: RecordId) -> None:
        if id is None:
            self._compare_all = True
        else:
            self._changed.add(id)
        self._wake.set()

    async def run(self) -> None:
        """Follow all moves, for ever."""
        if self._people is None or not self._owned:
            return
        while True:
            self._wake.clear()
            try:
                await self.follow()
            except DatabaseUnavailable as error:
                log.warning("records cannot follow their owners", extra={"reason": str(error)[:300]})
                await asyncio.sleep(_RETRY_SECONDS)
            except Exception:
                log.exception("records do not follow their owners")
                await asyncio.sleep(_RETRY_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._wake.wait()

    async def follow(self) -> None:
        """Write the departments of all people who moved into their records, unless another instance is doing so."""
        started = time.monotonic()
        everybody = self._compare_all or started - self._compared_at >= _COMPARE_SECONDS
        if not everybody:
            await self._drop_unmoved()
            due = utc_now()
            self._changed |= {id for id, at in self._unsettled.items() if at <= due}
        lease = Lease(self._database, "owners", _LEASE_SECONDS)
        if not (everybody or self._changed) or not await lease.acquire():
            return
        noticed, self._changed, self._compare_all = self._changed, set(), False
        try:
            await self._follow(None if everybody else noticed, lease)
        except BaseException:
            self._changed |= noticed
            self._compare_all |= everybody
            raise
        finally:
            await lease.release()
        if everybody:
            self._compared_at = started

    async def _drop_unmoved(self) -> None:
        """Forget the people whose department did not change: every log-in changes an account."""
        noticed, self._changed = self._changed, set()
        try:
            people = await self._departments(noticed) if noticed else {}
        except BaseException:
            self._changed |= noticed
            raise
        self._changed |= {id for id, place in people.items() if self._known.get(id, ...) != place}

    async def _follow(self, noticed: set[int] | None, lease: Lease) -> None:
        unfinished = set() if self._started else await self._unfinished()
        noticed = noticed | unfinished if noticed is not None else None
        followed = await self._read(FOLLOWED, noticed)
        people = await self._departments(noticed)
        due = utc_now() - _SETTLED_AFTER
        known = {id: row for id, row in followed.items() if id not in unfinished}
        moved = {id: place for id, place in people.items() if id not in known or known[id]["department_id"] != place}
        again = {
            id: place
            for id, place in people.items()
            if id not in moved and not known[id]["settled"] and known[id]["at"] <= due
        }
        await self._move(moved, lease, settled=False)
        await self._move(again, lease, settled=True)
        for id, row in known.items():
            if row["settled"] or id in again or id not in people:
                self._unsettled.pop(id, None)
            else:
                self._unsettled[id] = row["at"] + _SETTLED_AFTER
        self._unsettled |= dict.fromkeys(moved, utc_now() + _SETTLED_AFTER)
        self._known |= people
        self._started = True

    async def _departments(self, ids: Iterable[int] | None) -> Departments:
        """Return the departments of these people, or of all if `ids` is None, including deleted ones."""
        if self._people is None:
            return {}
        field = self._people.scope_department
        people = await self._read(self._people.name, ids, ["_id", field])
        return {id: row.get(field) for id, row in people.items()}

    async def _read(
        self, collection: str, ids: Iterable[int] | None, fields: Sequence[str] | None = None
    ) -> Mapping[int, Document]:
        """Return the documents with these ids, or all of them, by id."""
        which = {"_id": {"$gt": 0}} if ids is None else {"_id": {"$in": list(ids)}}
        return {row["_id"]: row for row in await self._driver.find(collection, which, fields=fields)}

    async def _unfinished(self) -> set[int]:
        """Return the owners of records that an older version of the service wrote, without any department field."""
        found: set[int] = set()
        for collection in self._owned:
            by_index = {"deleted": {"$in": [False, True]}, OWNER_DEPARTMENT: None, collection.owner: {"$ne": None}}
            rows = await self._driver.aggregate(
                collection.name,
                [
                    {"$match": {**by_index, "$expr": {"$eq": [{"$type": f"${OWNER_DEPARTMENT}"}, "missing"]}}},
                    {"$group": {"_id": f"${collection.owner}"}},
                ],
            )
            found |= {row["_id"] for row in rows}
        return found

    async def _move(self, people: Departments, lease: Lease, *, settled: bool) -> None:
        together: dict[int | None, list[int]] = defaultdict(list)
        for id, department in people.items():
            together[department].append(id)
        for department, ids in together.items():
            for first in range(0, len(ids), _PEOPLE_AT_ONCE):
                some = ids[first : first + _PEOPLE_AT_ONCE]
                for collection in self._owned:
                    await self._write_all(collection, some, department, lease)
                state = {"department_id": department, "at": utc_now(), "settled": settled}
                await self._driver.insert_missing(FOLLOWED, [{"_id": id, **state} for id in some])
                await self._driver.update_many(FOLLOWED, {"_id": {"$in": some}}, {"$set": state})

    async def _write_all(
        self, collection: Collection, people: Sequence[int], department: int | None, lease: Lease
    ) -> None:
        outdated = without_department(collection, people, department)
        found: list[Mapping[str, Any]] = [{"$match": outdated}, {"$limit": _FOUND_AT_ONCE}, {"$project": {"_id": 1}}]
        done = 0
        while rows := await self._driver.aggregate(collection.name, found):
            written = 0
            for first in range(0, len(rows), _BATCH):
                started = time.monotonic()
                ids = [row["_id"] for row in rows[first : first + _BATCH]]
                written += await self._write(collection, {"_id": {"$in": ids}, **outdated}, department)
                if not await lease.renew():
                    raise DatabaseUnavailable("another instance continues")
                await asyncio.sleep(time.monotonic() - started)  # works for at most half of the time
            done += written
            if not written:
                break
        if done:
            log.info("records followed their owners", extra={"collection": collection.name, "count": done})

    async def _write(self, collection: Collection, outdated: Mapping[str, Any], department: int | None) -> int:
        change = [{"$set": changed_fields(collection, department)}]
        written = await self._driver.update_many(collection.name, outdated, change)
        self._database.tell(collection.name, None)
        return written


async def follow_at_once(database: Database, people: Departments) -> None:
    """Write the departments of these people into their records within the caller's transaction, to see the effects."""
    for collection in (one for one in database.collections.values() if one.owner):
        for id, department in people.items():
            outdated = without_department(collection, [id], department)
            change = [{"$set": changed_fields(collection, department)}]
            if await database.driver.update_many(collection.name, outdated, change):
                database.tell(collection.name, None)
