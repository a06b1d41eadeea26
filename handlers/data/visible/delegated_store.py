"""`DelegatedStore`: one collection as seen by a person who is asked about some of its records."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from datetime import datetime

from config.database import Filter
from handlers.access.actor import Actor
from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.lists.filters import Page
from handlers.data.store import Store
from handlers.data.visible.delegated_access import Passage
from handlers.data.visible.scope import Scope
from handlers.schema.errors import NOT_FOUND, ApiError
from handlers.schema.values import Query, RecordId, Row


class DelegatedStore(Store[Row]):
    """A store that also returns what the passage admits: a record by its id, and the list of what hangs below one.

    `find_passage` returns the passage, or None if there is none; a record that the actor sees does not need it.
    """

    def __init__(
        self,
        context: DataContext,
        collection: Collection,
        actor: Actor,
        scope: Scope,
        now: datetime,
        find_passage: Callable[[], Passage | None],
    ) -> None:
        super().__init__(context, collection, actor, scope, now, False)
        self._find_passage = find_passage

    async def _get_unseen(self, id: RecordId, fields: Sequence[str] | None) -> Row:
        """Return a record that the actor is asked about; raise 40400 if there is no such record."""
        record: Row = await self._unscoped(self.collection).get(id)
        passage = self._find_passage()
        if passage is None or not await passage.admits(self.collection, record):
            raise ApiError(NOT_FOUND)
        return record

    async def page(
        self,
        query: Query,
        filter: Filter | None = None,
        *,
        fields: Sequence[str] | None = None,
        shown: Container[str] | None = None,
    ) -> Page[Row]:
        """Return one page of a list, of all rows if the query narrows it to what hangs below an admitted record."""
        passage = self._find_passage()
        if passage is not None and await passage.admits_list(self.collection, query):
            return await self._unscoped(self.collection).page(query, filter, fields=fields, shown=shown)
        return await super().page(query, filter, fields=fields, shown=shown)
