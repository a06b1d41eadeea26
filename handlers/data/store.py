"""`Store`: one collection as one actor sees it. Handlers read and write data only through stores.

`Visibility` adds soft delete and data scope to every filter; `_stamp` and `_change` write audit fields and history.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Mapping, Sequence
from datetime import datetime
from typing import Any

from bson import ObjectId

from config.database import Document, Filter
from handlers.access.actor import Actor
from handlers.data.collection import HISTORY, UNSENT, Collection
from handlers.data.context import DataContext
from handlers.data.history.history import CAUSE
from handlers.data.history.recorded_change import recorded_change, recorded_update
from handlers.data.lists.filters import Page, sort_keys
from handlers.data.lists.paging import Pager
from handlers.data.references.checks import References
from handlers.data.several_updates import SeveralUpdates
from handlers.data.visible.responsible import placed, placing
from handlers.data.visible.scope import ALL_ROWS, Scope
from handlers.data.visible.visibility import Visibility
from handlers.data.writing import keeps_references, omit, refusing_duplicates, releases_holders, require_declared
from handlers.schema.errors import CONFLICT, NOT_FOUND, ApiError, ErrorKind, ValidationFailed
from handlers.schema.messages import Message
from handlers.schema.values import Operators, Query, RecordId, Row, Values

_RECORDS_AT_ONCE = 20


class Store(SeveralUpdates[Row]):
    """The records of `collection` that `actor` may see under `scope`; with `deleted`, the deleted ones instead."""

    def __init__(
        self, context: DataContext, collection: Collection, actor: Actor, scope: Scope, now: datetime, deleted: bool
    ) -> None:
        self._context = context
        self._driver = context.driver
        self._visibility = Visibility(collection, scope, deleted)
        self.collection = collection
        self.actor = actor
        self.scope = self._visibility.scope
        self._now = now

    # -- reading

    async def get(self, id: RecordId, *, fields: Sequence[str] | None = None) -> Row:
        """Return the record with this `id`; raise 40400 if the actor sees none.

        If `fields` are given, only these are read: `decisive_fields` must be among them, or nobody sees the record.
        """
        rules = self.collection
        found = await self._driver.find_by_id(rules.name, rules.parse_id(id), fields, rules.hidden)
        if found is None or not self._visibility.admits(found):
            return await self._get_unseen(id, fields)
        return self._record(found)

    async def _get_unseen(self, id: RecordId, fields: Sequence[str] | None) -> Row:
        raise ApiError(NOT_FOUND)

    async def find_one(self, filter: Filter) -> Row | None:
        """Return a record that matches, or None."""
        visible = self._visibility.filter(filter)
        found = await self._driver.find_one(self.collection.name, visible, without=self.collection.hidden)
        return self._record(found) if found else None

    async def find(
        self,
        filter: Filter | None = None,
        *,
        sort: str | None = None,
        skip: int = 0,
        limit: int = 0,
        fields: Sequence[str] | None = None,
    ) -> list[Row]:
        """Return the matching records in order, or `limit` of them after `skip`; only `fields` are read, if given."""
        keys = sort_keys(self.collection, sort) if sort else []
        rows = await self._driver.find(
            self.collection.name,
            self._visibility.filter(filter),
            sort=keys,
            skip=skip,
            limit=limit,
            fields=fields,
            without=self.collection.hidden,
        )
        return [self._record(row) for row in rows]

    async def stream(self, query: Query, filter: Filter | None = None) -> AsyncIterator[Row]:
        """Yield every record of a list, without pages: for exports."""
        matching = self._visibility.filter(self._pager().narrowing(query), filter)
        keys = sort_keys(self.collection, query.get("sort"))
        async for row in self._driver.stream(self.collection.name, matching, sort=keys):
            yield self._record(row)

    async def count(self, filter: Filter | None = None) -> int:
        """Return how many records match."""
        return await self._driver.count(self.collection.name, self._visibility.filter(filter))

    async def page(
        self,
        query: Query,
        filter: Filter | None = None,
        *,
        fields: Sequence[str] | None = None,
        shown: Container[str] | None = None,
    ) -> Page[Row]:
        """Return one page of a list for the parameters of `list_query`; `filter` narrows it, only `fields` are read.

        `shown` are the fields that the caller may see, or None for all; search ignores the others, sort refuses them.
        """
        page = await self._pager().read(query, filter, fields, shown)
        items = [self._record(row) for row in page.items]
        return Page(items, page.total, page.page, page.page_size, page.next_cursor, page.sums)

    def search(self, query: str, fields: Container[str]) -> Filter:
        """Return the filter for the records that `q` finds by these fields alone."""
        return self._pager().narrowing({"q": query}, fields)

    def _pager(self) -> Pager:
        return Pager(self._context, self.collection, self._visibility)

    async def aggregate(self, pipeline: Sequence[Operators], *, collection_scan: bool = False) -> list[Document]:
        """Return the results of an aggregation over the records that the actor may see.

        Set `collection_scan` if the aggregation needs most records, and fields that no index holds. For actors who see
        every row, the collection is then read without an index, in a third of the time.
        """
        visible = {"$match": self._visibility.filter()}
        scan = collection_scan and not self.row_filter
        return await self._driver.aggregate(self.collection.name, [visible, *pipeline], collection_scan=scan)

    # -- writing

    @keeps_references(lambda values, *, copied=(), **_: (omit(values, copied),))
    async def create(self, values: Values, *, id: RecordId = None, copied: Container[str] = ()) -> Row:
        """Insert a record; raise 40900 for a duplicate key, 40001 for a missing reference unless it is in `copied`."""
        await self._references().check(omit(values, copied))
        document = await self._stamped(values)
        document["_id"] = id if id is not None else await _new_id(self._context, self.collection)
        with refusing_duplicates(self.collection):
            await self._driver.insert(self.collection.name, [document])
        self._tell(document["_id"])
        return self._record(document)

    @keeps_references(lambda rows: rows)
    async def create_many(self, rows: Sequence[Values]) -> list[Row]:
        """Insert records with one command; raise as `create` does. Outside a transaction, earlier records stay."""
        await self._references().check_many(rows)
        documents: list[Document] = []
        for values in rows:
            if len(documents) % _RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)  # computing search values takes time: let other requests run
            id = await _new_id(self._context, self.collection)
            documents.append({**await self._stamped(values), "_id": id})
        with refusing_duplicates(self.collection):
            await self._driver.insert(self.collection.name, documents)
        self._tell(None)
        return [self._record(document) for document in documents]

    @keeps_references(lambda _, values, **__: (values,))
    async def update(
        self,
        id: RecordId,
        values: Values,
        *,
        version: int | None = None,
        where: Filter | None = None,
        otherwise: ErrorKind = CONFLICT,
        reason: Message | None = None,
        operators: Operators | None = None,
    ) -> Row:
        """Change a record and return its new state.

        Raises as `create` does, 40400 if the actor sees none, 40902 for a stale `version`, `otherwise` (with `reason`)
        if it does not match `where`. `operators` are further MongoDB update operators such as `$push`.
        """
        key = self.collection.parse_id(id)
        try:
            await self._references().check(values)
        except ValidationFailed:
            await self.get(key)  # 40400 for a record that the actor does not see has precedence
            raise
        condition = {"_id": key, **({"version": version} if version is not None else {})}
        matching = self._visibility.filter(condition, where)
        changes = {**values, **await self._derived_changes(key, values)}
        change = await self._change(changes, operators)
        with refusing_duplicates(self.collection):
            changed = await self._driver.update_one(self.collection.name, matching, change)
        if changed is None:
            raise await _update_error(self, key, version, otherwise, reason)
        return await self._written(changed)

    async def update_many(self, filter: Filter, operators: Operators, *, unversioned: bool = False) -> int:
        """Change every visible record that matches with MongoDB update operators; return how many changed.

        `unversioned`: without new versions and audit stamps, for technical fields.
        """
        matching = self._visibility.filter(filter)
        change: Operators | Sequence[Operators] = operators
        require_declared(self.collection, operators)
        if not (unversioned or self.collection.plain):
            await self._context.history.make_room(self.collection, matching)
            change = await self._change({}, operators)
        with refusing_duplicates(self.collection):
            changed = await self._driver.update_many(self.collection.name, matching, change)
        self._tell(None)
        return changed

    @releases_holders
    async def delete(
        self,
        id: RecordId,
        *,
        where: Filter | None = None,
        otherwise: ErrorKind = CONFLICT,
        reason: Message | None = None,
    ) -> None:
        """Soft-delete a record; raise as `update` does, and 40901 if a holder restricts the deletion."""
        key = self.collection.parse_id(id)
        deletion = {"deleted": True, "deleted_at": self._now}
        matching = self._visibility.filter({"_id": key}, where)
        changed = await self._driver.update_one(self.collection.name, matching, await self._change(deletion, None))
        if changed is None:
            raise await _update_error(self, key, None, otherwise, reason)
        await self._written(changed)

    @property
    def deleted(self) -> Store[Row]:
        """A store of the deleted records that the actor may see."""
        return Store(self._context, self.collection, self.actor, self.scope, self._now, True)

    async def remove(self, filter: Filter) -> int:
        """Delete records of a plain collection permanently; return how many were deleted."""
        removed = await self._driver.delete_many(self.collection.name, self._visibility.filter(filter))
        self._tell(None)
        return removed

    async def upsert(self, id: RecordId, values: Values, operators: Operators | None = None) -> Row:
        """Change or insert the record of a plain collection with this `_id`."""
        change = await self._change(values, operators)
        changed = await self._driver.update_one(self.collection.name, {"_id": id}, change, upsert=True)
        self._tell(id)
        return self._record(changed or {"_id": id})

    async def update_where(self, filter: Filter, values: Values) -> Row | None:
        """Change one matching record atomically, and return its new state; None if none matches."""
        return await self._update_where(filter, await self._change(values, None))

    async def update_unversioned(self, filter: Filter, update: Operators | Sequence[Operators]) -> Row | None:
        """Do as `update_where`, with update operators, and without new version or audit stamp: for technical fields."""
        require_declared(self.collection, update)
        if not self.collection.plain:
            recorded = recorded_update(self.collection, update, self._note({}))
            update = await placing(self.collection, recorded, update, self._context.departments)
        return await self._update_where(filter, update)

    async def _update_where(
        self, filter: Filter, update: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Row | None:
        changed = await self._driver.update_one(self.collection.name, self._visibility.filter(filter), update)
        return await self._written(changed) if changed is not None else None

    async def _written(self, document: Document) -> Row:
        self._tell(document["_id"])
        if not self.collection.plain:
            await self._context.history.look_after(self.collection, document)
        return self._record(document)

    # -- rules

    @property
    def row_filter(self) -> Filter:
        """The filter of the data scope; empty if the actor sees every row."""
        return self._visibility.row_filter

    async def _stamped(self, values: Values) -> dict[str, Any]:
        """Return a new record, without its id."""
        require_declared(self.collection, {"$set": values})
        document = {**self.collection.defaults, **values, **self._stamp(values)}
        return await placed(self.collection, document, self._context.departments) if self.collection.owner else document

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
            HISTORY: {"request_id": CAUSE.get().request_id, **({UNSENT: 0} if self._is_wanted else {})},
            **self.collection.derived(values),
        }

    async def _change(self, values: Values, operators: Operators | None) -> Operators | Sequence[Operators]:
        require_declared(self.collection, {"$set": values}, operators)
        if self.collection.plain:
            return {**({"$set": dict(values)} if values else {}), **(operators or {})}
        stamped = {**values, "updated_at": self._now, "updater_id": self.actor.user_id}
        change = recorded_change(self.collection, stamped, operators, self._note(values, operators))
        return await placing(self.collection, change, (values, operators), self._context.departments)

    async def _derived_changes(self, key: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        names = self.collection.searchable
        if not any(name in values for name in names):
            return {}
        before = await self._driver.find_one(self.collection.name, {"_id": key}) or {}
        return self.collection.derived({**before, **values})

    def _references(self) -> References:
        return References(self._context, self.collection, self.scope)

    def _unscoped(self, collection: Collection) -> Store[Any]:
        return Store(self._context, collection, self.actor, ALL_ROWS, self._now, False)

    def _tell(self, id: Any) -> None:
        self._context.tell(self.collection.name, id)

    def _record(self, document: Document) -> Row:
        # a record has every declared field: handlers need not check whether a value was ever given
        document["id"] = document.pop("_id")
        if not document.keys().isdisjoint(self.collection.hidden):
            for name in self.collection.hidden:
                document.pop(name, None)
        record: Any = {**self.collection.blank, **document}
        return record  # type: ignore[no-any-return]  # it has the fields that the collection declares


async def _update_error(
    store: Store[Any], key: Any, version: int | None, otherwise: ErrorKind, reason: Message | None
) -> ApiError:
    """Return why no record was changed."""
    found = await store.find_one({"_id": key})
    if found is None:
        return ApiError(NOT_FOUND)
    if version is not None and found["version"] != version:
        return await store.stale(key, version)
    return ApiError(otherwise, reason)


async def _new_id(context: DataContext, collection: Collection) -> Any:
    if collection.ids == "integer":
        return await context.next_number(collection.name)
    return ObjectId()
