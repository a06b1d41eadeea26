"""`Listener` and `Job`: what a plugin does on events and periodically, declared as values."""

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

    An error that `call` raises refuses the action that emitted the event. `refusals` are the errors that it may raise;
    a route that emits the event (`events`) gets them in addition to its own. `event` is a value, or the name of a
    transition's event.
    """

    event: Event | str
    call: Callable[[Service, Payload], Awaitable[None]]
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Job:
    """Awaits `work(service)` periodically, on one instance at a time.

    `every` is a number of seconds, or the name of the plugin's setting that has it. `title` is what administrators see
    in the list of jobs.
    """

    name: str
    every: int | float | str
    work: Callable[[Service], Awaitable[object]]
    title: Message | None = None
