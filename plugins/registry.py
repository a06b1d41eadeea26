"""Load plugins, put them in order, check everything they declare, and freeze it.

Every problem is a sentence; all of them are reported together, and then the process does not start.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar

import jsonschema_rs

from handlers.data.collection import Collection
from handlers.errors import CORE_ERRORS, ValidationFailed
from handlers.idempotency import IDEMPOTENCY_KEYS
from handlers.json_schema import json_schema
from handlers.openapi import describe
from handlers.openapi_components import NameTaken
from handlers.oplog import OPERATION_LOGS
from handlers.patterns import patterns_of, syntax_fault
from handlers.ports import Authenticator, Authorizer
from handlers.route import METHODS, PERMISSION, PUBLIC, SIGNED_IN, SUPER, Route
from handlers.schema import Field, obj
from handlers.service import Catalogue, Menu, Option
from handlers.system import CORE_ROUTES, VERSION
from plugins.plugin import Plugin

GROUP = "tradewind.plugins"
CORE_COLLECTIONS = (IDEMPOTENCY_KEYS, OPERATION_LOGS)
_PATH = re.compile(r"^/(api/|metrics$)[A-Za-z0-9._{}/-]+$|^/metrics$")
_OPTION_KEY = re.compile(r"^[a-z][a-z0-9_]{0,63}$")
Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


class RegistryError(Exception):
    """The plugins do not fit together; `problems` says why, a sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def built_in_names() -> list[str]:
    """The names of the plugins that come with the service."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/plugin.py"))


def load_plugins(names: Sequence[str]) -> list[Plugin]:
    """The named plugins (all built-in ones when none is named) and what they require, in order.

    External ones are found by the entry-point group `tradewind.plugins`. Raises `RegistryError`.
    """
    built_in = built_in_names()
    external, problems = _installed(built_in)
    loaded: dict[str, Plugin] = {}
    waiting = list(names) or list(built_in)
    while waiting:
        name = waiting.pop(0)
        if name in loaded:
            continue
        plugin = _load(name, built_in, external, problems)
        if plugin is not None:
            loaded[name] = plugin
            waiting += plugin.requires
    plugins = list(loaded.values())
    try:
        plugins = in_order(plugins)
    except RegistryError as error:
        problems += error.problems
    if problems:
        # what those that are there declare is told too, so that one start shows everything there is to mend
        raise RegistryError(list(dict.fromkeys([*problems, *_checks(plugins)])))
    return plugins


def _installed(built_in: Sequence[str]) -> tuple[dict[str, EntryPoint], list[str]]:
    """The external plugins by name, and the names that two claim."""
    external: dict[str, EntryPoint] = {}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=_package):
        if point.name in built_in:
            problems.append(f"Plugin {point.name} of package {_package(point)} has the name of a built-in plugin.")
        elif point.name in external:
            both = f"{_package(external[point.name])} and {_package(point)}"
            problems.append(f"Plugin {point.name} is brought by two packages: {both}.")
        else:
            external[point.name] = point
    return external, problems


def _load(name: str, built_in: Sequence[str], external: dict[str, EntryPoint], problems: list[str]) -> Plugin | None:
    try:
        if name in built_in:
            plugin = importlib.import_module(f"plugins.{name}.plugin").plugin
        elif name in external:
            plugin = external[name].load()
        else:
            problems.append(f"Plugin {name} is unknown: it is neither built in nor installed (entry point {GROUP}).")
            return None
    except Exception as error:
        problems.append(f"Plugin {name} cannot be imported: {type(error).__name__}: {error}.")
        return None
    if not isinstance(plugin, Plugin):
        problems.append(f"Plugin {name}: its entry point is a {type(plugin).__name__}, not a Plugin.")
        return None
    if plugin.name != name:
        problems.append(f"Plugin {name} calls itself {plugin.name}; the two names must agree.")
        return None
    return plugin


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"


def in_order(plugins: Sequence[Plugin]) -> list[Plugin]:
    """The plugins, each behind those that it requires. Raises `RegistryError`."""
    by_name = {plugin.name: plugin for plugin in plugins}
    problems = [
        f"Plugin {plugin.name} requires {name}, which is not loaded."
        for plugin in plugins
        for name in plugin.requires
        if name not in by_name
    ]
    graph = {plugin.name: [name for name in plugin.requires if name in by_name] for plugin in plugins}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        problems.append(f"Plugins require each other in a circle: {' → '.join(error.args[1])}.")
        order = []
    if problems:
        raise RegistryError(problems)
    return [by_name[name] for name in order]


def freeze(plugins: Sequence[Plugin]) -> Catalogue:
    """Check everything that the plugins declare and answer it as one catalogue. Raises `RegistryError`."""
    problems = [*_checks(plugins)]
    if problems:
        raise RegistryError(problems)
    routes = tuple(_answered(plugins, route) for route in (*CORE_ROUTES, *_all(plugins, lambda plugin: plugin.routes)))
    for route in routes:
        _ = route.check_body, route.check_query, route.check_form
    return Catalogue(
        plugins=tuple(plugin.name for plugin in plugins),
        routes=routes,
        collections={
            collection.name: collection
            for collection in (*CORE_COLLECTIONS, *_all(plugins, lambda plugin: plugin.collections))
        },
        menus=tuple(_all(plugins, lambda plugin: plugin.menus)),
        errors=(*CORE_ERRORS, *_all(plugins, lambda plugin: plugin.errors)),
        dictionaries=tuple(_all(plugins, lambda plugin: plugin.dictionaries)),
        state_machines=tuple(_all(plugins, lambda plugin: plugin.state_machines)),
        biz_types={name: collection for plugin in plugins for name, collection in plugin.biz_types.items()},
        options=tuple(_all(plugins, lambda plugin: plugin.options)),
        dashboards=tuple(_all(plugins, lambda plugin: plugin.dashboards)),
        permission_titles={code: title for plugin in plugins for code, title in plugin.permissions.items()},
    )


def _answered(plugins: Iterable[Plugin], route: Route) -> Route:
    """The route with the refusals of those who listen to what it asks."""
    answers = [one for event in route.asks for plugin in plugins for one in plugin.answers.get(event, ())]
    return replace(route, refusals=(*route.refusals, *answers)) if answers else route


def _all(plugins: Iterable[Plugin], part: Callable[[Plugin], Iterable[Value]]) -> list[Value]:
    return [value for plugin in plugins for value in part(plugin)]


def _checks(plugins: Sequence[Plugin]) -> Iterator[str]:
    yield from _ports(plugins)
    yield from _twice(plugins, "path and method", lambda plugin: [f"{r.method} {_shape(r.path)}" for r in plugin.routes],
                      [f"{r.method} {_shape(r.path)}" for r in CORE_ROUTES])  # fmt: skip
    yield from _twice(plugins, "collection", lambda plugin: [c.name for c in plugin.collections],
                      [c.name for c in CORE_COLLECTIONS])  # fmt: skip
    yield from _twice(plugins, "error code", lambda plugin: [kind.code for kind in plugin.errors],
                      [kind.code for kind in CORE_ERRORS])  # fmt: skip
    yield from _twice(plugins, "error name", lambda plugin: [kind.name for kind in plugin.errors],
                      [kind.name for kind in CORE_ERRORS])  # fmt: skip
    yield from _twice(plugins, "menu code", lambda plugin: [menu.code for menu in plugin.menus])
    yield from _twice(plugins, "dictionary", lambda plugin: [dictionary.type for dictionary in plugin.dictionaries])
    yield from _twice(plugins, "business type", lambda plugin: list(plugin.biz_types))
    yield from _twice(
        plugins, "part of dashboard", lambda plugin: [f"{d.name} of {plugin.name}" for d in plugin.dashboards]
    )
    yield from _twice(plugins, "option", lambda plugin: [option.key for option in plugin.options])
    yield from _twice(plugins, "permission code", lambda plugin: sorted({r.access for r in plugin.routes if r.guarded}))
    yield from _twice(plugins, "schema name", lambda plugin: [c.title for c in plugin.collections])
    known = {collection.name for plugin in plugins for collection in plugin.collections}
    resources = {route.access.rpartition(":")[0] for plugin in plugins for route in plugin.routes if route.guarded}
    menus = _all(plugins, lambda plugin: plugin.menus)
    for plugin in plugins:
        for declared in plugin.routes:
            yield from _route_problems(plugin, declared, menus)
        for collection in plugin.collections:
            yield from _collection_problems(plugin, collection, known)
        for menu in plugin.menus:
            yield from _menu_problems(plugin, menu, resources, {menu.code for menu in menus})
        for option in plugin.options:
            yield from _option_problems(plugin, option)
    routes = (*CORE_ROUTES, *_all(plugins, lambda plugin: plugin.routes))
    try:
        describe([route for route in routes if route.method in METHODS], VERSION)
    except NameTaken as error:
        yield f"The API description has {error}."


def _ports(plugins: Sequence[Plugin]) -> Iterator[str]:
    for port in (Authenticator, Authorizer):
        providers = [plugin.name for plugin in plugins if port in plugin.provides]
        if not providers:
            yield f"No plugin provides {port.__name__}; load the plugins auth and rbac, or others that do."
        if len(providers) > 1:
            yield f"Plugins {' and '.join(providers)} both provide {port.__name__}."


def _twice(
    plugins: Sequence[Plugin], what: str, part: Callable[[Plugin], Sequence[Key]], core: Sequence[Key] = ()
) -> Iterator[str]:
    owner: dict[Key, str] = dict.fromkeys(core, "the core")
    for plugin in plugins:
        for value in part(plugin):
            if value in owner:
                other = "twice by itself" if owner[value] == plugin.name else f"by {owner[value]} too"
                yield f"Plugin {plugin.name} declares the {what} {value}, which is declared {other}."
            owner[value] = plugin.name


def _shape(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


def _route_problems(plugin: Plugin, route: Route, menus: Iterable[Menu]) -> Iterator[str]:
    where = f"Plugin {plugin.name}: route {route.method} {route.path}"
    if route.method not in METHODS:
        yield f"{where} has the method {route.method}, which is none of {', '.join(METHODS)}."
    if not _PATH.match(route.path):
        yield f"{where} has a path that does not begin with /api/ or has other characters than letters, digits, -, _, . and {{}}."
    if route.access not in (PUBLIC, SIGNED_IN, SUPER) and not PERMISSION.match(route.access or ""):
        yield f"{where} declares no access: it must be PUBLIC, SIGNED_IN, SUPER or a code <module>:<entity>:<action>."
    elif route.guarded and not any(menu.resource == route.access.rpartition(":")[0] for menu in menus):
        yield f"{where} needs {route.access}, but no menu has the resource {route.access.rpartition(':')[0]}: nobody could be granted it."
    if not route.summary:
        yield f"{where} has no summary."
    for part in ("check_body", "check_query", "check_form"):
        try:
            getattr(route, part)
        except jsonschema_rs.ValidationError as error:
            yield f"{where} has a schema that is no JSON Schema: {error.message}."
            return
    for shape in filter(None, (route.body, route.form, obj(None, route.query), route.returns)):
        yield from _pattern_problems(where, shape)


def _collection_problems(plugin: Plugin, collection: Collection, known: set[str]) -> Iterator[str]:
    where = f"Plugin {plugin.name}: collection {collection.name}"
    if not collection.name.startswith(f"{plugin.name}_"):
        yield f"{where} must be called {plugin.name}_…, so that two plugins cannot clash."
    fields = {**collection.all_fields, **dict.fromkeys((*collection.internal, "_id", "shared_with"))}
    for index in collection.indexes:
        for key in index.keys:
            name = key.removeprefix("-").removeprefix("2dsphere:").split(".")[0]
            if name not in fields:
                yield f"{where} has an index on {name}, which is no field of it."
    for name, target in collection.references.items():
        if target not in known:
            yield f"{where}: {name} refers to {target}, a collection that no loaded plugin declares."
    if collection.default_sort.removeprefix("-") not in collection.sortable:
        yield f"{where} is sorted by {collection.default_sort}, which is no sortable field of it."
    try:
        jsonschema_rs.validator_for(json_schema(collection.read, "reply"))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        yield f"{where} has a schema that is no JSON Schema: {getattr(error, 'message', error)}."
        return
    yield from _pattern_problems(where, collection.read)


def _pattern_problems(where: str, shape: Field) -> Iterator[str]:
    for path, pattern in patterns_of(shape):
        fault = syntax_fault(pattern)
        if fault:
            yield f"{where}: the pattern of {path} is none that clients can compile (ECMA-262, flag u): {fault}."


def _menu_problems(plugin: Plugin, menu: Menu, resources: set[str], menus: set[str]) -> Iterator[str]:
    where = f"Plugin {plugin.name}: menu {menu.code}"
    if menu.parent and menu.parent not in menus:
        yield f"{where} has the parent {menu.parent}, which no loaded plugin declares."
    if menu.resource and menu.resource not in resources:
        yield f"{where} shows {menu.resource}, but no route needs a permission of it."


def _option_problems(plugin: Plugin, option: Option) -> Iterator[str]:
    where = f"Plugin {plugin.name}: option {option.key}"
    if not _OPTION_KEY.match(option.key):
        yield f"{where} must be named in small letters, digits and underscores."
    try:
        option.check(option.field.default)
    except ValidationFailed:
        yield f"{where} has a default that its own shape does not allow."
    except jsonschema_rs.ValidationError as error:
        yield f"{where} has a schema that is no JSON Schema: {error.message}."
