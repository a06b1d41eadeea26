"""`Store`: one collection as one actor sees it. The only door to the data.

`_visible` is the one place that adds soft delete and data scope; `_stamp` the one that writes audit fields.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bson import ObjectId, encode

from config.database import Document, DuplicateKey, Filter, NoSuchIndex
from handlers.actor import Actor
from handlers.data.collection import LIVE, SEARCHED, Collection
from handlers.data.listing import Page, after_cursor, check_depth, list_filter, make_cursor, sort_keys
from handlers.data.scope import ALL_ROWS, Scope
from handlers.data.search import search_key
from handlers.schema.errors import (
    CONFLICT,
    DUPLICATE,
    NOT_FOUND,
    STALE,
    ApiError,
    ErrorKind,
    FieldError,
    ValidationFailed,
)
from handlers.schema.messages import Message

if TYPE_CHECKING:
    from handlers.data.database import Database

_BREATH = 20
_FEW = 3000  # records that are read and sorted in a few milliseconds


class Store:
    """The records of `collection` that `actor` may see under `scope`; `now` is the moment of the request."""

    def __init__(self, database: Database, collection: Collection, actor: Actor, scope: Scope, now: datetime) -> None:
        self._database = database
        self._driver = database.driver
        self.collection = collection
        self.actor = actor
        self.scope = scope if collection.scoped else ALL_ROWS
        self._now = now

    # -- reading

    async def get(self, id: Any) -> Document:
        """The record with this `id`; 40400 where there is none that the actor may see."""
        rules = self.collection
        found = await self._driver.find_by_id(rules.name, rules.parse_id(id), without=rules.unread)
        if found is None or not self._sees(found):
            raise ApiError(NOT_FOUND)
        return self._record(found)

    async def find_one(self, filter: Filter) -> Document | None:
        """A record that matches, or None."""
        visible = self._visible(filter)
        found = await self._driver.find_one(self.collection.name, visible, without=self.collection.unread)
        return self._record(found) if found else None

    async def find(
        self,
        filter: Filter | None = None,
        *,
        sort: str | None = None,
        skip: int = 0,
        limit: int = 0,
        fields: Sequence[str] | None = None,
    ) -> list[Document]:
        """All records that match, in order, or `limit` of them after `skip`; with `fields` those only, read so from the database."""
        keys = sort_keys(self.collection, sort) if sort else []
        rows = await self._driver.find(
            self.collection.name,
            self._visible(filter),
            sort=keys,
            skip=skip,
            limit=limit,
            fields=fields,
            without=self.collection.unread,
        )
        return [self._record(row) for row in rows]

    async def stream(self, query: Mapping[str, Any], filter: Filter | None = None) -> AsyncIterator[Document]:
        """Every record of a list, without pages: for exports."""
        matching = self._visible(self._narrowing(query), filter)
        keys = sort_keys(self.collection, query.get("sort"))
        async for row in self._driver.stream(self.collection.name, matching, sort=keys):
            yield self._record(row)

    async def count(self, filter: Filter | None = None) -> int:
        """How many records match."""
        return await self._driver.count(self.collection.name, self._visible(filter))

    async def page(
        self,
        query: Mapping[str, Any],
        filter: Filter | None = None,
        *,
        fields: Sequence[str] | None = None,
        shown: Container[str] | None = None,
    ) -> Page:
        """One page of a list, as its `list_query` asks; `filter` narrows it further, `fields` the records.

        `shown` are the fields that the rows show, where those are not all: nothing is searched or sorted by another.
        """
        keys = sort_keys(self.collection, query.get("sort"), shown)
        page, size = query["page"], query["page_size"]
        narrowing = self._narrowing(query, shown)
        matching = self._visible(narrowing, filter)
        counted = [matching] if narrowing or filter else self._parts()
        cursor = query.get("cursor")
        skip = 0 if cursor else check_depth(page, size)
        wanted = {"$and": [matching, after_cursor(self.collection, keys, cursor)]} if cursor else matching
        # the cursor is made of the sort keys
        read = [*fields, *(name for name, _ in keys)] if fields is not None else None
        asked = wanted, counted, keys, skip, size, query["with_total"], read
        try:
            rows, total = await self._rows_and_total(*asked, await self._search_hint(query))
        except NoSuchIndex:
            rows, total = await self._rows_and_total(*asked, None)
        next_cursor = make_cursor(keys, rows[size - 1]) if len(rows) > size else None
        return Page([self._record(row) for row in rows[:size]], total, page, size, next_cursor)

    def search(self, query: str, fields: Container[str]) -> Filter:
        """The filter of the records that `q` finds by these fields alone."""
        return self._narrowing({"q": query}, fields)

    def _narrowing(self, query: Mapping[str, Any], shown: Container[str] | None = None) -> dict[str, Any]:
        outdated = self.collection.name in self._database.outdated
        return list_filter(self.collection, query, shown, outdated=outdated)

    async def _search_hint(self, query: Mapping[str, Any]) -> str | None:
        """The index of search where it leads to few records: the planner would spend as long on trying a dozen others."""
        unsure = self.collection.plain or self.collection.name in self._database.outdated
        if not query.get("q") or unsure or self._driver.in_transaction:
            return None
        key = search_key(query["q"])
        if key is None:
            return None
        matching = {**self._live(), **key}
        found = await self._driver.count(self.collection.name, matching, limit=_FEW + 1, hint=SEARCHED.name)
        return SEARCHED.name if found <= _FEW else None

    async def _rows_and_total(
        self,
        wanted: Filter,
        counted: Sequence[Filter],
        keys: list[tuple[str, int]],
        skip: int,
        size: int,
        with_total: bool,
        fields: Sequence[str] | None,
        hint: str | None,
    ) -> tuple[list[Document], int | None]:
        # one row more than the page tells whether there is a next one
        sorted_by = {name for name, _ in keys}
        rows = self._driver.find(
            self.collection.name,
            wanted,
            sort=keys,
            skip=skip,
            limit=size + 1,
            fields=fields,
            without=[name for name in self.collection.unread if name not in sorted_by],
            hint=hint,
        )
        if not with_total:
            return await rows, None
        if self._driver.in_transaction:
            return await rows, sum([await self._driver.count(self.collection.name, part) for part in counted])
        counts = asyncio.gather(*(self._count_together(part, hint) for part in counted))
        found, totals = await asyncio.gather(rows, counts)
        return found, sum(totals)

    async def _count_together(self, matching: Filter, hint: str | None) -> int:
        """How many match: a list's cost. Who asks the same at the same time shares it; it is never older than they."""
        name = self.collection.name
        key = (name, encode({"filter": matching}))
        return await self._database.counts.run(key, lambda: self._driver.count(name, matching, hint=hint))

    def _parts(self) -> list[dict[str, Any]]:
        """Filters that share no row and together are `_visible()`."""
        rules = self.collection
        parts = self.scope.parts(rules.scope_department, rules.scope_person, rules.shared)
        return [{**self._live(), **part} for part in parts]

    async def aggregate(self, pipeline: Sequence[Mapping[str, Any]], *, whole: bool = False) -> list[Document]:
        """An aggregation over the records that the actor may see.

        `whole`: it needs most of them and fields that no index holds. To who sees everything the collection is then
        read as it lies, which takes a third of the time of fetching one record after the other by an index.
        """
        past_indexes = whole and not self.row_filter
        visible = {"$match": self._visible()}
        return await self._driver.aggregate(self.collection.name, [visible, *pipeline], collection_scan=past_indexes)

    # -- writing

    async def create(self, values: Mapping[str, Any], *, id: Any = None) -> Document:
        """Insert a record with its audit fields; 40900 for a taken key, 40001 for a reference to nothing."""
        await self._check_references(values)
        document = {**self.collection.defaults, **values, **self._stamp(values)}
        document["_id"] = id if id is not None else await self._new_id()
        with _DuplicateAnswers(self.collection):
            await self._driver.insert(self.collection.name, [document])
        self._tell(document["_id"])
        return self._record(document)

    async def create_many(self, rows: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Insert records in one go, refused as in `create`; outside a transaction those before the refused one stay."""
        for name, target in self._references():
            wanted = list(dict.fromkeys(row[name] for row in rows if row.get(name) is not None))
            if wanted and not await self._exists(target, wanted):
                raise ValidationFailed([FieldError(name, "reference")])
        documents: list[Document] = []
        for values in rows:
            if len(documents) % _BREATH == 0:
                await asyncio.sleep(0)  # search values take their time: other requests have their turn
            stamped = {**self.collection.defaults, **values, **self._stamp(values), "_id": await self._new_id()}
            documents.append(stamped)
        with _DuplicateAnswers(self.collection):
            await self._driver.insert(self.collection.name, documents)
        self._tell(None)
        return [self._record(document) for document in documents]

    async def update(
        self,
        id: Any,
        values: Mapping[str, Any],
        *,
        version: int | None = None,
        where: Filter | None = None,
        otherwise: ErrorKind = CONFLICT,
        reason: Message | None = None,
        operators: Mapping[str, Any] | None = None,
    ) -> Document:
        """Change a record and answer it as it is afterwards.

        40400 where the actor sees none, 40902 for a stale `version`, `otherwise` (with `reason`) where it does not
        match `where`. `operators` are further MongoDB update operators such as `$push`.
        """
        key = self.collection.parse_id(id)
        try:
            await self._check_references(values)
        except ValidationFailed:
            await self.get(key)  # a record that the actor does not see is 40400 before anything else
            raise
        condition = {"_id": key, **({"version": version} if version is not None else {})}
        matching = self._visible(condition, where)
        changes = {**values, **await self._derived_changes(key, values)}
        with _DuplicateAnswers(self.collection):
            changed = await self._driver.update_one(self.collection.name, matching, self._change(changes, operators))
        if changed is None:
            raise await self._why_not(key, version, otherwise, reason)
        self._tell(key)
        return self._record(changed)

    async def change_many(self, filter: Filter, operators: Mapping[str, Any]) -> int:
        """Change every visible record that matches by MongoDB update operators; answers how many."""
        changed = await self._driver.update_many(
            self.collection.name, self._visible(filter), self._change({}, operators)
        )
        self._tell(None)
        return changed

    async def delete(
        self, id: Any, *, where: Filter | None = None, otherwise: ErrorKind = CONFLICT, reason: Message | None = None
    ) -> None:
        """Delete a record softly; refusals as in `update`."""
        key = self.collection.parse_id(id)
        gone = {"deleted": True, "deleted_at": self._now}
        matching = self._visible({"_id": key}, where)
        changed = await self._driver.update_one(self.collection.name, matching, self._change(gone, None))
        if changed is None:
            raise await self._why_not(key, None, otherwise, reason)
        self._tell(key)

    async def remove(self, filter: Filter) -> int:
        """Remove records of a plain collection for good; answers how many."""
        removed = await self._driver.delete_many(self.collection.name, self._visible(filter))
        self._tell(None)
        return removed

    async def upsert(self, id: Any, values: Mapping[str, Any], operators: Mapping[str, Any] | None = None) -> Document:
        """Change or make the record of a plain collection with this `_id`."""
        update = {**({"$set": dict(values)} if values else {}), **(operators or {})}
        changed = await self._driver.update_one(self.collection.name, {"_id": id}, update, upsert=True)
        self._tell(id)
        return self._record(changed or {"_id": id})

    async def change_one(self, filter: Filter, values: Mapping[str, Any]) -> Document | None:
        """Change the record that matches in one atomic step; None where none does."""
        return await self._changed(filter, self._change(values, None))

    async def change_quietly(
        self, filter: Filter, update: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Document | None:
        """As `change_one` with MongoDB update operators, without version and audit fields: for the service's notes."""
        return await self._changed(filter, update)

    async def _changed(
        self, filter: Filter, update: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Document | None:
        changed = await self._driver.update_one(self.collection.name, self._visible(filter), update)
        if changed is None:
            return None
        self._tell(changed["_id"])
        return self._record(changed)

    # -- rules

    @property
    def row_filter(self) -> dict[str, Any]:
        """What data scope adds to every filter."""
        return self.scope.filter(self.collection.scope_department, self.collection.scope_person, self.collection.shared)

    def _visible(self, *filters: Filter | None) -> dict[str, Any]:
        # as a list under $and, so that no client filter can widen it
        clauses = [dict(clause) for clause in (self._live(), self.row_filter, *filters) if clause]
        return {"$and": clauses} if clauses else {}

    def _sees(self, document: Document) -> bool:
        """Whether `_visible` lets this stored document through: records are read by `_id` for many readers at once."""
        rules = self.collection
        live = rules.plain or document.get("deleted") is False
        return live and self.scope.admits(document, rules.scope_department, rules.scope_person, rules.shared)

    def _live(self) -> Mapping[str, Any]:
        return {} if self.collection.plain else LIVE

    def _stamp(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if self.collection.plain:
            return self.collection.derived(values)
        return {
            "version": 1,
            "creator_id": self.actor.user_id,
            "creator_department_id": self.actor.department_id,
            "created_at": self._now,
            "updated_at": self._now,
            "updater_id": self.actor.user_id,
            "deleted": False,
            **self.collection.derived(values),
        }

    def _change(self, values: Mapping[str, Any], operators: Mapping[str, Any] | None) -> dict[str, Any]:
        extra = dict(operators or {})
        if self.collection.plain:
            return {**({"$set": dict(values)} if values else {}), **extra}
        stamped = {**values, "updated_at": self._now, "updater_id": self.actor.user_id}
        return {
            **extra,
            "$set": {**extra.get("$set", {}), **stamped},
            "$inc": {**extra.get("$inc", {}), "version": 1},
        }

    async def _derived_changes(self, key: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        names = self.collection.searchable
        if not any(name in values for name in names):
            return {}
        before = await self._driver.find_one(self.collection.name, {"_id": key}) or {}
        return self.collection.derived({**before, **values})

    async def _why_not(self, key: Any, version: int | None, otherwise: ErrorKind, reason: Message | None) -> ApiError:
        found = await self._driver.find_one(self.collection.name, self._visible({"_id": key}))
        if found is None:
            return ApiError(NOT_FOUND)
        if version is not None and found["version"] != version:
            return ApiError(STALE)
        return ApiError(otherwise, reason)

    async def _check_references(self, values: Mapping[str, Any]) -> None:
        faults = [
            FieldError(name, "reference")
            for name, target in self._references()
            if values.get(name) is not None and not await self._exists(target, values[name])
        ]
        if faults:
            raise ValidationFailed(faults)

    def _references(self) -> Iterator[tuple[str, str]]:
        """The fields that are looked up and the collections they refer to."""
        loaded, optional = self._database.collections, self.collection.optional_references
        for name, target in self.collection.looked_up.items():
            if target in loaded or name not in optional:
                yield name, target

    async def _exists(self, target: str, value: Any) -> bool:
        collection = self._database.collections.get(target)
        if collection is None:
            return False
        store = Store(self._database, collection, self.actor, self.scope, self._now)
        if not isinstance(value, list):
            asked = ("deleted", collection.scope_department, collection.scope_person, "shared_with")
            found = await self._driver.find_by_id(collection.name, value, fields=asked)
            return found is not None and store._sees(found)
        wanted = list(dict.fromkeys(value))
        return await store.count({"_id": {"$in": wanted}}) == len(wanted)

    async def _new_id(self) -> Any:
        if self.collection.ids == "integer":
            return await self._database.next_number(self.collection.name)
        return ObjectId()

    def _tell(self, id: Any) -> None:
        self._database.tell(self.collection.name, id)

    def _record(self, document: Document) -> Document:
        # a record has every declared field, so that no handler stumbles over one that was never given
        document["id"] = document.pop("_id")
        for name in self.collection.unread:
            document.pop(name, None)
        return {**self.collection.blank, **document}


class _DuplicateAnswers:
    """Turns a taken key into 40900 that names the field."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DuplicateKey):
            names = [name for name in error.fields if name in self._collection.all_fields] or ["id"]
            raise ApiError(DUPLICATE, data={"field": names[-1]}) from error
