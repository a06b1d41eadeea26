"""`TracedDriver`: wraps a driver, with a span for each operation of a traced request or job."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeVar, Unpack

from config.database.commands import (
    CountOptions,
    Document,
    Filter,
    FindOneOptions,
    FindOptions,
    Sort,
    Update,
    UpdateOptions,
)
from config.database.driver import Change, Driver
from config.database.indexes import IndexSpec
from config.tracing import span

Result = TypeVar("Result")


def _span(operation: str, collection: str) -> AbstractContextManager[object]:
    """Return a span by OpenTelemetry's conventions for databases; it never contains what is queried or written."""
    named = f"{operation} {collection}" if collection else operation
    names = {"db_system_name": "mongodb", "db_operation_name": operation, "db_collection_name": collection}
    return span(named, "CLIENT", **{key: value for key, value in names.items() if value})


class TracedDriver(Driver):
    """Performs every operation with `driver`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.operations = driver.operations

    async def find(self, collection: str, filter: Filter, **options: Unpack[FindOptions]) -> list[Document]:
        with _span("find", collection):
            return await self._driver.find(collection, filter, **options)

    async def find_one(self, collection: str, filter: Filter, **options: Unpack[FindOneOptions]) -> Document | None:
        with _span("findOne", collection):
            return await self._driver.find_one(collection, filter, **options)

    async def find_by_id(
        self, collection: str, id: Hashable, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Document | None:
        with _span("findById", collection):
            return await self._driver.find_by_id(collection, id, fields, without)

    def stream(self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000) -> AsyncIterator[Document]:
        return self._driver.stream(collection, filter, sort=sort, batch=batch)

    async def count(self, collection: str, filter: Filter, **options: Unpack[CountOptions]) -> int:
        with _span("count", collection):
            return await self._driver.count(collection, filter, **options)

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        with _span("insert", collection):
            await self._driver.insert(collection, documents)

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        with _span("insert", collection):
            await self._driver.insert_missing(collection, documents)

    async def update_one(
        self, collection: str, filter: Filter, update: Update, **options: Unpack[UpdateOptions]
    ) -> Document | None:
        with _span("findAndModify", collection):
            return await self._driver.update_one(collection, filter, update, **options)

    async def update_many(self, collection: str, filter: Filter, update: Update) -> int:
        with _span("update", collection):
            return await self._driver.update_many(collection, filter, update)

    async def update_each(self, collection: str, changes: Sequence[tuple[Filter, Update]]) -> int:
        with _span("update", collection):
            return await self._driver.update_each(collection, changes)

    async def delete_many(self, collection: str, filter: Filter) -> int:
        with _span("delete", collection):
            return await self._driver.delete_many(collection, filter)

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, collection_scan: bool = False
    ) -> list[Document]:
        with _span("aggregate", collection):
            return await self._driver.aggregate(collection, pipeline, collection_scan=collection_scan)

    async def command(self, command: Mapping[str, Any]) -> Document:
        with _span(next(iter(command)), ""):
            return await self._driver.command(command)

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        with _span("transaction", ""):
            return await self._driver.transaction(work)

    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        with _span("snapshot", ""):
            return await self._driver.snapshot(work)

    async def take_turn(self, collection: str, *ids: Hashable) -> None:
        await self._driver.take_turn(collection, *ids)

    async def run_on_admin(self, command: Mapping[str, Any]) -> Document:
        return await self._driver.run_on_admin(command)

    async def list_indexes(self, collection: str) -> list[Document]:
        return await self._driver.list_indexes(collection)

    async def has_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> bool:
        return await self._driver.has_indexes(collection, specs)

    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        await self._driver.synchronise_indexes(collection, specs)

    @property
    def open_sessions(self) -> list[bytes]:
        return self._driver.open_sessions

    def connections(self) -> dict[str, float]:
        return self._driver.connections()

    @property
    def slow_operations(self) -> int:
        return self._driver.slow_operations

    def watch(self, collections: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        return self._driver.watch(collections)

    async def close(self) -> None:
        await self._driver.close()
