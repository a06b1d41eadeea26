"""Passes: what a person may read beyond permission and data scope, because they are asked about it.

A pass covers one record and the records that hang below it; these can be read by their id or in a list of the records
below that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from handlers.access.actor import Actor
from handlers.data.collection import Collection, named
from handlers.schema.messages import Message
from handlers.schema.values import Query, ReadOnlyRecord, RecordId

# by collection: each field that refers to a record above, with the collection of the record above
Parents = Mapping[str, Sequence[tuple[str, Collection]]]
Wanted = Mapping[str, tuple[Collection, set[RecordId]]]


class Passes(Protocol):
    """Lets people read records that they are asked about. Plugins may provide it, each for collections of its own."""

    def covers(self, collection: Collection) -> bool:
        """Return whether people are ever asked about records of this collection; without looking into the database."""

    async def reasons(
        self, actor: Actor, collection: Collection, ids: Sequence[RecordId]
    ) -> Mapping[RecordId, Message]:
        """Return why the actor may read each of these records, by id, without those that they may not read.

        The implementation uses one indexed query.
        """


@dataclass(frozen=True)
class JointPasses:
    """The passes of several plugins."""

    each: tuple[Passes, ...]

    def covers(self, collection: Collection) -> bool:
        """Return whether one of them covers the collection."""
        return any(one.covers(collection) for one in self.each)

    async def reasons(
        self, actor: Actor, collection: Collection, ids: Sequence[RecordId]
    ) -> Mapping[RecordId, Message]:
        """Return why the actor may read each of these records, by the first of them that lets them."""
        found: dict[RecordId, Message] = {}
        for one in reversed([one for one in self.each if one.covers(collection)]):
            found |= await one.reasons(actor, collection, ids)
        return found


class Passage:
    """What the passes of one actor admit during one request.

    `lists`: whether lists of what hangs below a record are admitted too.
    """

    def __init__(self, passes: Passes, actor: Actor, parents: Parents, lists: bool = False) -> None:
        self._passes = passes
        self._actor = actor
        self._parents = parents
        self._lists = lists
        self._known: dict[tuple[str, RecordId], Message | None] = {}

    async def admits(self, collection: Collection, *records: ReadOnlyRecord) -> bool:
        """Return whether any of these records may be read."""
        return await self.reason(collection, *records) is not None

    async def reason(self, collection: Collection, *records: ReadOnlyRecord) -> Message | None:
        """Return why one of these records may be read: for itself, or for what it hangs below; None if none may."""
        wanted = {collection.name: (collection, {record["id"] for record in records})}
        for name, parent in self._above(collection):
            ids = {record[name] for record in records if record.get(name) is not None}
            wanted[parent.name] = (parent, ids | (wanted[parent.name][1] if parent.name in wanted else set()))
        found = await self._look_up(wanted)
        return next((reason for reason in found if reason is not None), None)

    async def admits_list(self, collection: Collection, query: Query) -> bool:
        """Return whether the filters of a list restrict it to what hangs below records that may be read."""
        if not self._lists:
            return False
        for name, parent in self._above(collection):
            given = query.get(name)
            if given is not None and None not in await self._look_up({parent.name: (parent, {*_several(given)})}):
                return True
        return False

    def concerns(self, collection: Collection) -> bool:
        """Return whether records of this collection can be admitted at all."""
        return self._passes.covers(collection) or self.depends(collection)

    def fields_of(self, collection: Collection) -> list[str]:
        """Return the fields of a record, besides its id, that decide whether it may be read."""
        return [name for name, _ in self._above(collection)]

    def depends(self, collection: Collection) -> bool:
        """Return whether records of this collection hang below others that people are asked about."""
        return any(True for _ in self._above(collection))

    def _above(self, collection: Collection) -> Iterable[tuple[str, Collection]]:
        """Yield each field that refers to a record above that people are asked about, with that record's collection."""
        for name, parent in self._parents.get(collection.name, ()):
            if self._passes.covers(parent):
                yield name, parent

    async def _look_up(self, wanted: Wanted) -> list[Message | None]:
        """Return the reason for each of these records."""
        for collection, ids in wanted.values():
            new = [id for id in ids if (collection.name, id) not in self._known]
            covered = bool(new) and self._passes.covers(collection)
            found = await self._passes.reasons(self._actor, collection, new) if covered else {}
            self._known.update({(collection.name, id): found.get(id) for id in new})
        return [self._known[collection.name, id] for collection, ids in wanted.values() for id in ids]


def find_parents(collections: Iterable[Collection]) -> Parents:
    """Map each collection to what its records hang below: a record hangs below one that it cannot exist without."""
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
