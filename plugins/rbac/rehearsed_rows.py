"""How many rows of each collection people gain and lose by a change, counted for their data scopes before and after."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from plugins.api import Collection
from plugins.api.data import Database, Scope
from plugins.rbac.company import Company
from plugins.rbac.policy import unite

MOST_COUNTS = 5_000  # each is a command that uses an index
_AT_ONCE = 20
_BREATH = 100  # after this many people other requests get a turn, because making filters takes time
_Key = tuple[str, str]


class TooManyCounts(Exception):
    """Raised if a change would need more than `MOST_COUNTS` counts."""


class RowCounts:
    """The numbers of rows that data scopes show at one moment. Scopes with the same rows are counted once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: dict[tuple[str, Scope], _Key] = {}
        self._wanted: dict[_Key, tuple[Collection, Scope]] = {}
        self._counted: dict[_Key, int] = {}

    def want(self, collection: Collection, *scopes: Scope) -> None:
        """Note that the rows of these scopes are to be counted. Raises `TooManyCounts` above `MOST_COUNTS`."""
        for scope in scopes:
            self._wanted.setdefault(self._key(collection, scope), (collection, scope))
        if len(self._wanted) > MOST_COUNTS:
            raise TooManyCounts

    def _key(self, collection: Collection, scope: Scope) -> _Key:
        # scopes of different people often make the same filter, unless rows are shared with people by name
        found = self._keys.get((collection.name, scope))
        if found is None:
            row_filter = self._database.store(collection, scope=scope).row_filter
            found = self._keys[collection.name, scope] = collection.name, repr(row_filter)
        return found

    async def count(self) -> None:
        """Count what was noted: several counts at once, but one after the other in a transaction, which requires it."""
        at_once = 1 if self._database.driver.in_transaction else _AT_ONCE
        waiting = list(self._wanted)
        while waiting:
            keys, waiting = waiting[:at_once], waiting[at_once:]
            wanted = [self._wanted[key] for key in keys]
            stores = [self._database.store(collection, scope=scope) for collection, scope in wanted]
            numbers = await asyncio.gather(*(store.count() for store in stores))
            self._counted.update(zip(keys, numbers, strict=True))

    def of(self, collection: Collection, scope: Scope) -> int:
        """Return the number of rows of a collection that a scope shows."""
        return self._counted[self._key(collection, scope)]


@dataclass(frozen=True)
class _Pair:
    """The rows of a collection that a person sees before and after the change."""

    user_id: int
    collection: Collection
    before: Scope
    after: Scope

    @property
    def either(self) -> Scope:
        withheld = self.before.withheld & self.after.withheld
        return replace(unite((self.before, self.after), self.user_id), withheld=withheld)


@dataclass
class RowChanges:
    """The numbers of rows that people gain and lose, by user and then by collection."""

    gains: dict[int, dict[str, int]] = field(default_factory=dict)
    losses: dict[int, dict[str, int]] = field(default_factory=dict)

    def add(self, user_id: int, collection: str, gained: int, lost: int) -> None:
        """Add the numbers of rows of one collection that a person gains and loses."""
        for number, changes in ((gained, self.gains), (lost, self.losses)):
            if number:
                changes.setdefault(user_id, {})[collection] = number


class RowComparison:
    """Compares what people see before and after a change.

    A change alters data scopes, and may also alter rows: the record of a user who moves belongs to another department.
    `count_after` is called in the transaction of the change, `finish` after its rollback, so that collections which the
    change does not alter are counted outside the transaction.
    """

    def __init__(self, database: Database, collections: Sequence[Collection]) -> None:
        self._database = database
        self._collections = collections
        self._altered = {one.name for one in collections if database.is_changed_here(one.name)}
        self._pairs: list[_Pair] = []
        self._before, self._after = RowCounts(database), RowCounts(database)

    async def count_after(self, before: Company, after: Company) -> None:
        """Determine whose rows may change, and count the collections that were altered. Raises `TooManyCounts`."""
        for place, user_id in enumerate(sorted({*before.people, *after.people})):
            if place % _BREATH == 0:
                await asyncio.sleep(0)
            for pair in self._pairs_of(user_id, await before.scope(user_id), await after.scope(user_id)):
                self._pairs.append(pair)
                scopes = (pair.before, pair.after, pair.either)
                if pair.collection.name in self._altered:
                    self._after.want(pair.collection, *scopes)
                    self._before.want(pair.collection, pair.before)
                else:
                    self._before.want(pair.collection, *scopes)
        await self._after.count()

    def _pairs_of(self, user_id: int, before: Scope, after: Scope) -> Iterator[_Pair]:
        for collection in self._collections:
            # with equal scopes, people keep their own rows: only rows seen by department can be gained or lost
            moves = collection.name in self._altered and bool(before.department_ids)
            if before != after or moves:
                yield _Pair(user_id, collection, before, after)

    async def finish(self) -> RowChanges:
        """Count the rest, and return the numbers of rows that people gain and lose."""
        await self._before.count()
        changes = RowChanges()
        for pair in self._pairs:
            changes.add(pair.user_id, pair.collection.name, *self._difference(pair))
        return changes

    def _difference(self, pair: _Pair) -> tuple[int, int]:
        """Return the numbers of rows gained and lost, as the scope changed and as rows entered and left it."""
        collection = pair.collection
        counts = self._after if collection.name in self._altered else self._before
        seen_before, seen_after = counts.of(collection, pair.before), counts.of(collection, pair.after)
        either = counts.of(collection, pair.either)
        came = seen_before - self._before.of(collection, pair.before)
        return either - seen_before + max(came, 0), either - seen_after + max(-came, 0)
