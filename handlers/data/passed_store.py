"""`PassedStore`: one collection as seen by a person who is asked about some of its records."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime

from config.database import Document, Filter
from handlers.actor import Actor
from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.listing import Page
from handlers.data.passes import Passage
from handlers.data.scope import Scope
from handlers.data.store import Store
from handlers.schema.errors import NOT_FOUND, ApiError
from handlers.schema.values import Query, RecordId


class PassedStore(Store):
    """A store that also returns what `passage` admits: a record by its id, and the list of what hangs below one."""

    def __init__(
        self, context: DataContext, collection: Collection, actor: Actor, scope: Scope, now: datetime, passage: Passage
    ) -> None:
        super().__init__(context, collection, actor, scope, now, False)
        self._passage = passage

    async def get(self, id: RecordId, *, fields: Sequence[str] | None = None) -> Document:
        """Return the record with this `id`; raise 40400 if the actor neither sees it nor is asked about it."""
        try:
            return await super().get(id, fields=fields)
        except ApiError as error:
            if error.kind is not NOT_FOUND:
                raise
        record = await self._unscoped(self.collection).get(id)
        if not await self._passage.admits(self.collection, record):
            raise ApiError(NOT_FOUND)
        return record

    async def page(
        self,
        query: Query,
        filter: Filter | None = None,
        *,
        fields: Sequence[str] | None = None,
        shown: Container[str] | None = None,
    ) -> Page:
        """Return one page of a list, of all rows if the query narrows it to what hangs below an admitted record."""
        if await self._passage.admits_list(self.collection, query):
            return await self._unscoped(self.collection).page(query, filter, fields=fields, shown=shown)
        return await super().page(query, filter, fields=fields, shown=shown)
