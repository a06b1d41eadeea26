"""Checks of state machines, and of the collections and routes that use them."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.data.collection import Collection
from handlers.data.states import StateMachine
from plugins.plugin import Plugin
from plugins.records.transitions import action_handlers


def machines_of(plugin: Plugin) -> list[StateMachine]:
    """Return the state machines of the collections of a plugin, and the others that it declares, each once."""
    of_collections = (collection.states for collection in plugin.collections if collection.states is not None)
    return list({id(machine): machine for machine in (*plugin.state_machines, *of_collections)}.values())


def state_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each fault in the states that the plugin declares."""
    for machine in machines_of(plugin):
        where = f"Plugin {plugin.name}: state machine {machine.name}"
        yield from _transition_problems(where, machine)
        yield from _label_problems(where, machine)
    for collection in plugin.collections:
        yield from _field_problems(plugin, collection)
    yield from _route_problems(plugin)


def _transition_problems(where: str, machine: StateMachine) -> Iterator[str]:
    if machine.initial not in machine.states:
        yield f"{where} begins with {machine.initial}, which is none of its states."
        return
    for action, transition in machine.transitions.items():
        for state in dict.fromkeys((*transition.sources, transition.target)):
            if state not in machine.states:
                yield f"{where}: {action} leads from or to {state}, which is none of its states."
    for state in (*machine.done, *machine.refused):
        if state not in machine.states:
            yield f"{where} is done or refused in {state}, which is none of its states."
    reachable = machine.reachable()
    for state in machine.states:
        if state not in reachable:
            yield f"{where} never comes to {state}: no action leads there from {machine.initial}."


def _label_problems(where: str, machine: StateMachine) -> Iterator[str]:
    labels = {f"the state {state}": label for state, label in machine.states.items()}
    actions = machine.transitions.items()
    labels |= {f"the action {action}": one.label for action, one in actions if one.label is not None}
    for name, label in labels.items():
        for language, word in zip(("Chinese", "English"), label, strict=True):
            if not word:
                yield f"{where} has no {language} label for {name}."


def _field_problems(plugin: Plugin, collection: Collection) -> Iterator[str]:
    machine = collection.states
    if machine is None:
        return
    where = f"Plugin {plugin.name}: collection {collection.name}"
    field = collection.fields.get(machine.field)
    if field is None:
        yield f"{where} has the states of {machine.name}, but no field {machine.field} that holds them."
    elif set(field.rules.get("enum", ())) != set(machine.states):
        yield f"{where}: {machine.field} has other values than the states of {machine.name}."


def _route_problems(plugin: Plugin) -> Iterator[str]:
    types = {collection.name for collection in plugin.biz_types.values()}
    for declared, handler in action_handlers(plugin.routes):
        where = f"Plugin {plugin.name}: route {declared.method} {declared.path}"
        life, name = handler.life, handler.action.names[0]
        transition = life.collection.machine.transitions[name]
        if transition.label is None:
            yield f"{where} does {name}, which has no label."
        asks = life.approval is not None and life.approval.submit == name
        if asks and life.collection.name not in types:
            yield f"{where} asks for approval, but {life.collection.name} is no business type of the plugin."
