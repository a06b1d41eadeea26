"""Events between plugins, in one process: who emits does not know who listens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Payload = Mapping[str, Any]
EventListener = Callable[[Payload], Awaitable[None]]


class Events:
    """Listeners by event name, such as `acme.agreement.submitted`."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[EventListener]] = defaultdict(list)

    def listen(self, name: str, listener: EventListener) -> None:
        """Await `listener` with the payload of every `name`."""
        self._listeners[name].append(listener)

    async def emit(self, name: str, payload: Payload) -> None:
        """Tell every listener, in the order in which they came; inside a transaction they are part of it.

        A listener's exception reaches the emitter: what belongs together fails together.
        """
        for listener in self._listeners.get(name, ()):
            await listener(payload)
