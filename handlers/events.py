"""Events between the plugins of one process: the emitter does not know the listeners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import UnionType

from handlers.schema.values import Payload

EventListener = Callable[[Payload], Awaitable[None]]


@dataclass(frozen=True, init=False)
class Event:
    """A message to other plugins: `Event("acme.agreement.signed", agreement=dict, reason=str | None)`.

    `fields` maps the names in the payload to types; what may be None may be left out. A payload also carries the
    `request`.
    """

    name: str
    fields: Mapping[str, type | UnionType]

    def __init__(self, name: str, **fields: type | UnionType) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "fields", fields)

    def __hash__(self) -> int:
        return hash(self.name)

    def check(self, payload: Payload) -> None:
        """Raise TypeError for a payload that differs from what the event declares."""
        wrong = [name for name, kind in self.fields.items() if not isinstance(payload.get(name), kind)]
        wrong += payload.keys() - self.fields.keys() - {"request"}
        if wrong:
            raise TypeError(
                f"the event {self.name} is emitted with another {', '.join(sorted(wrong))} than it declares"
            )


def name_of(event: Event | str) -> str:
    """Return the name of an event, which is given as an `Event` or by its name."""
    return event if isinstance(event, str) else event.name


class Events:
    """Listeners by event name, such as `acme.agreement.submitted`."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[EventListener]] = defaultdict(list)
        self._declared: set[str] = set()

    def declare(self, events: Iterable[Event]) -> None:
        """Allow these events to be emitted."""
        self._declared.update(event.name for event in events)

    def listen(self, event: Event | str, listener: EventListener) -> None:
        """Await `listener` with the payload of every `event`."""
        self._listeners[name_of(event)].append(listener)

    async def emit(self, event: Event | str, payload: Payload) -> None:
        """Await every listener, in the order in which they were added; within a transaction they are part of it.

        An exception in a listener propagates to the emitter, so that related writes fail together. For an `Event`,
        raises LookupError if no plugin declares it, and TypeError if the payload differs from its declaration.
        """
        if isinstance(event, Event):
            if event.name not in self._declared:
                raise LookupError(f"the event {event.name} is emitted, but no loaded plugin has it in its emits")
            event.check(payload)
        for listener in self._listeners.get(name_of(event), ()):
            await listener(payload)
