"""Checks that the parts of a plugin have their declared types, such as a tuple of collections and a `Message` as title.

Not every author runs a type checker, and a string in place of a tuple would be read letter by letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from handlers.catalogue.declarations import Dictionary, Item, Menu, Option, View
from handlers.catalogue.extending import Extends
from handlers.catalogue.responsibilities import Holding
from handlers.data.collection import Collection
from handlers.data.states import StateMachine, Transition
from handlers.events import Event
from handlers.operations.migrations import Migration
from handlers.reports.audits import Audit
from handlers.reports.dashboards import Dashboard
from handlers.request import Request
from handlers.route import Refusal, Route
from handlers.schema.errors import ErrorKind
from handlers.service import Service
from plugins.business.events import Debt
from plugins.plugin import Job, Listener, Plugin
from plugins.records.printing import Printable

_KINDS = (
    Plugin,
    Route,
    Refusal,
    Collection,
    Menu,
    ErrorKind,
    Dictionary,
    Item,
    StateMachine,
    Transition,
    Option,
    Dashboard,
    Event,
    Listener,
    Job,
    Holding,
    Audit,
    Debt,
    Migration,
    View,
    Extends,
    Printable,
)
# two classes that the modules with the declarations may import for type checkers only
_HINTS = {kind: get_type_hints(kind, localns={"Request": Request, "Service": Service}) for kind in _KINDS}


def type_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each part whose type is not the declared one."""
    for where, part in _parts(plugin):
        hints = next(hints for kind, hints in _HINTS.items() if isinstance(part, kind))
        for one in fields(part):
            wrong = _mismatch(getattr(part, one.name), hints[one.name])
            if wrong:
                yield f"{where}: {one.name} must be {_expected(one.type, hints[one.name])}, and {wrong}."


def _parts(plugin: Plugin) -> Iterator[tuple[str, Any]]:
    """Yield the plugin and its declarations, each with a description for messages."""
    where = f"Plugin {plugin.name}"
    yield where, plugin
    words: Mapping[str, tuple[type, Callable[[Any], str]]] = {
        "routes": (Route, lambda one: f"route {one.method} {one.path}"),
        "collections": (Collection, lambda one: f"collection {one.name}"),
        "menus": (Menu, lambda one: f"menu {one.code}"),
        "errors": (ErrorKind, lambda one: f"error {one.name}"),
        "dictionaries": (Dictionary, lambda one: f"dictionary {one.type}"),
        "state_machines": (StateMachine, lambda one: f"state machine {one.name}"),
        "options": (Option, lambda one: f"option {one.key}"),
        "emits": (Event, lambda one: f"event {one.name}"),
        "listens": (Listener, lambda one: "listener"),
        "holdings": (Holding, lambda one: f"holding {one.field}"),
        "jobs": (Job, lambda one: f"job {one.name}"),
        "audits": (Audit, lambda one: f"audit {one.name}"),
        "debts": (Debt, lambda one: f"debt of {one.biz_type}"),
        "migrations": (Migration, lambda one: f"migration {one.name}"),
        "views": (View, lambda one: f"view of {one.collection.name}"),
        "dashboards": (Dashboard, lambda one: f"dashboard {one.name}"),
        "prints": (Printable, lambda one: f"paper {one.name}"),
        "extends": (Extends, lambda one: f"own fields on {one.collection.name}"),
    }
    for name, (kind, called) in words.items():
        for part in _of_type(getattr(plugin, name), kind):
            yield f"{where}: {called(part)}", part
            yield from ((f"{where}: {called(part)}", inner) for inner in _nested_declarations(part))


def _nested_declarations(part: Any) -> list[Any]:
    if isinstance(part, Dictionary):
        return _of_type(part.items, Item)
    if isinstance(part, Collection) and isinstance(part.states, StateMachine):
        return [part.states, *part.states.transitions.values()]
    if isinstance(part, StateMachine):
        return list(part.transitions.values())
    return _of_type(part.refusals, Refusal) if isinstance(part, Route) else []


def _of_type(values: Any, kind: type) -> list[Any]:
    return [value for value in values if isinstance(value, kind)] if isinstance(values, (tuple, list)) else []


def _mismatch(value: Any, hint: Any) -> str | None:
    """Return what `value` is or holds if that is not what `hint` requires, else None."""
    if isinstance(hint, type):
        return None if isinstance(value, hint) else _is(value)
    origin, inner = _shape(hint)
    if origin in (Union, UnionType):
        return None if any(_mismatch(value, one) is None for one in inner) else _is(value)
    if origin is tuple and isinstance(value, (tuple, list)):
        kinds = [inner[0]] * len(value) if inner[-1] is ... else inner
        return _item_mismatch(zip(value, kinds, strict=True)) if len(kinds) == len(value) else _is(value)
    if origin is Mapping and isinstance(value, Mapping):
        return _item_mismatch((part, kind) for item in value.items() for part, kind in zip(item, inner, strict=True))
    if origin is type:
        return None if isinstance(value, type) and issubclass(value, inner[0]) else _is(value)
    if origin is Literal:
        return None if value in inner else _is(value)
    return None if hint is Any or isinstance(value, origin or hint) else _is(value)


@cache
def _shape(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the origin and the arguments of a hint; cached, as they take most of the time of a check."""
    return get_origin(hint), get_args(hint)


def _item_mismatch(parts: Iterable[tuple[Any, Any]]) -> str | None:
    wrong = (value for value, hint in parts if _mismatch(value, hint))
    return next((f"holds {_kind(value)}" for value in wrong), None)


def _expected(written: Any, hint: Any) -> Any:
    return "a function" if get_origin(hint) is Callable else written


def _is(value: Any) -> str:
    return f"is {_kind(value)}"


def _kind(value: Any) -> str:
    name = "None" if value is None else type(value).__name__
    return name if value is None else f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"
