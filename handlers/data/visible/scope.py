"""Data scope: which rows a person sees, by department, creator or owner, or because they were shared with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from config.database import Filter
from handlers.schema.values import ReadOnlyRecord, RecordId

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
        """Return filters that match no row twice and together what `filter` does.

        The first one is that of the departments, whose count the requests of all their people can share.
        """
        whole = self.filter(department, person, shared, owned)
        first, *others = whole.get("$or", [whole])
        if not others or not self.department_ids:
            return [whole]
        return [first, {department: {"$nin": list(self._ids)}, "$or": others}]


def _stored(name: str) -> str:
    return "_id" if name == "id" else name


ALL_ROWS = Scope(everything=True)
