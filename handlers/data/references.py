"""Checks that the records which new values refer to exist, and that the writer may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.scope import Scope
from handlers.data.visibility import Visibility
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.values import Values


class References:
    """The references of `collection`, looked up under `scope`; both checks raise 40001 with the fields that fail."""

    def __init__(self, context: DataContext, collection: Collection, scope: Scope) -> None:
        self._context = context
        self._collection = collection
        self._scope = scope

    async def check(self, values: Values) -> None:
        """Check the references of one record."""
        faults = [
            FieldError(name, "reference")
            for name, target in self._checked()
            if values.get(name) is not None and not await self._exists(target, values[name])
        ]
        if faults:
            raise ValidationFailed(faults)

    async def check_many(self, rows: Sequence[Values]) -> None:
        """Check the references of several records, with one query for each field."""
        for name, target in self._checked():
            wanted = list(dict.fromkeys(row[name] for row in rows if row.get(name) is not None))
            if wanted and not await self._exists(target, wanted):
                raise ValidationFailed([FieldError(name, "reference")])

    def _checked(self) -> Iterator[tuple[str, str]]:
        """The fields that are checked, with the names of the collections that they refer to."""
        loaded, optional = self._context.referred, self._collection.optional_references
        for name, target in self._collection.looked_up.items():
            if target in loaded or name not in optional:
                yield name, target

    async def _exists(self, target: str, value: Any) -> bool:
        collection = self._context.referred.get(target)
        if collection is None:
            return False
        driver, visibility = self._context.driver, Visibility(collection, self._scope)
        if not isinstance(value, list):
            fields = ("deleted", collection.scope_department, collection.scope_person, "shared_with")
            found = await driver.find_by_id(collection.name, value, fields=fields)
            return found is not None and visibility.admits(found)
        wanted = list(dict.fromkeys(value))
        return await driver.count(collection.name, visibility.filter({"_id": {"$in": wanted}})) == len(wanted)
