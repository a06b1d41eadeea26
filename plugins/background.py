"""`Listener` and `Job`: what a plugin does without a request of its own, as values of its declaration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handlers.events import Event
from handlers.route import Refusal
from handlers.schema.messages import Message
from handlers.schema.values import Payload
from handlers.service import Service


@dataclass(frozen=True)
class Listener:
    """Awaits `call(service, payload)` for each `event`, in the transaction of the emitter.

    An error that it raises refuses what emitted the event. `refusals` are those that it may raise: a route that emits
    the event (`events`) has them besides its own. The event is a value, or the name of a transition's event.
    """

    event: Event | str
    call: Callable[[Service, Payload], Awaitable[None]]
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Job:
    """Awaits `work(service)` periodically, on one instance at a time.

    `every` is a number of seconds, or the name of the plugin's setting that has it. `title`: what administrators read of
    it in the list of the jobs.
    """

    name: str
    every: int | float | str
    work: Callable[[Service], Awaitable[object]]
    title: Message | None = None
