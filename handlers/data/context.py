"""The parts of a process's database that stores depend on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Set
from typing import Protocol, TypeVar

from config.database import Driver
from handlers.data.collection import Collection
from handlers.data.history.history import History
from handlers.data.history.outbox import Outbox
from handlers.data.references.holders import Holders
from handlers.data.sync.changes import Changes
from handlers.data.sync.single_flight import SingleFlight
from handlers.schema.values import RecordId

Result = TypeVar("Result")


class PeopleReader(Protocol):
    """The part of `Database` that reads the departments of people."""

    @property
    def driver(self) -> Driver:
        """The driver that all stores use."""

    @property
    def changes(self) -> Changes:
        """Notifications of changes to the watched collections."""

    def is_changed_here(self, collection: str) -> bool:
        """Return whether the running transaction has changed the collection."""


class PeopleInDepartments(Protocol):
    """The departments of people."""

    async def of(self, user_id: int | None) -> int | None:
        """Return the department of a person; None if `user_id` is None or the person has no department."""


class DataContext(Protocol):
    """The part of `Database` that stores depend on, so that `Database` can create stores without a cycle of imports."""

    @property
    def driver(self) -> Driver:
        """The driver that all stores use."""

    @property
    def collections(self) -> Mapping[str, Collection]:
        """The collections of all loaded plugins by name."""

    @property
    def referred(self) -> Mapping[str, Collection]:
        """The collections of all loaded plugins by each name that a reference may use: name and alias."""

    @property
    def holders(self) -> Holders:
        """The references to each collection that matter when its records are deleted."""

    @property
    def counts(self) -> SingleFlight:
        """Runs counts; identical ones that are requested at the same time share one execution."""

    @property
    def outdated(self) -> Set[str]:
        """The names of collections whose stored search fields still have to be rebuilt."""

    @property
    def departments(self) -> PeopleInDepartments:
        """The departments of people, kept in memory."""

    @property
    def history(self) -> History:
        """The history of all records."""

    @property
    def outbox(self) -> Outbox:
        """The changes that somebody outside waits for."""

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` so that all its writes happen or none; it may run more than once."""

    async def next_number(self, name: str, *, outside_transaction: bool = True) -> int:
        """Return the next number of a sequence."""

    def tell(self, collection: str, id: RecordId) -> None:
        """Notify the listeners of a collection that a document was written; `id` None means several."""
