"""`Step`: one transition of one record while it happens, as the hooks of its action get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, overload

from handlers.data.collection import Collection
from handlers.data.store import Store
from handlers.events import Event
from handlers.request import Request
from handlers.schema.calendar import day_of
from handlers.schema.errors import CONFLICT, ApiError
from handlers.schema.messages import Message
from handlers.schema.values import Record, RecordId, Row, Typed, Values
from handlers.service import Parts, Service

ON_HOLD = Message("已挂起：{reason}", "It is on hold: {reason}")


class Announced:
    """Base of what a hook keeps for later hooks if the event of the transition carries its fields too."""


@dataclass(slots=True)
class Step(Generic[Row]):
    """One transition of one record.

    `record` is the record as it was; in the hook `after` it is the changed record. `by` is the id of the person who
    acts, `reason` the reason that they gave; `body` is the body of the action, empty if an approval acts. `kept` has what
    earlier hooks keep, by its type: `step.kept[Shipped].shipment`. `payload` is what the event of the transition carries
    besides the record and what is `Announced`. `approval_id` is the approval that was asked for.
    """

    service: Service
    collection: Collection
    action: str
    record: Row
    now: datetime
    by: int | None = None
    reason: str | None = None
    body: Record = field(default_factory=dict)
    request: Request | None = None
    by_approval: bool = False
    payload: Record = field(default_factory=dict)
    approval_id: str | None = None
    kept: Parts = field(default_factory=Parts)

    def keep(self, result: object) -> None:
        """Keep a value of a dataclass for later hooks."""
        self.kept[type(result)] = result

    @property
    def req(self) -> Request:
        """The request, for hooks of actions that only requests make. Raises RuntimeError if there is none."""
        if self.request is None:
            raise RuntimeError(f"no request makes this {self.action}")
        return self.request

    @property
    def today(self) -> str:
        """The business day of the step."""
        return day_of(self.now, self.service.settings.zone).isoformat()

    @overload
    def store(self, collection: Collection[Typed]) -> Store[Typed]: ...

    @overload
    def store(self, collection: Collection) -> Store: ...

    def store(self, collection: Collection) -> Store[Any]:
        """Return a store without data scope, with the audit stamp of the person who acts."""
        if self.request is not None:
            return self.request.system_store(collection)
        return self.service.database.store(collection, now=self.now)

    async def emit(self, event: Event | str, **payload: object) -> None:
        """Send an event to the listeners of other plugins, in the same transaction."""
        await self.service.events.emit(event, {"request": self.request, **payload})

    async def require(self, *actions: str) -> None:
        """Raise an error unless the record can make one of the actions now.

        40902: the body has another `version` than the record. 40901: the state allows none of the actions.
        """
        machine = self.collection.machine
        version = self.body.get("version")
        if version not in (None, self.record.get("version")):
            raise await self.store(self.collection).stale(self.record["id"], version)
        if not any(machine.permits(self.record, action) for action in actions):
            raise machine.refuse(actions[0])

    def refuse_barred(self, unless: Mapping[str, Message], *, waits: bool) -> None:
        """Raise 40901 if a field of `unless` is true, with its message, and with `waits` also for a record on hold."""
        for name, message in unless.items():
            if self.record[name]:
                raise ApiError(CONFLICT, message)
        if waits and self.record["on_hold"]:
            raise ApiError(CONFLICT, ON_HOLD.filled(reason=self.record["hold_reason"]))


Hook = Callable[[Step[Any]], Awaitable[None]]


async def change_state(
    store: Store[Row], id: RecordId, action: str, values: Values | None = None, *, version: int | None = None
) -> Row:
    """Take a record to the state that the action leads to, with further changes, and return it.

    Names that begin with `$` are further update operators. Raises 40400, 40902 for another `version`, and the refusal
    of the action if the state does not allow it. For transitions that the service makes itself.
    """
    machine, given = store.collection.machine, values or {}
    changes = {name: value for name, value in given.items() if not name.startswith("$")}
    operators = {name: value for name, value in given.items() if name.startswith("$")}
    refused = machine.refuse(action)
    return await store.update(
        id,
        {**changes, machine.field: machine.after(action)},
        version=version,
        where=machine.allows(action),
        otherwise=refused.kind,
        reason=refused.reason,
        operators=operators,
    )
