"""Decorators for the methods of `Store` that write references or delete, and the refusal of undeclared fields.

A field that no collection declares would be stored for ever and shown in no response.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from config.database import DuplicateKey
from handlers.data.collection import Collection
from handlers.data.context import DataContext
from handlers.data.references.checks import References
from handlers.data.references.holders import HolderStore, Release
from handlers.schema.errors import DUPLICATE, ApiError
from handlers.schema.values import Operators, RecordId, Values


def require_declared(collection: Collection, *updates: Operators | Sequence[Mapping[str, Any]] | None) -> None:
    """Raise ValueError if update operators write a field that no stored record has. The stages of a pipeline pass."""
    for update in updates:
        for operator, changes in update.items() if isinstance(update, Mapping) else ():
            # `$unset` takes away what an older version has stored
            if operator != "$unset" and not collection.stored.issuperset(changes):
                unknown = {path.partition(".")[0] for path in changes} - collection.stored
                if unknown:
                    names = ", ".join(sorted(unknown))
                    raise ValueError(f"{collection.name} has no field {names}: declare it in fields, or in internal")


P = ParamSpec("P")
Result = TypeVar("Result")


class WritingStore(Protocol):
    """The part of `Store` that the decorators use."""

    collection: Collection
    _context: DataContext
    _now: datetime

    def _references(self) -> References:
        """Return the references of the collection, as the actor may write them."""

    def _unscoped(self, collection: Collection) -> HolderStore:
        """Return a store of all records of another collection, for the same actor."""


S = TypeVar("S", bound=WritingStore)


def keeps_references(
    rows_of: Callable[..., Sequence[Values]],
) -> Callable[
    [Callable[Concatenate[S, P], Coroutine[Any, Any, Result]]], Callable[Concatenate[S, P], Coroutine[Any, Any, Result]]
]:
    """Make a method lock the records that it refers to against deletion; `rows_of` returns what its arguments write."""

    def decorate(
        write: Callable[Concatenate[S, P], Coroutine[Any, Any, Result]],
    ) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Result]]:
        @wraps(write)
        def keeping(store: S, /, *args: P.args, **options: P.kwargs) -> Coroutine[Any, Any, Result]:
            if not store.collection.acting_links:
                return write(store, *args, **options)
            rows = rows_of(*args, **options)
            return store._references().keep(rows, lambda: write(store, *args, **options))

        return keeping

    return decorate


def omit(values: Values, names: Container[str]) -> Values:
    """Return the values without those of `names`."""
    return {name: value for name, value in values.items() if name not in names} if names else values


def releases_holders(
    delete: Callable[Concatenate[S, RecordId, P], Awaitable[None]],
) -> Callable[Concatenate[S, RecordId, P], Coroutine[Any, Any, None]]:
    """Make a method that deletes a record also refuse, delete or clear its holders, in one transaction."""

    @wraps(delete)
    async def releasing(store: S, id: RecordId, /, *args: P.args, **options: P.kwargs) -> None:
        context, name = store._context, store.collection.name
        if name not in context.holders:
            return await delete(store, id, *args, **options)

        async def work() -> None:
            await delete(store, id, *args, **options)
            release = Release(context.driver, context.holders, store._unscoped, store._now)
            await release.run(name, store.collection.parse_id(id))

        await context.transaction(work)

    return releasing


class refusing_duplicates:  # noqa: N801 - reads as a function
    """`with refusing_duplicates(collection): …` raises 40900 with the field whose value another record has."""

    __slots__ = ("_collection",)

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DuplicateKey):
            names = [name for name in error.fields if name in self._collection.all_fields] or ["id"]
            raise ApiError(DUPLICATE, data={"field": names[-1]}) from error
