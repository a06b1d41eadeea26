"""Which records a store may read and write: the one place that adds soft delete and data scope to a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.database import Document, Filter
from handlers.data.collection import Collection
from handlers.data.index import DELETED, LIVE
from handlers.data.visible.scope import ALL_ROWS, OWNER_DEPARTMENT, Scope
from handlers.schema.values import Record


def decisive_fields(collection: Collection) -> tuple[str, ...]:
    """Return the stored fields, besides `_id`, by which `Visibility.admits` decides."""
    further = (collection.follows,) if collection.follows else ()
    return ("deleted", collection.scope_department, collection.scope_person, "shared_with", OWNER_DEPARTMENT, *further)


class Visibility:
    """The records of `collection` that `scope` allows and that are not deleted, or are deleted if `deleted` is set."""

    __slots__ = ("_collection", "_deleted", "scope")

    def __init__(self, collection: Collection, scope: Scope, deleted: bool = False) -> None:
        self._collection = collection
        self._deleted = deleted
        self.scope = scope if collection.scoped else ALL_ROWS
        if collection.follows and scope.withheld:
            self.scope = replace(self.scope, withheld=scope.withheld)

    @property
    def live(self) -> Mapping[str, Any]:
        """The filter for records that are not deleted, or for deleted ones; empty for a plain collection."""
        return {} if self._collection.plain else DELETED if self._deleted else LIVE

    @property
    def row_filter(self) -> Filter:
        """The filter of the data scope; empty if every row is visible."""
        rules = self._collection
        return self._narrowed(self.scope.filter(rules.scope_department, rules.scope_person, rules.shared, rules.owned))

    def parts(self) -> list[Record]:
        """Return filters that match no record twice and together what `filter()` does."""
        rules = self._collection
        parts = self.scope.parts(rules.scope_department, rules.scope_person, rules.shared, rules.owned)
        return [{"$and": [dict(self.live), self._narrowed(part)]} for part in parts]

    def _narrowed(self, scoped: Filter) -> Filter:
        clauses = [clause for clause in (scoped, *self._narrowing) if clause]
        return {"$and": clauses} if len(clauses) > 1 else clauses[0] if clauses else {}

    @property
    def _narrowing(self) -> list[Filter]:
        """The filters that leave out rows that follow records of other keepers, and rows outside `Scope.within`."""
        rules, withheld, within = self._collection, self.scope.withheld, self._within
        kept: list[Filter] = [{rules.follows: {"$nin": sorted(withheld)}}] if rules.follows and withheld else []
        return [*kept, within.filter(rules.scope_department, owned=rules.owned)] if within is not None else kept

    @property
    def _within(self) -> Scope | None:
        """The scope of the departments in `Scope.within`; None if all departments are allowed."""
        return Scope(department_ids=self.scope.within) if self.scope.within is not None else None

    def filter(self, *filters: Filter | None) -> Record:
        """Return the filter for visible records that match all `filters`."""
        # as a list under $and, so that a client's filter can only narrow the result
        clauses = [dict(clause) for clause in (self.live, self.row_filter, *filters) if clause]
        return {"$and": clauses} if clauses else {}

    def admits(self, document: Document) -> bool:
        """Return whether `filter` matches this stored document.

        Reads by `_id` are shared by several readers, so the filter cannot be part of their query.
        """
        rules = self._collection
        if not rules.plain and document.get("deleted") is not self._deleted:
            return False
        if rules.follows and document.get(rules.follows) in self.scope.withheld:
            return False
        scope, owned = self.scope, rules.owned
        within = self._within if scope.within is not None else None
        if within is not None and not within.admits(document, rules.scope_department, owned=owned):
            return False
        return scope.admits(document, rules.scope_department, rules.scope_person, rules.shared, owned)
