"""Checks that the records that a write refers to exist and are visible to the writer, and locks them meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.references.links import Link
from handlers.data.sync.locks import share_records
from handlers.data.visible.scope import ALL_ROWS, Scope
from handlers.data.visible.visibility import Visibility, decisive_fields
from handlers.schema.errors import CONFLICT, ApiError, FieldError, ValidationFailed
from handlers.schema.messages import REFERENCES_GONE, Message
from handlers.schema.values import Values

Result = TypeVar("Result")


class References:
    """The references of `collection`, looked up under `scope`.

    `check` and `check_many` raise 40001 with the fields that fail.
    """

    def __init__(self, context: DataContext, collection: Collection, scope: Scope) -> None:
        self._context = context
        self._collection = collection
        self._scope = scope

    async def keep(self, rows: Sequence[Values], write: Callable[[], Awaitable[Result]]) -> Result:
        """Run `write`, which checks and stores these records or changes, and return its result.

        If a record is deleted while a write refers to it, the later of the two sees the earlier one: the deletion finds
        a holder, or the write finds no record. So `write` runs in a transaction that locks the records it refers to,
        unless no deletion acts on any of these references.
        """
        wanted = {(self._context.referred[link.target].name, id) for link in self._acting() for id in link.ids(rows)}
        if not wanted:
            return await write()

        async def work() -> Result:
            await share_records(self._context.driver, wanted)
            return await write()

        return await self._context.transaction(work)

    async def check(self, values: Values) -> None:
        """Check the references of one record."""
        if not (self._collection.looked_up or self._collection.acting_links):
            return
        faults = [
            FieldError(name, "reference")
            for name, target in self._checked()
            if values.get(name) is not None and not await self._exists(target, values[name])
        ]
        faults += await self._nested_faults([values])
        if faults:
            raise ValidationFailed(faults)

    async def check_many(self, rows: Sequence[Values]) -> None:
        """Check the references of several records, with one query for each field."""
        for name, target in self._checked():
            wanted = list(dict.fromkeys(id for row in rows for id in _each(row.get(name))))
            if wanted and not await self._exists(target, wanted):
                raise ValidationFailed([FieldError(name, "reference")])
        if faults := await self._nested_faults(rows):
            raise ValidationFailed(faults)

    def _acting(self) -> Iterator[Link]:
        """Return the references to loaded collections that matter when the records they refer to are deleted."""
        return (link for link in self._collection.acting_links if link.target in self._context.referred)

    async def _nested_faults(self, rows: Iterable[Values]) -> list[FieldError]:
        """Return the references within objects to missing records. Only the handler can say who may refer to which."""
        faults = []
        for link in self._acting():
            places = [one for row in rows for one in link.places(row)] if link.nested and not link.read_only else []
            if not places:
                continue
            target = self._context.referred[link.target]
            wanted = Visibility(target, ALL_ROWS).filter({"_id": {"$in": list({id for _, id in places})}})
            found = {row["_id"] for row in await self._context.driver.find(target.name, wanted, fields=["_id"])}
            faults += [FieldError(place, "reference") for place, id in places if id not in found]
        return faults

    async def check_restored(self, record: Values) -> None:
        """Check the references of a deleted record; raise 40901 with the names of the fields that fail."""
        try:
            await self.check(record)
        except ValidationFailed as failure:
            fields = self._collection.fields
            labels = [fields[fault.field].label or Message(fault.field, fault.field) for fault in failure.errors]
            zh, en = "、".join(label.zh for label in labels), ", ".join(label.en for label in labels)
            reason = Message(REFERENCES_GONE.zh.format(fields=zh), REFERENCES_GONE.en.format(fields=en))
            raise ApiError(CONFLICT, reason) from failure

    def _checked(self) -> Iterator[tuple[str, str]]:
        """Yield the fields that are checked, with the names of the collections that they refer to."""
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
            found = await driver.find_by_id(collection.name, value, fields=decisive_fields(collection))
            return found is not None and visibility.admits(found)
        wanted = list(dict.fromkeys(value))
        return await driver.count(collection.name, visibility.filter({"_id": {"$in": wanted}})) == len(wanted)


def _each(value: Any) -> Iterable[Any]:
    """Return what a field refers to: nothing, one record, or several."""
    return value if isinstance(value, list) else () if value is None else (value,)
