"""Checks of events and jobs: that events with listeners are emitted, and that functions take the arguments they get."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence

from handlers.events import Event, name_of
from plugins.business.events import EVENTS
from plugins.business.ports import ANSWERS, QUESTIONS
from plugins.checks.states import machines_of
from plugins.plugin import Plugin
from plugins.records.shared_events import PROTOCOLS

SHARED_EVENTS = (*PROTOCOLS, *EVENTS, *QUESTIONS)
"""Events that every plugin may emit."""


def event_problems(plugins: Sequence[Plugin]) -> Iterator[str]:
    """Yield a sentence for each fault in the events and jobs of these plugins."""
    known: dict[str, tuple[Event, str]] = {event.name: (event, "the core") for event in SHARED_EVENTS}
    for plugin in plugins:
        for event in _values_of(plugin):
            first, declarer = known.setdefault(event.name, (event, f"plugin {plugin.name}"))
            if first != event:
                yield f"Plugin {plugin.name} declares the event {event.name} with other fields than {declarer}."
    emitted = {event.name for event in SHARED_EVENTS} | {name for plugin in plugins for name in emitted_names(plugin)}
    for plugin in plugins:
        yield from _listener_problems(plugin, emitted)
        yield from _route_problems(plugin)
        yield from _job_problems(plugin)


def emitted_names(plugin: Plugin) -> frozenset[str]:
    """Return the names of the events that the plugin emits, including those of transitions."""
    moves = [move for machine in machines_of(plugin) for move in machine.transitions.values()]
    return frozenset([event.name for event in plugin.emits] + [move.event for move in moves if move.event])


def _values_of(plugin: Plugin) -> list[Event]:
    listened = [one.event for one in plugin.listens]
    return [*plugin.emits, *(event for event in listened if isinstance(event, Event))]


def _listener_problems(plugin: Plugin, emitted: set[str]) -> Iterator[str]:
    for one in plugin.listens:
        name = name_of(one.event)
        # events of its own name may be emitted by other plugins, which need not be loaded
        if name not in emitted and not name.startswith(f"{plugin.name}."):
            yield f"Plugin {plugin.name} listens for {name}, which no loaded plugin emits."
        if one.event in QUESTIONS and one not in ANSWERS:
            yield f"Plugin {plugin.name} listens for {name}, which is asked by a port of plugins.api.business: provide it."
        yield from _function_problems(f"Plugin {plugin.name}: its listener for {name}", one.call, "service", "payload")


def _route_problems(plugin: Plugin) -> Iterator[str]:
    for route in plugin.routes:
        for event in route.events:
            if isinstance(event, Event) and event not in (*plugin.emits, *SHARED_EVENTS):
                where = f"Plugin {plugin.name}: route {route.method} {route.path}"
                yield f"{where} emits {event.name}, which is not in the emits of the plugin."


def _job_problems(plugin: Plugin) -> Iterator[str]:
    settings = plugin.settings.model_fields if plugin.settings is not None else {}
    for job in plugin.jobs:
        where = f"Plugin {plugin.name}: job {job.name}"
        if isinstance(job.every, str) and job.every not in settings:
            yield f"{where} runs every {job.every}, which is no setting of the plugin."
        elif not isinstance(job.every, str) and job.every <= 0:
            yield f"{where} runs every {job.every} seconds, which must be more than 0."
        yield from _function_problems(where, job.work, "service")


def _function_problems(where: str, function: Callable[..., object], *given: str) -> Iterator[str]:
    called = inspect.unwrap(getattr(function, "func", function))
    if not inspect.iscoroutinefunction(called) and not inspect.iscoroutinefunction(type(called).__call__):
        yield f"{where} is no async function."
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        yield f"{where} must take {' and '.join(given)}."
