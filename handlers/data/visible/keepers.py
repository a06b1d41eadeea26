"""Keepers: rows that follow a record with keepers are visible only to these people and to those who see every row.

Only the people whom a warehouse names see its stock or move goods there, while everybody sees the warehouse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lru import LRU

from config.database import Driver
from handlers.data.collection import Collection
from handlers.data.sync.cached_snapshot import CachedSnapshot
from handlers.data.sync.changes import Changes
from handlers.data.visible.scope import Scope
from handlers.schema.errors import invalid
from handlers.schema.values import RecordId

_PEOPLE = 10_000  # people for whom the records of other keepers are cached


@dataclass(frozen=True)
class _Kept:
    """The records that name keepers, including deleted ones: what follows those stays hidden from others."""

    keepers: Mapping[RecordId, frozenset[int]]
    _withheld: LRU[int, frozenset[RecordId]] = field(default_factory=lambda: LRU(_PEOPLE))

    def withheld(self, user_id: int) -> frozenset[RecordId]:
        """Return the records with keepers that do not include this person."""
        found = self._withheld.get(user_id)
        if found is None:
            found = frozenset(id for id, people in self.keepers.items() if user_id not in people)
            self._withheld[user_id] = found
        return found


class Keeping:
    """The keepers of all records: a `snapshot` in memory, invalidated by changes on any instance."""

    def __init__(self, driver: Driver, collections: Iterable[Collection], changes: Changes) -> None:
        self._driver = driver
        self._collections = [collection for collection in collections if collection.keepers]
        self.snapshot = CachedSnapshot(self._load)
        for collection in self._collections:
            changes.listen(collection.name, self.snapshot.invalidate)

    async def narrow(self, scope: Scope, user_id: int) -> Scope:
        """Return the data scope without rows that follow records of other keepers; one of all rows stays as it is."""
        if scope.everything:
            return scope
        kept = self.snapshot.latest or await self.snapshot.current()
        withheld = kept.withheld(user_id)
        return replace(scope, withheld=withheld) if withheld else scope

    async def _load(self) -> _Kept:
        keepers: dict[RecordId, frozenset[int]] = {}
        for collection in self._collections:
            field = collection.keepers
            named = {"deleted": {"$in": [False, True]}, field: {"$gte": 0}}  # what the index of the field covers
            rows = await self._driver.find(collection.name, named, fields=[field])
            keepers |= {row["_id"]: frozenset(row[field]) for row in rows}
        return _Kept(keepers)


def check_keeper(scope: Scope, id: RecordId, field: str) -> None:
    """Raise 40001 for `field` if the record `id` that it refers to has keepers and the person is not one of them."""
    if id in scope.withheld:
        raise invalid(field, "keeper")
