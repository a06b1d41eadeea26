"""The part of `Store` that changes several records with one command, and says why a version is stale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Generic

from config.database import Driver, Filter, Update
from handlers.access.actor import Actor
from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.history.history import note
from handlers.data.references.checks import References
from handlers.data.references.holders import HolderStore
from handlers.data.visible.visibility import Visibility
from handlers.data.writing import keeps_references, refusing_duplicates
from handlers.schema.errors import STALE, ApiError
from handlers.schema.values import Operators, ReadOnlyRecord, RecordId, Row, Values


class SeveralUpdates(ABC, Generic[Row]):
    """The methods of a store that change several records together."""

    collection: Collection
    actor: Actor
    _context: DataContext
    _driver: Driver
    _visibility: Visibility
    _now: datetime

    @property
    def _is_wanted(self) -> bool:
        """Whether the outbox hands on the changes."""
        return self.collection.name in self._context.outbox.wanted

    def _note(self, values: Values, operators: Operators | None = None) -> Values:
        return note(self.actor, self._now, values, operators, wanted=self._is_wanted)

    async def stale(self, id: RecordId, version: int) -> ApiError:
        """Return the 40902 for a `version` that is not the current one, or 40400 if the actor sees no such record."""
        visible = self._visibility.filter({"_id": self.collection.parse_id(id)})
        return await self._context.history.stale(self.collection, visible, version)

    @keeps_references(lambda changes: [values for _, values in changes])
    async def update_each(self, changes: Sequence[tuple[ReadOnlyRecord, Values]]) -> list[Row]:
        """Change records that the running transaction has read, with one command, and return their new states.

        Raises as `update` does when it is given the version of each record. Not for plain collections.
        """
        await self._references().check_many([values for _, values in changes])
        commands: list[tuple[Filter, Update]] = []
        written: list[Any] = []
        for record, values in changes:
            searched = any(name in values for name in self.collection.searchable)
            derived = self.collection.derived({**record, **values}) if searched else {}
            unchanged = self._visibility.filter({"_id": record["id"], "version": record["version"]})
            commands.append((unchanged, await self._change({**values, **derived}, None)))
            stamps = {"version": record["version"] + 1, "updated_at": self._now, "updater_id": self.actor.user_id}
            written.append({**record, **values, **stamps})
        with refusing_duplicates(self.collection):
            if await self._driver.update_each(self.collection.name, commands) != len(commands):
                raise ApiError(STALE)
        for record in written:
            self._context.tell(self.collection.name, record["id"])
            self._context.history.look_after_version(self.collection, record["id"], record["version"])
        return written

    @abstractmethod
    async def _change(self, values: Values, operators: Operators | None) -> Update:
        """Return the update that stores these values and notes the change."""

    @abstractmethod
    def _references(self) -> References:
        """Return the references of the collection, as the actor may write them."""

    @abstractmethod
    def _unscoped(self, collection: Collection) -> HolderStore:
        """Return a store of all records of another collection, for the same actor."""
