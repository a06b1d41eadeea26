"""Migrations: give documents that an older version has stored the form of this one, in batches, alongside requests.

One instance at a time runs the migrations that are due, in the order of the plugins; their progress is stored in the
database, so that any instance can continue. Instances of the older version may run meanwhile and write the old form, so
each collection is read once more a day later. Changes that older versions cannot read are left to a migration with
`contract`, which runs on command only. The name of each such migration stays in the database once it has begun; code
that does not know the name does not start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from config.database import DatabaseUnavailable, Document, Driver, Filter, NoSuchIndex
from config.version import VERSION
from handlers.data.collection import Collection
from handlers.data.database import Lease, utc_now
from handlers.service import Service

log = logging.getLogger("tradewind.migrations")
MIGRATIONS = "core_migrations"  # the progress of stages, and the names of migrations with `contract`
_LEASE_SECONDS = 30.0
_CHECK_SECONDS = 30.0
_NOTICE_SECONDS = 2 * _CHECK_SECONDS + 5  # until every older instance has noticed, and reports that it is not ready
_WAIT_SECONDS = 0.2
_BATCH = 100
_PASSES, _BETWEEN = 2, timedelta(days=1)
_SENTENCE = 300

State = Literal["due", "again", "done", "failed"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Stage:
    """Documents of a collection that a migration changes.

    `change(rows)` gets up to a hundred documents as they are stored, deleted ones too, and returns how many it has
    changed. It may get a document again, and requests may write it meanwhile, so it must change a document only if that
    is still as it was read. `filter` selects the documents, which are read once in the order of their ids. With `hint`,
    the name of an index that contains nothing else, batches are read until `change` changes none of a batch.
    """

    collection: Collection
    change: Callable[[Sequence[Document]], Awaitable[int]]
    filter: Filter = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True)
class Migration:
    """A change of stored documents.

    `name` is the month and the subject, `2026-11-open-items`; it never changes. `summary` is a sentence that says what
    the migration does. `stages(service)` returns the collections that it goes through, in order, and must not use the
    database. `contract`: older versions cannot read the result, so it runs by `tradewind migrate --contract` only.
    """

    name: str
    summary: str
    stages: Callable[[Service], Iterable[Stage]]
    contract: bool = False


@dataclass(frozen=True)
class StageState:
    """The progress of a stage: how many documents are left (None: not counted), and why it failed, if it did."""

    plugin: str
    name: str
    summary: str
    collection: str
    contract: bool
    state: State
    left: int | None = None
    failure: str | None = None


@dataclass
class Progress:
    """What a run, or a stage of it, has done so far: the documents that were looked at and changed."""

    looked_at: int = 0
    changed: int = 0


Tell = Callable[[str, Progress], None]


class MigrationFailed(Exception):
    """A migration failed; the message is a sentence. What was done stays, and the next run continues from there."""


class Migrations:
    """Runs `migrations`, each given with the name of its plugin, in order. `plugins` are the names of all plugins."""

    def __init__(
        self, service: Service, migrations: Iterable[tuple[str, Migration]], plugins: Sequence[str] = ()
    ) -> None:
        self._service = service
        self._driver = service.database.driver
        self._all = list(migrations)
        self._plugins = plugins

    async def run(self) -> None:
        """Run what is due every half a minute; never ends."""
        while True:
            try:
                await self._check()
            except DatabaseUnavailable as error:
                log.warning("migrations wait for the database", extra={"reason": str(error)[:_SENTENCE]})
            except MigrationFailed:
                pass  # already logged where it failed
            except Exception:
                log.exception("migrations cannot run")
            await asyncio.sleep(_CHECK_SECONDS)

    async def _check(self) -> None:
        newer = await self.find_newer()
        if newer is None:
            await self.run_due()
            return
        log.error("this instance must stop", extra={"reason": newer})
        if "migrations" not in self._service.readiness:

            async def refuse() -> None:
                raise MigrationFailed(newer)

            self._service.ready_when("migrations", refuse)

    async def find_newer(self) -> str | None:
        """Return why this version cannot use the database, as a sentence, or None if it can."""
        return await find_newer(self._driver, self._plugins, [migration.name for _, migration in self._all])

    async def run_due(self, *, contract: bool = False, again: bool = False, tell: Tell | None = None) -> Progress:
        """Run what is due, unless another instance is doing so. Raises `MigrationFailed`.

        `contract`: run `contract` migrations too. `again`: read collections a second time now and not a day after the
        first time. With `tell`, which is called with the name of the stage and its progress after each batch, the run
        waits for the other instance and does not pause between batches.
        """
        progress, lease = Progress(), Lease(self._service.database, "migrations", _LEASE_SECONDS)
        while not await lease.acquire():
            if tell is None:
                return progress
            await asyncio.sleep(_WAIT_SECONDS)
        lease.keep()
        try:
            await self._run_all(progress, contract, ("due", "again") if again else ("due",), tell)
        finally:
            await lease.leave()
        return progress

    async def _run_all(self, progress: Progress, contract: bool, wanted: Sequence[State], tell: Tell | None) -> None:
        kept = await self._kept()
        waiting: set[str] = set()  # plugins whose further migrations must wait for a `contract` one
        earlier: dict[str, list[tuple[Migration, Stage]]] = defaultdict(list)
        for plugin, migration in self._all:
            if plugin in waiting:
                continue
            stages = list(migration.stages(self._service))
            due = [stage for stage in stages if _state_of(migration, stage, kept) in wanted]
            if due and migration.contract and not contract:
                waiting.add(plugin)
                continue
            if due and migration.contract:
                await self._announce(plugin, migration)
                for before, stage in earlier[plugin]:  # once more, for what older instances wrote until now
                    await self._run_stage(before, stage, {"passes": _PASSES - 1}, progress, tell)
            earlier[plugin] += [(migration, stage) for stage in stages]
            for stage in due:
                await self._run_stage(migration, stage, kept.get(_key(migration, stage)) or {}, progress, tell)

    async def _kept(self) -> Mapping[str, Document]:
        return {row["_id"]: row for row in await self._driver.find(MIGRATIONS, {})}

    async def _announce(self, plugin: str, migration: Migration) -> None:
        """Record that older versions cannot use the database from now on, and wait until their instances know."""
        facts = {"contract": True, "plugin": plugin, "summary": migration.summary, "version": VERSION}
        await self._driver.insert_missing(MIGRATIONS, [{"_id": migration.name, **facts, "at": utc_now()}])
        (kept,) = await self._driver.find(MIGRATIONS, {"_id": migration.name}, limit=1)
        log.warning("older versions cannot use the database any more", extra={"migration": migration.name})
        await asyncio.sleep(max(0.0, _NOTICE_SECONDS - (utc_now() - kept["at"]).total_seconds()))

    async def _run_stage(
        self,
        migration: Migration,
        stage: Stage,
        kept: Mapping[str, Any],
        progress: Progress,
        tell: Tell | None,
    ) -> None:
        key, done = _key(migration, stage), Progress()
        try:
            await self._go_through(key, stage, kept, done, tell)
        except (DatabaseUnavailable, asyncio.CancelledError):
            raise
        except NoSuchIndex as error:
            log.warning("migration waits for an index", extra={"migration": key, "reason": str(error)[:_SENTENCE]})
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:_SENTENCE]
            await self._keep(key, {"failed": reason, "failed_at": utc_now(), "version": VERSION})
            log.exception("migration failed", extra={"migration": key})
            raise MigrationFailed(
                f"The migration {migration.name} failed on {stage.collection.name} ({reason}). What it has done "
                "stays; the next run goes on from there."
            ) from error
        progress.looked_at += done.looked_at
        progress.changed += done.changed
        if done.changed:
            log.info("documents migrated", extra={"migration": key, **asdict(done)})

    async def _go_through(
        self, key: str, stage: Stage, kept: Mapping[str, Any], progress: Progress, tell: Tell | None
    ) -> None:
        after = kept.get("after")
        while True:
            began = time.monotonic()
            rows = await self._read(stage, after)
            changed = await stage.change(rows) if rows else 0
            progress.looked_at += len(rows)
            progress.changed += changed
            ended = not changed if stage.hint else len(rows) < _BATCH
            after = rows[-1]["_id"] if rows and not stage.hint else None
            if ended and not stage.hint:
                done = {"passes": kept.get("passes", 0) + 1, "again_at": utc_now() + _BETWEEN}
                await self._keep(key, {"after": None, **done, "failed": None, "version": VERSION})
            elif not stage.hint or kept.get("failed"):
                await self._keep(key, {"after": after, "failed": None, "version": VERSION})
            if tell is not None:
                tell(key, progress)
            if ended:
                return
            if tell is None:
                await asyncio.sleep(time.monotonic() - began)  # so that migrations use at most half of the time

    async def _read(self, stage: Stage, after: Any) -> list[Document]:
        if stage.hint:
            return await self._driver.find(stage.collection.name, stage.filter, limit=_BATCH, hint=stage.hint)
        which = _after(stage, after)
        return await self._driver.find(stage.collection.name, which, sort=(("_id", 1),), limit=_BATCH)

    async def _keep(self, key: str, values: Mapping[str, Any]) -> None:
        await self._driver.update_one(MIGRATIONS, {"_id": key}, {"$set": values}, upsert=True)

    async def _count(self, stage: Stage, after: Any) -> int:
        which = _after(stage, after)
        try:
            return await self._driver.count(stage.collection.name, which, hint=stage.hint or None)
        except NoSuchIndex:  # the first start of this version has yet to make it
            return await self._driver.count(stage.collection.name, which)

    async def states(self, *, count: bool = False) -> list[StageState]:
        """Return the progress of each stage; with `count`, how many documents are left. Writes nothing."""
        kept = await self._kept()
        found: list[StageState] = []
        for plugin, migration in self._all:
            for stage in migration.stages(self._service):
                row = kept.get(_key(migration, stage)) or {}
                state, left = _state_of(migration, stage, kept), None
                if state == "due" and count:
                    left = await self._count(stage, row.get("after"))
                if state == "due" and row.get("failed"):
                    state = "failed"
                described = (plugin, migration.name, migration.summary, stage.collection.name, migration.contract)
                found.append(StageState(*described, state, left, row.get("failed")))
        return found


async def find_newer(driver: Driver, plugins: Iterable[str], known: Iterable[str]) -> str | None:
    """Return why code with these plugins and migrations cannot use the database, as a sentence, or None if it can."""
    loaded, names = {"core", *plugins}, set(known)
    for row in await driver.find(MIGRATIONS, {"contract": True}):
        if row["plugin"] in loaded and row["_id"] not in names:
            return (
                f"The database is newer than this version, {VERSION}: Tradewind {row['version']} ran {row['_id']} on "
                f"it ({row['summary']}) Start that version or a newer one, or restore a backup from before."
            )
    return None


def _key(migration: Migration, stage: Stage) -> str:
    return f"{migration.name}/{stage.collection.name}"


def _after(stage: Stage, after: Any) -> Filter:
    return stage.filter if after is None else {"$and": [{"_id": {"$gt": after}}, stage.filter]}


def _state_of(migration: Migration, stage: Stage, kept: Mapping[str, Document]) -> State:
    """Return the state of a stage by its stored progress; with `hint` it is always due: the index has what is left."""
    row = kept.get(_key(migration, stage)) or {}
    if stage.hint:
        return "due"
    if row.get("passes", 0) >= (1 if migration.contract else _PASSES):
        return "done"
    again_at: datetime | None = row.get("again_at")
    return "again" if row.get("after") is None and again_at is not None and utc_now() < again_at else "due"
