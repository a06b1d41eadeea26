"""Passes: what a person may read beyond permission and data scope, because they are asked about it.

A pass is for one record and for the records that hang below it, by their id or by the list of those below that record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from handlers.actor import Actor
from handlers.data.collection import Collection, named
from handlers.schema.messages import Message
from handlers.schema.values import Query, ReadOnlyRecord, RecordId

# by collection: each field that its records hang below another one by, with the collection of that one
Parents = Mapping[str, Sequence[tuple[str, Collection]]]
Wanted = Mapping[str, tuple[Collection, set[RecordId]]]


class Passes(Protocol):
    """Lets people read records that they are asked about. A plugin may provide it."""

    def covers(self, collection: Collection) -> bool:
        """Whether people are asked about records of this collection at all; without looking into the database."""

    async def reasons(
        self, actor: Actor, collection: Collection, ids: Sequence[RecordId]
    ) -> Mapping[RecordId, Message]:
        """Why the actor may read these records, by id; without those that they may not. One indexed query."""


class Passage:
    """What the passes of one actor admit, for the time of one request.

    `lists`: whether lists of what hangs below a record are admitted too.
    """

    def __init__(self, passes: Passes, actor: Actor, parents: Parents, lists: bool = False) -> None:
        self._passes = passes
        self._actor = actor
        self._parents = parents
        self._lists = lists
        self._known: dict[tuple[str, RecordId], Message | None] = {}

    async def admits(self, collection: Collection, *records: ReadOnlyRecord) -> bool:
        """Whether one of these records may be read."""
        return await self.reason(collection, *records) is not None

    async def reason(self, collection: Collection, *records: ReadOnlyRecord) -> Message | None:
        """Why one of these records may be read: for itself, or for what it hangs below; None where none may."""
        wanted = {collection.name: (collection, {record["id"] for record in records})}
        for name, parent in self._above(collection):
            ids = {record[name] for record in records if record.get(name) is not None}
            wanted[parent.name] = (parent, ids | (wanted[parent.name][1] if parent.name in wanted else set()))
        found = await self._look_up(wanted)
        return next((reason for reason in found if reason is not None), None)

    async def admits_list(self, collection: Collection, query: Query) -> bool:
        """Whether a list is one of what hangs below records that may be read, by the filters of its query."""
        if not self._lists:
            return False
        for name, parent in self._above(collection):
            given = query.get(name)
            if given is not None and None not in await self._look_up({parent.name: (parent, {*_several(given)})}):
                return True
        return False

    def concerns(self, collection: Collection) -> bool:
        """Whether it can admit a record of this collection at all."""
        return self._passes.covers(collection) or self.depends(collection)

    def fields_of(self, collection: Collection) -> list[str]:
        """The fields of a record, besides its id, that decide whether it may be read."""
        return [name for name, _ in self._above(collection)]

    def depends(self, collection: Collection) -> bool:
        """Whether records of this collection hang below others that people are asked about."""
        return any(True for _ in self._above(collection))

    def _above(self, collection: Collection) -> Iterable[tuple[str, Collection]]:
        """The fields by which its records hang below others that people are asked about."""
        for name, parent in self._parents.get(collection.name, ()):
            if self._passes.covers(parent):
                yield name, parent

    async def _look_up(self, wanted: Wanted) -> list[Message | None]:
        """The reason for each of these records."""
        for collection, ids in wanted.values():
            new = [id for id in ids if (collection.name, id) not in self._known]
            covered = bool(new) and self._passes.covers(collection)
            found = await self._passes.reasons(self._actor, collection, new) if covered else {}
            self._known.update({(collection.name, id): found.get(id) for id in new})
        return [self._known[collection.name, id] for collection, ids in wanted.values() for id in ids]


def find_parents(collections: Iterable[Collection]) -> Parents:
    """Map each collection to what its records hang below: a record hangs below one that it cannot be without."""
    known = named(collections)
    return {
        collection.name: [
            (link.path, known[link.target])
            for link in collection.links
            if not (link.nested or link.is_list or link.arrays)
            and (link.field.required or not link.field.nullable)
            and link.target in known
        ]
        for collection in known.values()
    }


def _several(value: object) -> Iterable[RecordId]:
    return value if isinstance(value, list) else [value]
