"""Checks of what plugins declare: everything that would fail, or silently do nothing, when it is used."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeVar

import jsonschema_rs

from config.logs import is_secret_name
from config.settings import Settings
from handlers.catalogue.custom_fields import CUSTOM_FIELDS
from handlers.catalogue.declarations import Menu, Option
from handlers.data.collection import HISTORY, SEARCH_FIELDS, Collection, named
from handlers.data.history.history import CHANGES
from handlers.data.sync.locks import LOCKS
from handlers.data.visible.scope import OWNER_DEPARTMENT, SECOND_DEPARTMENT
from handlers.docs.components import NameTaken
from handlers.docs.openapi import check_names
from handlers.docs.system import CORE_ROUTES
from handlers.idempotency import IDEMPOTENCY_KEYS
from handlers.operations.operation_log import OPERATION_LOGS
from handlers.ports import Authenticator, Authorizer, Passes
from handlers.route import METHODS, PERMISSION, PUBLIC, SIGNED_IN, SUPER, Route
from handlers.schema.errors import CORE_ERRORS, ErrorKind, ValidationFailed
from handlers.schema.fields import Field, fields_in, obj
from handlers.schema.json_schema import json_schema
from handlers.schema.messages import Message
from handlers.schema.patterns import syntax_fault
from handlers.schema.validation import Checker
from handlers.tables.records import TABLE_IMPORT_ROWS, TABLE_IMPORTS
from plugins.checks.blocking_calls import wait_problems
from plugins.checks.collections import keeper_problems, owner_problems, print_problems, table_problems, view_problems
from plugins.checks.events import event_problems
from plugins.checks.figures import figure_problems
from plugins.checks.labels import label_problems, title_problems
from plugins.checks.maintenance import audit_problems, migration_problems
from plugins.checks.own_fields import own_field_problems
from plugins.checks.pages import page_problems
from plugins.checks.references import deletion_problems, reference_problems, requirement_problems
from plugins.checks.responsibilities import holding_problems
from plugins.checks.states import machines_of, state_problems
from plugins.checks.types import type_problems
from plugins.plugin import API_VERSION, Plugin
from plugins.records.transitions import action_handlers

CORE_COLLECTIONS = (CHANGES, CUSTOM_FIELDS, IDEMPOTENCY_KEYS, LOCKS, OPERATION_LOGS, TABLE_IMPORTS, TABLE_IMPORT_ROWS)
_PATH = re.compile(r"^/(api/|metrics$)[A-Za-z0-9._{}/-]+$|^/metrics$")
_PAGE = re.compile(r"^/[a-z][A-Za-z0-9._{}/-]*$")  # pages that browsers open, and their files, may be outside of /api/
# names that the store writes or queries itself, besides the audit fields
_RESERVED = {"id", "_id", "deleted", OWNER_DEPARTMENT, SECOND_DEPARTMENT, HISTORY, *SEARCH_FIELDS}
_OPTION_KEY = re.compile(r"^[a-z][a-z0-9_]{0,63}$")
Value = TypeVar("Value")


def problems_of(plugins: Sequence[Plugin]) -> Iterator[str]:
    """Yield a sentence for each fault in what the plugins declare."""
    ill_typed = [problem for plugin in plugins for problem in type_problems(plugin)]
    if ill_typed:
        yield from ill_typed  # the other checks need the right types
        return
    yield from _ports(plugins)
    yield from event_problems(plugins)
    for what, names_in in _UNIQUE.items():
        yield from _duplicates(plugins, what, names_in)
    known = all_of(plugins, lambda plugin: plugin.collections)
    kinds = [*CORE_ERRORS, *all_of(plugins, lambda plugin: plugin.errors)]
    resources = {route.access.rpartition(":")[0] for plugin in plugins for route in plugin.routes if route.guarded}
    menus = all_of(plugins, lambda plugin: plugin.menus)
    routes = all_of(plugins, lambda plugin: plugin.routes)
    accesses = {route.access for route in routes}
    routed = {route.collection for plugin in plugins for route in plugin.routes}
    dictionaries = {one.type for one in all_of(plugins, lambda plugin: plugin.dictionaries)}
    titled = {
        *(route.access for route, _ in action_handlers(routes)),
        *(code for plugin in plugins for code in plugin.permissions),
    }
    for plugin in plugins:
        shapes = _ShapeFaults(dictionaries)
        yield from _problems_of_collections(plugin, known, routed, shapes)
        for declared in plugin.routes:
            yield from _route_problems(plugin, declared, menus, shapes)
            yield from _reference_problems(plugin, declared, known, kinds)
        for menu in plugin.menus:
            yield from _menu_problems(plugin, menu, resources, {menu.code for menu in menus})
        for option in plugin.options:
            yield from _option_problems(plugin, option)
        for kind in plugin.errors:
            yield from _error_problems(plugin, kind)
        yield from state_problems(plugin)
        yield from holding_problems(plugin, named(known))
        yield from audit_problems(plugin)
        yield from migration_problems(plugin)
        yield from view_problems(plugin, (*known, *CORE_COLLECTIONS))
        yield from print_problems(plugin)
        for one in plugin.extends:
            yield from shapes.problems(
                f"Plugin {plugin.name}: own fields on {one.collection.name}", obj(None, one.fields)
            )
        yield from page_problems(plugin.name, plugin.views, routes)
        yield from wait_problems(plugin)
        yield from figure_problems(f"Plugin {plugin.name}", plugin.dashboards, routes)
        yield from title_problems(plugin, accesses, titled)
        yield from _function_problems(plugin)
        if plugin.api != API_VERSION:
            yield f"Plugin {plugin.name} is written for version {plugin.api} of plugins.api; this is version {API_VERSION}."
        yield from table_problems(f"Plugin {plugin.name}", plugin.routes, routes)
        yield from _business_type_problems(plugin, known)
    yield from requirement_problems(plugins)
    yield from own_field_problems(plugins)
    yield from deletion_problems(known)
    try:
        check_names(route for route in (*CORE_ROUTES, *routes) if route.method in METHODS)
    except NameTaken as error:
        yield f"The API description has {error}."


def _problems_of_collections(
    plugin: Plugin, known: Sequence[Collection], routed: Set[str], shapes: _ShapeFaults
) -> Iterator[str]:
    for collection in plugin.collections:
        where = f"Plugin {plugin.name}: collection {collection.name}"
        if not collection.plain or collection.name in routed:
            yield from label_problems(where, collection)
        yield from _collection_problems(plugin, collection, named(known).keys(), shapes)
        yield from reference_problems(where, collection)
        yield from keeper_problems(where, collection, named(known))
        yield from owner_problems(where, collection, named(known))


def _business_type_problems(plugin: Plugin, known: Sequence[Collection]) -> Iterator[str]:
    for biz_type, collection in plugin.biz_types.items():
        if collection not in known:
            what = f"business type {biz_type} is the collection {collection.name}"
            yield f"Plugin {plugin.name}: {what}, which no loaded plugin declares."


def _ports(plugins: Sequence[Plugin]) -> Iterator[str]:
    needed = (Authenticator, Authorizer)
    for port in dict.fromkeys((*needed, *all_of(plugins, lambda plugin: plugin.provides))):
        providers = [plugin.name for plugin in plugins if port in plugin.provides]
        if not providers:
            yield f"No plugin provides {port.__name__}; load the plugins auth and rbac, or others that do."
        if len(providers) > 1 and port is not Passes:
            yield f"Plugins {' and '.join(providers)} both provide {port.__name__}."


CORE = Plugin(
    name="core",
    title=Message("核心", "Core"),
    collections=CORE_COLLECTIONS,
    routes=CORE_ROUTES,
    errors=CORE_ERRORS,
    settings=Settings,
)
# what must be unique among the core and all plugins
_UNIQUE: Mapping[str, Callable[[Plugin], Sequence[Hashable]]] = {
    "path and method": lambda declared: [f"{route.method} {_shape(route.path)}" for route in declared.routes],
    "collection": lambda declared: [name for one in declared.collections for name in named([one])],
    "error code": lambda declared: [kind.code for kind in declared.errors],
    "error name": lambda declared: [kind.name for kind in declared.errors],
    "menu code": lambda declared: [menu.code for menu in declared.menus],
    "menu path": lambda declared: [menu.path for menu in declared.menus if menu.path],
    "setting": lambda declared: [*declared.settings.model_fields] if declared.settings else [],
    "dictionary": lambda declared: [dictionary.type for dictionary in declared.dictionaries],
    "business type": lambda declared: list(declared.biz_types),
    "part of dashboard": lambda declared: [f"{part.name} of {declared.name}" for part in declared.dashboards],
    "audit": lambda declared: [audit.name for audit in declared.audits],
    "debt": lambda declared: [debt.biz_type for debt in declared.debts],
    "paper": lambda declared: [one.name for one in declared.prints],
    "migration": lambda declared: [migration.name for migration in declared.migrations],
    "view": lambda declared: [view.collection.name for view in declared.views],
    "job": lambda declared: [job.name for job in declared.jobs],
    "state machine": lambda declared: [machine.name for machine in machines_of(declared)],
    "option": lambda declared: [option.key for option in declared.options],
    "permission code": lambda declared: sorted({route.access for route in declared.routes if route.guarded}),
    "schema name": lambda declared: [collection.title for collection in declared.collections],
}


def _duplicates(
    plugins: Sequence[Plugin], what: str, names_in: Callable[[Plugin], Sequence[Hashable]]
) -> Iterator[str]:
    owner: dict[Hashable, str] = dict.fromkeys(names_in(CORE), "the core")
    for plugin in plugins:
        for value in names_in(plugin):
            if value in owner:
                other = "twice by itself" if owner[value] == plugin.name else f"by {owner[value]} too"
                yield f"Plugin {plugin.name} declares the {what} {value}, which is declared {other}."
            owner[value] = plugin.name


def _shape(path: str) -> str:
    return re.sub(r"{[^{}]*}", "{}", path)


class _ShapeFaults:
    """The faults in the shapes of a plugin, each reported once, because a body shares the fields of its collection."""

    def __init__(self, dictionaries: Set[str]) -> None:
        self._dictionaries = dictionaries
        self._reported: set[str] = set()

    def problems(self, where: str, shape: Field) -> Iterator[str]:
        for path, field in fields_in(shape):
            faults = [*(check(path, field) for check in _FIELD_CHECKS), self._dictionary_fault(path, field)]
            for fault in filter(None, faults):
                if fault not in self._reported:
                    self._reported.add(fault)
                    yield f"{where}: {fault}"

    def _dictionary_fault(self, path: str, field: Field) -> str | None:
        of_words = field.kind in ("text", "mapping")
        if field.dictionary is None or (of_words and field.dictionary in self._dictionaries):
            return None
        if not of_words:
            return f"{path} has the dictionary {field.dictionary}, which is for texts and the keys of mappings."
        return f"{path} has the dictionary {field.dictionary}, which no loaded plugin declares."


def _pattern_fault(path: str, field: Field) -> str | None:
    pattern = field.rules.get("pattern")
    fault = syntax_fault(pattern) if pattern else None
    return fault and f"the pattern of {path} is none that clients can compile (ECMA-262, flag u): {fault}."


def _default_fault(path: str, field: Field) -> str | None:
    if field.default is None:
        return None
    try:
        Checker(field)(field.default)
    except ValidationFailed:
        return f"the default of {path} is none that its own shape allows."
    return None


def _past_fault(path: str, field: Field) -> str | None:
    if not field.past or field.kind in ("day", "timestamp"):
        return None
    return f"{path} is past, which is for days and timestamps."


def _named_by_fault(path: str, field: Field) -> str | None:
    inside = (field.items.fields or {}) if field.items is not None else {}
    if inside and field.named_by is not None and not (field.named_by in inside and inside[field.named_by].ref):
        return f"{path} is named by {field.named_by}, which is no reference in its objects."
    codes = {name: one.named_by for name, one in (field.fields or {}).items() if one.named_by and not one.holds_fields}
    lost = next((name for name, beside in codes.items() if beside not in (field.fields or {})), None)
    return None if lost is None else f"{lost} of {path} is named by {codes[lost]}, which is not beside it."


def _required_fault(path: str, field: Field) -> str | None:
    if not field.required or field.default is None:
        return None
    return f"{path} is required and has a default, which nothing could ever use."


_FIELD_CHECKS = (_pattern_fault, _default_fault, _required_fault, _past_fault, _named_by_fault)


def _route_problems(plugin: Plugin, route: Route, menus: Iterable[Menu], shapes: _ShapeFaults) -> Iterator[str]:
    where = f"Plugin {plugin.name}: route {route.method} {route.path}"
    resource = route.access.rpartition(":")[0]
    if route.method not in METHODS:
        yield f"{where} has the method {route.method}, which is none of {', '.join(METHODS)}."
    if not (_PAGE if route.bare and not route.writes else _PATH).match(route.path):
        allowed = "letters, digits, -, _, . and {}"
        yield f"{where} has a path that does not begin with /api/ or has other characters than {allowed}."
    if route.access not in (PUBLIC, SIGNED_IN, SUPER) and not PERMISSION.match(route.access or ""):
        yield f"{where} declares no access: it must be PUBLIC, SIGNED_IN, SUPER or a code <module>:<entity>:<action>."
    elif route.guarded and not any(menu.resource == resource for menu in menus):
        yield f"{where} needs {route.access}, but no menu has the resource {resource}: nobody could be granted it."
    if not route.summary:
        yield f"{where} has no summary."
    compiled = replace(route)  # a copy, with which its compiled checks are freed: most processes never use most routes
    for part in ("check_body", "check_query", "check_form"):
        try:
            getattr(compiled, part)
        except jsonschema_rs.ValidationError as error:
            yield f"{where} has a schema that is no JSON Schema: {error.message}."
            return
    for shape in filter(None, (route.body, route.form, obj(None, route.query), route.returns)):
        yield from shapes.problems(where, shape)
    if not _is_async(route.handler):
        yield f"{where} has a handler that is no async function."
    for name in sorted(set(route.query) & set(route.parameters)):
        yield f"{where} has {name} both in its path and in its query."


def _reference_problems(
    plugin: Plugin, route: Route, collections: Sequence[Collection], kinds: Sequence[ErrorKind]
) -> Iterator[str]:
    """Yield a sentence for each collection or error that a route names and no plugin declares."""
    where = f"Plugin {plugin.name}: route {route.method} {route.path}"
    if route.collection and route.collection not in {one.name for one in (*collections, *CORE_COLLECTIONS)}:
        yield f"{where} is about the collection {route.collection}, which no loaded plugin declares."
    for kind in dict.fromkeys((*route.errors, *(refusal.kind for refusal in route.refusals))):
        if kind not in kinds:
            yield f"{where} may respond with the error {kind.name}, which no loaded plugin declares in its errors."


def _collection_problems(
    plugin: Plugin, collection: Collection, known: Set[str], shapes: _ShapeFaults
) -> Iterator[str]:
    where = f"Plugin {plugin.name}: collection {collection.name}"
    if not collection.name.startswith(f"{plugin.name}_"):
        yield f"{where} must be called {plugin.name}_…, so that two plugins cannot clash."
    fields = {**collection.all_fields, **dict.fromkeys((*collection.internal, "_id", "shared_with"))}
    for index in collection.indexes:
        for key in index.keys:
            name = key.removeprefix("-").removeprefix("2dsphere:").split(".")[0]
            if name not in fields:
                yield f"{where} has an index on {name}, which is no field of it."
        if index.unique and not index.where and all(_may_be_left_out(collection, key) for key in index.keys):
            names = " and ".join(index.keys)
            yield (
                f"{where} has a unique index on {names}, which may be empty, in one record only: make it required, or "
                f'add where={{"{index.keys[0]}": {{"$type": "string"}}}} to the index.'
            )
    for name, target in collection.references.items():
        if target not in known and name not in collection.optional_references:
            yield f"{where}: {name} refers to {target}, a collection that no loaded plugin declares."
    disabled = collection.disabled[0] if collection.disabled else ""
    for option, name in (("label", collection.label), ("code", collection.code), ("disabled field", disabled)):
        if name and name not in collection.fields:
            yield f"{where} has the {option} {name}, which is no field of it."
    if collection.default_sort.removeprefix("-") not in collection.sortable:
        yield f"{where} is sorted by {collection.default_sort}, which is no sortable field of it."
    try:
        jsonschema_rs.validator_for(json_schema(collection.read, "reply"))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        yield f"{where} has a schema that is no JSON Schema: {getattr(error, 'message', error)}."
        return
    yield from shapes.problems(where, collection.read)
    yield from _secret_problems(where, collection)
    for name in collection.stored_orders:
        if collection.fields[name].kind != "text" or name not in collection.searchable:
            yield f'{where}: {name} has sort="folded", which is for texts that are searched too.'
    reserved = _RESERVED | ({"shared_with"} if collection.shared else set())
    for name in collection.fields:
        if name in reserved or name in collection.audit_fields or name in collection.stored_orders.values():
            yield f"{where} has a field called {name}, which the core writes itself."


def _may_be_left_out(collection: Collection, name: str) -> bool:
    field = collection.writable.get(name)
    return field is not None and field.nullable and not field.required and field.default is None


def _secret_problems(where: str, collection: Collection) -> Iterator[str]:
    for path, field in fields_in(collection.read):
        named_so = field.kind == "text" and is_secret_name(re.split(r"[.\[]", path)[-1])
        if named_so and not (field.secret or field.write_only or field.read_only):
            yield f"{where}: {path} has the name of a secret, and responses contain it: give it secret=True."


def _menu_problems(plugin: Plugin, menu: Menu, resources: set[str], menus: set[str]) -> Iterator[str]:
    where = f"Plugin {plugin.name}: menu {menu.code}"
    if menu.parent and menu.parent not in menus:
        yield f"{where} has the parent {menu.parent}, which no loaded plugin declares."
    if menu.resource and menu.resource not in resources:
        yield f"{where} shows {menu.resource}, but no route needs a permission of it."
    if menu.granted_with and menu.granted_with.rpartition(":")[0] not in resources:
        yield f"{where} is granted with {menu.granted_with}, which no route needs."


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


def _error_problems(plugin: Plugin, kind: ErrorKind) -> Iterator[str]:
    where = f"Plugin {plugin.name}: error {kind.name}"
    if not 10_000 <= kind.code <= 99_999:
        yield f"{where} has the code {kind.code}, which has not five digits."
    if not 400 <= kind.status <= 599:
        yield f"{where} has the status {kind.status}, which is none of an error: 400 to 599."


def _function_problems(plugin: Plugin) -> Iterator[str]:
    where = f"Plugin {plugin.name}"
    functions = {name: getattr(plugin, name) for name in ("prepare", "demo")}
    functions |= {f"the part of dashboard {part.name}": part.compute for part in plugin.dashboards}
    for name, function in functions.items():
        if function is not None and not _is_async(function):
            yield f"{where}: {name} is no async function."
    if plugin.start is not None and (_is_async(plugin.start) or inspect.isasyncgenfunction(plugin.start)):
        yield f"{where}: start is no context manager; decorate it with contextlib.asynccontextmanager."


def _is_async(function: Callable[..., object]) -> bool:
    """Return whether calling it returns an awaitable; look through decorators that set `__wrapped__`."""
    called = inspect.unwrap(function)
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(type(called).__call__)


def all_of(plugins: Iterable[Plugin], part: Callable[[Plugin], Iterable[Value]]) -> list[Value]:
    """Return the values of one part of all plugins, in order."""
    return [value for plugin in plugins for value in part(plugin)]
