"""Events between the plugins of one process: the emitter does not know the listeners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable

from handlers.schema.values import Payload

EventListener = Callable[[Payload], Awaitable[None]]


class Events:
    """Listeners by event name, such as `acme.agreement.submitted`."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[EventListener]] = defaultdict(list)

    def listen(self, name: str, listener: EventListener) -> None:
        """Await `listener` with the payload of every `name`."""
        self._listeners[name].append(listener)

    async def emit(self, name: str, payload: Payload) -> None:
        """Await every listener, in the order in which they were added; within a transaction they are part of it.

        The exception of a listener propagates to the emitter, so that related writes fail together.
        """
        for listener in self._listeners.get(name, ()):
            await listener(payload)
