"""The responsible department of a record: its owner's. A collection with an owner stores it with every record.

`owner_department_id` is what clients see. Data scope filters on `second_department_id`, which repeats it only if it is
not the creator's department. Most records therefore have none, and no row is read or counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from config.database import Document, Filter
from handlers.data.collection import Collection
from handlers.data.context import PeopleInDepartments, PeopleReader
from handlers.data.sync.cached_snapshot import RecordCache
from handlers.data.visible.scope import OWNER_DEPARTMENT, SECOND_DEPARTMENT
from handlers.schema.values import Operators, Values


class PeopleDepartments:
    """The departments of people, kept in memory until the people change."""

    def __init__(self, people: Collection | None, reader: PeopleReader) -> None:
        self._people = people
        self._reader = reader
        # within a tuple, because the cache does not keep None
        self._kept: RecordCache[int, tuple[int | None]] = RecordCache(self._read)
        if people is not None and people.watched:
            reader.changes.listen(people.name, self._kept.invalidate)

    async def of(self, user_id: int | None) -> int | None:
        """Return the department of a person, even a deleted one; None if `user_id` is None or the person has none."""
        if user_id is None or self._people is None:
            return None
        current = self._people.watched and not self._reader.is_changed_here(self._people.name)
        found = await (self._kept.get(user_id) if current else self._read(user_id))
        return found[0] if found else None

    async def _read(self, user_id: int) -> tuple[int | None] | None:
        if self._people is None:
            return None
        field = self._people.scope_department
        user = await self._reader.driver.find_by_id(self._people.name, user_id, fields=[field])
        return None if user is None else (user.get(field),)


def new_fields(creator_department: int | None, owner_department: int | None) -> Values:
    """Return what a new record stores of its owner's department."""
    second = owner_department if owner_department != creator_department else None
    return {OWNER_DEPARTMENT: owner_department, SECOND_DEPARTMENT: second}


def changed_fields(collection: Collection, owner_department: int | None) -> Mapping[str, Any]:
    """Return what existing records store of their owner's department, as expressions of an update pipeline."""
    same = {"$eq": [f"${collection.scope_department}", owner_department]}
    return {OWNER_DEPARTMENT: owner_department, SECOND_DEPARTMENT: {"$cond": [same, None, owner_department]}}


def without_department(collection: Collection, people: Sequence[int], department: int | None) -> Filter:
    """Return the filter for records of these people, including deleted ones, without this responsible department."""
    has_none = [{OWNER_DEPARTMENT: {"$exists": False}}] if department is None else []
    other = [{OWNER_DEPARTMENT: {"$ne": department}}, *has_none]
    return {"deleted": {"$in": [False, True]}, collection.owner: {"$in": list(people)}, "$or": other}


async def placed(collection: Collection, document: Document, departments: PeopleInDepartments) -> Document:
    """Return a new record of `collection`, which names an owner, with the owner's department."""
    owner_department = await departments.of(document.get(collection.owner))
    return {**document, **new_fields(document["creator_department_id"], owner_department)}


async def placing(
    collection: Collection,
    change: Operators | Sequence[Operators],
    written: Operators | Sequence[Values | Operators | None],
    departments: PeopleInDepartments,
) -> Operators | Sequence[Operators]:
    """Return `change`, extended by the owner's department if `written`, its values and operators, contains an owner."""
    given = [written] if isinstance(written, Mapping) else written
    owner: Any = _written_owner(collection, given) if collection.owner else _UNWRITTEN
    if owner is _UNWRITTEN or isinstance(change, Mapping):
        return change
    return [*change, {"$set": changed_fields(collection, await departments.of(owner))}]


class _Unwritten:
    """Stands for an owner that is not among the changes."""


_UNWRITTEN: Final = _Unwritten()


def _written_owner(collection: Collection, changes: Sequence[Values | Operators | None]) -> Any:
    """Return the owner that these values or update operators write, or `_UNWRITTEN`.

    Raises ValueError if the database computes the owner, because the department is then unknown.
    """
    owner: Any = _UNWRITTEN
    for given in changes:
        for name, value in (given or {}).items():
            if name == collection.owner:
                owner = value
            elif name.startswith("$") and isinstance(value, Mapping) and collection.owner in value:
                if name not in ("$set", "$unset"):
                    raise ValueError(f"{name} cannot write {collection.owner}, the owner of {collection.name}")
                owner = value[collection.owner] if name == "$set" else None
    if isinstance(owner, Mapping | str):
        raise ValueError(f"an expression cannot write {collection.owner}, the owner of {collection.name}")
    return owner
