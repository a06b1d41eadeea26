"""Data scope: which rows a person sees, by department, creator or owner, or because they were shared with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from config.database import Filter
from handlers.schema.values import ReadOnlyRecord, RecordId

_MOST_RUNS = 4  # each run costs a command
# fields of records with an owner: the owner's department, and the same only if it is not the creator's
OWNER_DEPARTMENT, SECOND_DEPARTMENT = "owner_department_id", "second_department_id"
NO_ROWS: dict[str, Any] = {"_id": {"$in": []}}


@dataclass(frozen=True)
class Scope:
    """The rows that a person's roles allow together: every row, or the rows of some departments and of one creator.

    `user_id` is the person, who also sees rows that were shared with them, unless the scope is empty. `withheld` are
    the ids of records that name keepers other than the person: rows that follow them are not visible. `within`, if
    given, narrows all of this to the rows of some departments.
    """

    everything: bool = False
    department_ids: frozenset[int] = frozenset()
    creator_id: int | None = None
    user_id: int | None = None
    withheld: frozenset[RecordId] = frozenset()
    within: frozenset[int] | None = None

    @cached_property
    def _ids(self) -> tuple[int, ...]:
        """The departments in order, cached because every query uses them."""
        return tuple(sorted(self.department_ids))

    @property
    def nothing(self) -> bool:
        """Whether no row at all is visible."""
        return not (self.everything or self.department_ids or self.creator_id is not None)

    def covers(self, other: Scope) -> bool:
        """Return whether every row of `other` is a row of this scope; a person's own rows always are."""
        return self.everything or (not other.everything and other.department_ids <= self.department_ids)

    def filter(
        self,
        department: str | Callable[[Sequence[int]], Filter] = "creator_department_id",
        person: str = "creator_id",
        shared: bool = False,
        owned: bool = False,
    ) -> Filter:
        """Return the filter on the fields that a collection names.

        `department` may also return the filter for the rows of departments. `shared`: rows of the collection can be
        shared with people. `owned`: the departments of their owners count too.
        """
        if self.everything:
            return {}
        if self.nothing:
            return NO_ROWS
        branches: list[dict[str, Any]] = []
        if self.department_ids:
            of_these = {department: {"$in": list(self._ids)}} if isinstance(department, str) else department(self._ids)
            branches.append(dict(of_these))
            if owned:
                branches.append({SECOND_DEPARTMENT: {"$in": list(self._ids)}})
        if self.creator_id is not None:
            branches.append({_stored(person): self.creator_id})
        if shared and self.user_id is not None:
            branches.append({"shared_with": self.user_id})
        return branches[0] if len(branches) == 1 else {"$or": branches}

    def admits(
        self,
        document: ReadOnlyRecord,
        department: str = "creator_department_id",
        person: str = "creator_id",
        shared: bool = False,
        owned: bool = False,
    ) -> bool:
        """Return whether `filter` with the same arguments matches this stored document."""
        if self.everything:
            return True
        if not self.department_ids and self.creator_id is None:
            return False
        return (
            document.get(department) in self.department_ids
            or (owned and document.get(OWNER_DEPARTMENT) in self.department_ids)
            or (self.creator_id is not None and document.get(_stored(person)) == self.creator_id)
            or (shared and self.user_id is not None and self.user_id in (document.get("shared_with") or ()))
        )

    def parts(
        self,
        department: str = "creator_department_id",
        person: str = "creator_id",
        shared: bool = False,
        owned: bool = False,
    ) -> list[Filter]:
        """Return filters that match disjoint sets of rows and together match what `filter` does.

        MongoDB counts a range of keys twice as fast as a set of keys, and separate branches faster than a union.
        """
        if self.everything:
            return [{}]
        if self.nothing:
            return []
        parts = self._by_department(department)
        if self.creator_id is not None:
            parts.append({**self._elsewhere(department), _stored(person): self.creator_id})
        further = self.further(department, person, shared, owned)
        return [*parts, further] if further else parts

    def further(
        self,
        department: str = "creator_department_id",
        person: str = "creator_id",
        shared: bool = False,
        owned: bool = False,
    ) -> Filter | None:
        """Return the filter for rows that are visible only by their owner's department or because they were shared.

        There are few such rows, if any. The filter is the last of `parts`; if it matches nothing, the other parts match
        what `filter` does with `shared` and `owned` False. None if there can be no such row.
        """
        if self.everything or self.nothing:
            return None
        ways: list[Filter] = [{SECOND_DEPARTMENT: {"$in": list(self._ids)}}] if owned and self.department_ids else []
        ways += [{"shared_with": self.user_id}] if shared and self.user_id is not None else []
        if not ways:
            return None
        others = self._elsewhere(department)
        if self.creator_id is not None:
            others = {"$nor": [{_stored(person): self.creator_id}], **others}
        return {**others, "$or": ways} if len(ways) > 1 else {**others, **ways[0]}

    @staticmethod
    def furthest(shared: bool, owned: bool) -> list[Filter]:
        """Return filters that together match every row that `further` of any person matches."""
        fields = [SECOND_DEPARTMENT] if owned else []
        return [{name: {"$gte": 0}} for name in (*fields, *(["shared_with"] if shared else []))]

    def _by_department(self, department: str) -> list[Filter]:
        """Return the filters for the rows of the departments."""
        if not self.department_ids:
            return []
        runs = _runs(list(self._ids))
        if len(runs) > _MOST_RUNS:
            return [{department: {"$in": list(self._ids)}}]
        return [{department: {"$gte": first, "$lte": last}} for first, last in runs]

    def _elsewhere(self, department: str) -> Filter:
        """Return the filter for the rows of all other departments."""
        return {department: {"$nin": list(self._ids)}} if self.department_ids else {}


def _runs(ids: list[int]) -> list[tuple[int, int]]:
    """Return the ranges of consecutive ids in a sorted list; departments created together form such ranges."""
    runs: list[tuple[int, int]] = []
    for id in ids:
        if runs and runs[-1][1] == id - 1:
            runs[-1] = (runs[-1][0], id)
        else:
            runs.append((id, id))
    return runs


def _stored(name: str) -> str:
    return "_id" if name == "id" else name


ALL_ROWS = Scope(everything=True)
