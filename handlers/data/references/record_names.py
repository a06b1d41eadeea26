"""The names of records, which responses show beside references, even for deleted records and those of other people.

The names of watched collections are kept in memory until they change; others are read once for each response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import get_args

from lru import LRU

from config.database import Document
from handlers.access.actor import SYSTEM
from handlers.data.collection import THE_USERS, Collection
from handlers.data.database import Database
from handlers.schema.errors import ApiError
from handlers.schema.messages import Language, Message
from handlers.schema.naming import Getter, KeptNames
from handlers.schema.values import RecordId

_KEPT = 50_000  # names of one collection in memory
_SERVICE = Message("系统", "System")
_NOTHING = KeptNames({}, {})
_Read = dict[RecordId, str]


class RecordNames:
    """The names of the records of all collections of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept = {one.name: _Kept() for one in database.collections.values() if one.watched and one.label_field}
        for name, kept in self._kept.items():
            database.changes.listen(name, kept.forget)
        self._in_memory = {language: self._names_in_memory(language) for language in get_args(Language)}

    def in_memory(self, language: Language) -> KeptNames:
        """Return the names that are in memory: none in a transaction that has changed something."""
        return _NOTHING if self._database.has_uncommitted_changes else self._in_memory[language]

    def _names_in_memory(self, language: Language) -> KeptNames:
        kept = {target: self._kept.get(collection.name) for target, collection in self._database.referred.items()}
        service = {SYSTEM.user_id: _SERVICE.text(language)}
        people = [target for target, collection in self._database.referred.items() if collection.alias == THE_USERS]
        getters: dict[str, Getter] = {target: names.get for target, names in kept.items() if names is not None}
        return KeptNames(getters, dict.fromkeys(people, service.get))

    async def look_up(
        self, wanted: Mapping[str, Iterable[RecordId]], language: Language = "zh"
    ) -> Mapping[str, Mapping[RecordId, str]]:
        """Return the names of the records with these ids, by name or alias of the collection, without unknown ids.

        The actor of jobs and of the start of the service has no record; it is called the system.
        """
        known = {target: self._database.referred[target] for target in wanted if target in self._database.referred}
        reads = [partial(self._of, collection, {*wanted[target]} - {None}) for target, collection in known.items()]
        found: dict[str, _Read] = {target: {} for target in wanted}
        read = await self._all(reads, at_once=sum(one.name not in self._kept for one in known.values()) > 1)
        found.update(zip(known, read, strict=True))
        for target, collection in known.items():
            if collection.alias == THE_USERS:
                found[target][SYSTEM.user_id] = _SERVICE.text(language)
        return found

    async def name_of(self, target: str, id: RecordId) -> str | None:
        """Return the name of one record, by name or alias of its collection, or None if there is none."""
        return (await self.look_up({target: [id]}))[target].get(id)

    async def _all(self, reads: Sequence[Callable[[], Awaitable[_Read]]], at_once: bool) -> Sequence[_Read]:
        """Return the results of all reads, which run concurrently if `at_once`, except in a transaction."""
        if at_once and not self._database.driver.in_transaction:
            return await asyncio.gather(*(read() for read in reads))
        return [await read() for read in reads]

    async def _of(self, collection: Collection, ids: set[RecordId]) -> dict[RecordId, str]:
        kept = self._kept.get(collection.name)
        if kept is None or self._database.is_changed_here(collection.name):
            return await self._read(collection, ids)
        names = kept.among(ids)
        missing = ids - names.keys()
        if missing:
            keep = kept.keeper()
            read = await self._read(collection, missing)
            # a transaction reads as of its start, which may be before the last change
            if not self._database.driver.in_transaction:
                keep(read)
            names |= read
        return names

    async def _read(self, collection: Collection, ids: set[RecordId]) -> dict[RecordId, str]:
        """Read names with one command, regardless of data scope and soft delete."""
        given = {id: _stored_id(collection, id) for id in ids if id != SYSTEM.user_id}
        fields = [name for name in (collection.label_field, collection.code_field) if name]
        if not given or not fields:
            return {}
        driver, wanted = self._database.driver, list(given.values())
        if len(wanted) == 1:
            one = await driver.find_by_id(
                collection.name, wanted[0], fields=fields
            )  # batched with the reads of other requests
            rows = [one] if one else []
        else:
            matching = {"_id": {"$in": wanted}}
            rows = await driver.find(collection.name, matching, fields=["_id", *fields], limit=len(wanted))
        called = {row["_id"]: name for row in rows if (name := name_of(collection, row))}
        return {id: called[stored] for id, stored in given.items() if stored in called}


class _Kept:
    """Names in memory. A name that was read before a change is not kept after it."""

    def __init__(self) -> None:
        self._names: LRU[RecordId, str] = LRU(_KEPT)
        self.get = self._names.get
        self._changes = 0

    def forget(self, id: RecordId) -> None:
        """Forget the name of a record that changed, or all names if `id` is None."""
        self._changes += 1
        if id is None:
            self._names.clear()
        else:
            self._names.pop(id, None)
            self._names.pop(str(id), None)  # the id as responses write it

    def among(self, ids: Iterable[RecordId]) -> dict[RecordId, str]:
        """Return those of the names that are in memory, by id."""
        return {id: name for id in ids if (name := self.get(id)) is not None}

    def keeper(self) -> Callable[[Mapping[RecordId, str]], None]:
        """Return a function that keeps names read from now on, unless something has changed in the meantime."""
        before = self._changes

        def keep(names: Mapping[RecordId, str]) -> None:
            if self._changes == before:
                for id, name in names.items():
                    self._names[id] = name

        return keep


def name_of(collection: Collection, record: Document) -> str | None:
    """Return what a record is called: its label, or its code if the label is empty; None if both are."""
    values = (record.get(field) for field in (collection.label_field, collection.code_field) if field)
    return next((str(value) for value in values if value not in (None, "")), None)


def _stored_id(collection: Collection, id: RecordId) -> RecordId:
    """Return an id that went through JSON in the form in which the collection stores it."""
    with suppress(ApiError):
        return collection.parse_id(id) if isinstance(id, str) else id
    return id
