"""Describes a data scope in words: which rows a user sees, and why a record is or is not among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from plugins.api import Actor, ApiError, Collection, Message, Request, Store
from plugins.api.data import ALL_ROWS, Scope
from plugins.api.values import Language
from plugins.rbac import messages
from plugins.rbac.policy import Rules

_NAMED = 5


class View:
    """The rows of a collection that a user sees; of any collection under data scope if `collection` is None."""

    def __init__(self, req: Request, actor: Actor, scope: Scope, rules: Rules, collection: Collection | None) -> None:
        self._req = req
        self._actor = actor
        self._scope = scope
        self._rules = rules
        self._collection = collection

    def describe(self) -> dict[str, Any]:
        """Return the scope in words, as a MongoDB filter, and its departments."""
        store = self._store(self._scope) if self._collection else None
        return {
            "words": self._describe(),
            "filter": store.row_filter if store else self._scope.filter(),
            "departments": [{"id": id, "name": self._name(id)} for id in sorted(self._scope.department_ids)],
        }

    async def record(self, id: str) -> dict[str, Any] | None:
        """Return whether the user sees the record with this id, and why; None for routes without a collection.

        The caller learns nothing about records outside their own data scope.
        """
        if self._collection is None:
            return None
        try:
            key = self._collection.parse_id(id)
        except ApiError:
            return self._conclude(False, messages.RECORD_MISSING)
        own = self._req.store(self._collection)
        if await own.find_one({"_id": key}) is None:
            everything = not own.row_filter
            reason = messages.RECORD_MISSING if everything else messages.RECORD_UNKNOWN
            certain = everything or self._actor.user_id == self._req.actor.user_id
            return self._conclude(False if certain else None, reason)
        if await self._store(self._scope).find_one({"_id": key}) is None:
            return self._conclude(False, messages.RECORD_OUTSIDE, rows=self._describe())
        return self._conclude(True, messages.RECORD_SEEN, rows=await self._explain_visible(key))

    async def _explain_visible(self, key: Any) -> str:
        for part, words in self._parts():
            if await self._store(part).find_one({"_id": key}) is not None:
                return words
        return self._describe()

    def _describe(self) -> str:
        return messages.AND.text(self._language).join(words for _, words in self._parts())

    def _parts(self) -> Iterator[tuple[Scope, str]]:
        """Yield the parts of the scope, each with its description."""
        collection, scope = self._collection, self._scope
        if collection is not None and collection.follows and scope.withheld:
            yield scope, messages.UNKEPT_ROWS.text(self._language)
        elif collection is not None and not collection.scoped:
            yield ALL_ROWS, messages.NOT_SCOPED.text(self._language)
        elif scope.everything:
            yield ALL_ROWS, messages.ALL_ROWS.text(self._language)
        elif scope.nothing:
            yield scope, messages.NO_ROWS.text(self._language)
        else:
            alone = replace(scope, user_id=None)
            if scope.creator_id is not None:
                yield replace(alone, department_ids=frozenset()), messages.OWN_ROWS.text(self._language)
            if scope.department_ids:
                words = messages.DEPARTMENT_ROWS.text(self._language, departments=self._departments())
                yield replace(alone, creator_id=None), words
            if collection is not None and collection.shared:
                yield scope, messages.HANDED_ROWS.text(self._language)

    def _departments(self) -> str:
        ids = sorted(self._scope.department_ids)
        names = ", ".join(self._name(id) for id in ids[:_NAMED])
        return names if len(ids) <= _NAMED else f"{names} {messages.MORE.text(self._language, count=len(ids))}"

    def _name(self, department_id: int) -> str:
        return str(self._rules.departments.get(department_id, {}).get("name", department_id))

    def _store(self, scope: Scope) -> Store:
        if self._collection is None:
            raise RuntimeError("a route without a collection has no rows")
        return self._req.service.database.store(self._collection, self._actor, scope, self._req.now)

    def _conclude(self, visible: bool | None, why: Message, **values: object) -> dict[str, Any]:
        return {"visible": visible, "why": why.text(self._language, **values)}

    @property
    def _language(self) -> Language:
        return self._req.language
