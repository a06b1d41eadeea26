"""`Driver`: the operations that the data layer needs from MongoDB, whichever library or protocol performs them.

Writes are acknowledged by a majority and every operation has a time limit. Callers never see the exceptions of a
library, only those of `config.database.errors`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
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
from config.database.indexes import IndexSpec
from config.database.operations import Operations
from config.database.orphans import end_orphans
from config.database.transactions import SESSION

Result = TypeVar("Result")


@dataclass(frozen=True)
class Change:
    """A document that changed: its collection and its `_id`."""

    collection: str
    id: Any


class Driver(ABC):
    """One database. An operation that is called inside `transaction` becomes part of that transaction.

    Every operation raises `DatabaseUnavailable` if the server does not reply in time or cannot be reached; `operations`
    are the time limits.
    """

    operations: Operations

    @abstractmethod
    async def find(self, collection: str, filter: Filter, **options: Unpack[FindOptions]) -> list[Document]:
        """Return the documents that match. Raises `NoSuchIndex` if the index of `hint` does not exist."""

    @abstractmethod
    async def find_one(self, collection: str, filter: Filter, **options: Unpack[FindOneOptions]) -> Document | None:
        """Return the first document that matches."""

    @abstractmethod
    async def find_by_id(
        self, collection: str, id: Hashable, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Document | None:
        """Return the document with this `_id`: only `fields`, or everything except `without`.

        Outside a transaction, documents that are requested at the same time are read by one command.
        """

    @abstractmethod
    def stream(self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000) -> AsyncIterator[Document]:
        """Yield the matching documents one by one; they are fetched `batch` at a time."""

    @abstractmethod
    async def count(self, collection: str, filter: Filter, **options: Unpack[CountOptions]) -> int:
        """Return how many documents match. For an empty filter, the number comes from metadata; no document is read."""

    @abstractmethod
    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Insert the documents in order, up to the first that fails. Raises `DuplicateKey`."""

    @abstractmethod
    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        """Insert those documents whose `_id` does not exist yet."""

    @abstractmethod
    async def update_one(
        self,
        collection: str,
        filter: Filter,
        update: Update,
        **options: Unpack[UpdateOptions],
    ) -> Document | None:
        """Change one document atomically and return its new state; None if none matches. Raises `DuplicateKey`."""

    @abstractmethod
    async def update_many(self, collection: str, filter: Filter, update: Update) -> int:
        """Change every document that matches; return how many changed. Raises `DuplicateKey`."""

    @abstractmethod
    async def update_each(self, collection: str, changes: Sequence[tuple[Filter, Update]]) -> int:
        """Change one document for each filter with one command, in a transaction; return how many matched.

        The changes are made in order. Raises RuntimeError outside a transaction, and `DuplicateKey`.
        """

    @abstractmethod
    async def delete_many(self, collection: str, filter: Filter) -> int:
        """Delete every document that matches; return how many were deleted."""

    @abstractmethod
    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, collection_scan: bool = False
    ) -> list[Document]:
        """Return all results of an aggregation; `collection_scan` reads the collection without any index."""

    @abstractmethod
    async def command(self, command: Mapping[str, Any]) -> Document:
        """Run a database command and return its reply."""

    @abstractmethod
    async def run_on_admin(self, command: Mapping[str, Any]) -> Document:
        """Run a command on the database `admin`, which may be executed twice, and return its reply."""

    async def end_orphans(self) -> int:
        """End the transactions of processes that were killed; return how many there were."""
        return await end_orphans(self.run_on_admin)

    @abstractmethod
    async def list_indexes(self, collection: str) -> list[Document]:
        """Return the indexes of the collection, including that of `_id`, as `listIndexes` describes them."""

    @abstractmethod
    async def has_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> bool:
        """Return whether the collection's indexes are exactly those of `specs`."""

    @abstractmethod
    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        """Make the collection's indexes exactly those of `specs`; replace those that differ.

        New indexes are created before old ones are dropped, unless MongoDB considers the two the same. So meanwhile
        other instances find an index for their queries, and no duplicate of a unique key is possible. If a new index
        cannot be created, the old one stays. Raises `DuplicateKey` if stored documents violate a unique index.
        """

    @abstractmethod
    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` so that all its writes happen or none; it runs again after a write conflict.

        Inside a transaction, `work` becomes part of that one.
        """

    @abstractmethod
    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work`, which only reads, so that it sees all documents as they are at one moment; it may run again.

        This is a transaction that is never committed: writes are lost, nothing waits for a commit, and what was read
        may still be rolled back if the primary is lost. Inside a transaction, `work` becomes part of that one.
        """

    @abstractmethod
    async def take_turn(self, collection: str, *ids: Hashable) -> None:
        """Make the transactions of this process that take turns with these documents run one after the other.

        Call it at the start of a transaction that will write documents that many transactions write. It then starts
        when its turn comes, instead of starting again after others have changed them. Raises RuntimeError outside a
        transaction.
        """

    @property
    def in_transaction(self) -> bool:
        """Whether the caller runs inside `transaction` or `snapshot`."""
        return SESSION.get() is not None

    @property
    @abstractmethod
    def open_sessions(self) -> list[bytes]:
        """The `lsid.id` of each session in which this process has a transaction: a UUID, as `killSessions` takes it."""

    def connections(self) -> dict[str, float]:
        """Return how many of its own connections are used and idle; those of a library are not counted."""
        return {}

    @property
    def slow_operations(self) -> int:
        """How many operations took longer than a second; those of a library are not counted."""
        return 0

    @abstractmethod
    def watch(self, collections: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Iterate over the changes to `collections` that are made while the block runs."""

    @abstractmethod
    async def close(self) -> None:
        """Close every connection. Does not wait for a server that is gone."""
