"""The database of a process: its driver, its collections, their changes, and the stores over them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar, cast, overload

from bson import ObjectId

from config.database import Batcher, DatabaseUnavailable, Driver, DuplicateKey, Filter
from handlers.access.actor import SYSTEM, Actor
from handlers.data.collection import THE_USERS, Collection, named
from handlers.data.history.history import History
from handlers.data.history.outbox import Outbox
from handlers.data.references.holders import Holder, Holders, find_holders
from handlers.data.store import Store
from handlers.data.sync.changes import Changes
from handlers.data.sync.locks import exclude_sharers, held_locks, lock_records, share_records
from handlers.data.sync.single_flight import SingleFlight
from handlers.data.visible.delegated_access import find_parents
from handlers.data.visible.keepers import Keeping
from handlers.data.visible.responsible import PeopleDepartments
from handlers.data.visible.scope import ALL_ROWS, Scope
from handlers.schema.values import Declared, RecordId, Typed
from handlers.tasks import end

Result = TypeVar("Result")
log = logging.getLogger("tradewind.database")

_uncommitted: ContextVar[list[tuple[str, Any]] | None] = ContextVar("uncommitted_changes", default=None)
COUNTERS = "core_counters"
LEASES = "core_leases"
PREPARE_SECONDS = 5.0  # how long a starting instance waits for another one that was killed while it prepared
_WIPE_BATCH = 5000
_NUMBERS_AT_ONCE = 1000


class AlikeRecords(Exception):
    """Stored records of a collection are equal in the fields of a unique index, which therefore cannot be created."""

    def __init__(self, collection: str, fields: Sequence[str]) -> None:
        names = " and ".join(fields)
        super().__init__(
            f"Records in the collection {collection} have the same {names}, which must be unique: "
            "change or remove all but one of them, then start again."
        )


class Database:
    """All collections of one process, over one driver."""

    def __init__(self, driver: Driver, collections: Iterable[Collection]) -> None:
        self.driver = driver
        self._absent: list[Holder] = []
        self.take(collections)
        watched = [name for name, one in self.collections.items() if one.watched or one.keepers]
        self.changes = Changes(driver, watched)
        self.keeping = Keeping(driver, self.collections.values(), self.changes)
        self.counts = SingleFlight()
        self.history = History(driver)
        self.outbox = Outbox(driver, self.history)
        self.departments = PeopleDepartments(self.referred.get(THE_USERS), self)
        self.outdated: set[str] = set()  # collections whose search fields `SearchIndexing` still has to rebuild
        self._numbers = Batcher(self._take_numbers, _NUMBERS_AT_ONCE)

    def take(self, collections: Iterable[Collection]) -> None:
        """Serve these collections from now on: those of the start, with the own fields that they have now."""
        self.collections = {collection.name: collection for collection in collections}
        self._extended = {name: one for name, one in self.collections.items() if one.own}
        self.referred = named(self.collections.values())
        self.holders: Holders = find_holders(self.collections.values())
        self.parents = find_parents(self.collections.values())
        self.heed(self._absent)

    def current(self, collection: Collection[Declared]) -> Collection[Declared]:
        """Return a collection as it is served, with its own fields; plugins declare it without them."""
        extended = self._extended.get(collection.name)
        if extended is None or extended.title != collection.title:
            return collection
        return cast(Collection[Declared], extended)

    def heed(self, holders: Iterable[Holder]) -> None:
        """Also heed these references, of collections that are not declared here, when a record is deleted."""
        self._absent = list(holders)
        for holder in self._absent:
            target = self.referred.get(holder.link.target)
            if target is not None and holder.collection.name not in self.collections:
                self.holders = {**self.holders, target.name: (*self.holders.get(target.name, ()), holder)}

    @overload
    def store(
        self, collection: Collection[Typed], actor: Actor = ..., scope: Scope = ..., now: datetime | None = ...
    ) -> Store[Typed]: ...

    @overload
    def store(
        self, collection: Collection, actor: Actor = ..., scope: Scope = ..., now: datetime | None = ...
    ) -> Store: ...

    def store(
        self, collection: Collection, actor: Actor = SYSTEM, scope: Scope = ALL_ROWS, now: datetime | None = None
    ) -> Store[Any]:
        """Return the store of `collection` for `actor` under `scope`; by default for the service, with all rows."""
        return Store(self, self.current(collection), actor, scope, now or utc_now(), False)

    async def find_empty(self, names: Iterable[str]) -> frozenset[str]:
        """Return which of these collections have no records, or are not there."""
        known = {name: self.collections.get(name) for name in names}
        seen = [
            name for name, one in known.items() if one and await self.store(one).find({}, limit=1, fields=("version",))
        ]
        return frozenset(known) - frozenset(seen)

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` so that all its writes happen or none; it may run more than once.

        Listeners are notified of its changes after the commit.
        """
        if self.driver.in_transaction:
            return await work()
        changed: list[tuple[str, Any]] = []
        locked: set[str] = set()

        async def attempt() -> Result:
            changed.clear()
            locked.clear()
            return await work()

        token, lock_token = _uncommitted.set(changed), held_locks.set(locked)
        try:
            result = await self.driver.transaction(attempt)
        finally:
            _uncommitted.reset(token)
            held_locks.reset(lock_token)
        for collection, id in changed:
            self.changes.tell(collection, id)
        return result

    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work`, which only reads, so that it sees all records as of one moment; it may run more than once."""
        return await self.driver.snapshot(work)

    async def lock(self, collection: Collection, id: RecordId) -> None:
        """Lock a record until the transaction ends; transactions that lock the same record wait, in every process.

        The record gets no new version, no listener is notified, and the record need not exist. Raises
        `DatabaseUnavailable` if waiting for the others takes longer than the time limit.
        """
        await lock_records(self.driver, [(collection.name, id)])

    async def share(self, collection: Collection, id: RecordId) -> None:
        """Keep a record as it was read until the transaction ends: others may share it too, but not `lock_all` it."""
        await share_records(self.driver, [(collection.name, id)])

    async def lock_all(self, collection: Collection, id: RecordId) -> None:
        """Lock a record until the transaction ends, also against those who `share` it. Raises as `lock` does."""
        await exclude_sharers(self.driver, [(collection.name, id)])

    async def take_turn(self, collection: Collection, *ids: RecordId) -> None:
        """Run the transactions of this process that call this for the same records one after the other.

        Call it at the start of a transaction that will write records which many others write too: it saves attempts
        that would end in a write conflict. It locks nothing for other processes.
        """
        await self.driver.take_turn(collection.name, *ids)

    def tell(self, collection: str, id: RecordId) -> None:
        """Notify listeners that this process wrote a document, or several if `id` is None: now, or after the commit."""
        changed = _uncommitted.get()
        if changed is None:
            self.changes.tell(collection, id)
        else:
            changed.append((collection, id))

    @property
    def has_uncommitted_changes(self) -> bool:
        """Whether the running transaction has changed something."""
        return bool(_uncommitted.get())

    def is_changed_here(self, collection: str) -> bool:
        """Return whether the running transaction changed the collection; only its reads see that before the commit."""
        return any(name == collection for name, _ in _uncommitted.get() or ())

    async def next_number(self, name: str, *, outside_transaction: bool = True) -> int:
        """Return the next whole number of the sequence `name`, from 1.

        A number taken `outside_transaction` leaves a gap if the transaction fails; otherwise taking it is part of the
        transaction.
        """
        if outside_transaction:
            with self.driver.operations.shared():
                return await self._numbers.submit(name, None)
        counter = await self.driver.update_one(COUNTERS, {"_id": name}, {"$inc": {"value": 1}}, upsert=True)
        return int(counter["value"]) if counter else 0

    async def _take_numbers(self, name: str, wanted: Sequence[None]) -> Sequence[int]:
        """Take one number for each caller, in the order of the calls."""
        count = len(wanted)
        counter = await self.driver.update_one(
            COUNTERS,
            {"_id": name},
            {"$inc": {"value": count}},
            upsert=True,
            outside_transaction=True,
            wait_for_durability=False,
        )
        last = int(counter["value"]) if counter else count
        return range(last - count + 1, last + 1)

    async def wipe(self, collection: Collection) -> int:
        """Delete every record permanently, soft-deleted ones too, a batch at a time; return how many."""
        removed = 0
        while rows := await self.driver.find(collection.name, {}, limit=_WIPE_BATCH, fields=["_id"]):
            removed += await self.driver.delete_many(collection.name, {"_id": {"$in": [row["_id"] for row in rows]}})
        await self.history.forget(collection)
        self.tell(collection.name, None)
        return removed

    async def remove(self, collection: Collection, filter: Filter) -> int:
        """Delete the records that match permanently, soft-deleted ones too; return how many."""
        removed = await self.driver.delete_many(collection.name, filter)
        self.tell(collection.name, None)
        return removed

    async def prepare(self, names: Iterable[str] | None = None) -> None:
        """Make the indexes of these collections, or of all, as declared; one instance does it while the others wait.

        Raises `AlikeRecords` if stored records violate a unique index.
        """
        changed = [
            collection
            for collection in (self.collections.values() if names is None else map(self.collections.__getitem__, names))
            if not await self.driver.has_indexes(collection.name, collection.index_specs)
        ]
        if not changed:
            return
        async with Lease(self, "prepare", seconds=PREPARE_SECONDS):
            for collection in changed:
                try:
                    await self.driver.synchronise_indexes(collection.name, collection.index_specs)
                except DuplicateKey as error:
                    raise AlikeRecords(collection.name, error.fields) from error


class Lease:
    """A lock that one instance holds for `seconds` by the database's clock, so that it expires if its holder dies.

    `async with` waits for the lease and renews it until the block ends: `seconds` limits how long others wait for a
    holder that was killed, not how long the block takes. `fencing` increases with every holder.
    """

    def __init__(self, database: Database, name: str, seconds: float, poll_seconds: float = 0.1) -> None:
        self._driver = database.driver
        self._name = name
        self._seconds = seconds
        self._poll = poll_seconds
        self._holder = ObjectId()
        self._renewing: asyncio.Task[None] | None = None
        self.fencing = 0

    async def acquire(self) -> bool:
        """Take the lease if nobody holds it; return whether it was taken."""
        free = {"$lt": [{"$ifNull": ["$until", datetime.fromtimestamp(0, UTC)]}, "$$NOW"]}
        taken = {
            "holder": {"$cond": [free, self._holder, "$holder"]},
            "fencing": {"$add": [{"$ifNull": ["$fencing", 0]}, {"$cond": [free, 1, 0]}]},
            "until": {"$cond": [free, self._end(), "$until"]},
            "began": {"$cond": [free, "$$NOW", "$began"]},
        }
        try:
            lease = await self._driver.update_one(
                LEASES, {"_id": self._name}, [{"$set": taken}], upsert=True, outside_transaction=True
            )
        except DuplicateKey:
            return False
        if lease is None or lease["holder"] != self._holder:
            return False
        self.fencing = int(lease["fencing"])
        return True

    def _end(self) -> dict[str, Any]:
        return {"$add": ["$$NOW", int(self._seconds * 1000)]}

    async def renew(self) -> bool:
        """Renew the lease; return False if another instance has taken it."""
        held = await self._driver.update_one(
            LEASES,
            {"_id": self._name, "holder": self._holder},
            [{"$set": {"until": self._end()}}],
            outside_transaction=True,
        )
        return held is not None

    async def end(self, fault: str) -> None:
        """Record that the work under the lease has ended, and `fault` if it failed; the lease is still held."""
        held = {"_id": self._name, "holder": self._holder}
        noted = [{"$set": {"ended": "$$NOW", "fault": fault}}]
        await self._driver.update_one(LEASES, held, noted, outside_transaction=True)

    async def release(self) -> None:
        """Give up the lease."""
        await self._driver.update_one(
            LEASES, {"_id": self._name, "holder": self._holder}, {"$unset": {"until": ""}}, outside_transaction=True
        )

    async def __aenter__(self) -> Lease:
        while not await self.acquire():
            await asyncio.sleep(self._poll)
        self.keep()
        return self

    def keep(self) -> None:
        """Renew the acquired lease in the background until `leave` is called."""
        self._renewing = asyncio.create_task(self._renew_repeatedly(), name=f"lease {self._name}")

    async def _renew_repeatedly(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 3)
            try:
                if not await self.renew():
                    log.warning("lease lost", extra={"lease": self._name})
                    return
            except DatabaseUnavailable:
                log.warning("lease not renewed", extra={"lease": self._name})

    async def __aexit__(self, *error: object) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Stop renewing the lease, and give it up."""
        if self._renewing is not None:
            await end([self._renewing])
        try:
            await self.release()
        except DatabaseUnavailable:
            log.warning("lease not released", extra={"lease": self._name})


def utc_now() -> datetime:
    """Return the current time in UTC, truncated to milliseconds as MongoDB stores it."""
    return _to_datetime(time.time_ns() // 1_000_000)


@lru_cache(maxsize=2)
def _to_datetime(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
