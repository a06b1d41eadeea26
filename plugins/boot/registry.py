"""Loads plugins, sorts them by what they require, checks their declarations, and freezes these into a catalogue.

Every problem is a sentence. All of them are reported together, and the process does not start.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import EntryPoint, entry_points
from os import sep
from pathlib import Path
from traceback import extract_tb

from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.extending import OwnFields, extend
from handlers.data.collection import extended, named
from handlers.data.references.holders import Holders, find_holders, refusals_to_delete
from handlers.docs.system import CORE_ROUTES
from handlers.events import name_of
from handlers.route import Route, conflicts
from handlers.schema.errors import CORE_ERRORS
from handlers.schema.fields import Field
from plugins.checks.declarations import CORE, CORE_COLLECTIONS, all_of, problems_of
from plugins.checks.responsibilities import holdings_of
from plugins.checks.states import machines_of
from plugins.checks.types import type_problems
from plugins.plugin import Plugin
from plugins.records.printing import Papers, print_routes
from plugins.records.shared_events import APPROVAL_FINISHED
from plugins.records.transitions import action_titles, refusals_of_outcomes, transition_labels

GROUP = "tradewind.plugins"
_PLUGINS = Path(__file__).parents[1]
# files of the core and of Python, through which an error in a plugin's code may be raised
_NOT_OF_PLUGINS = (
    *(str(path) for path in _PLUGINS.iterdir() if not (path / "plugin.py").exists()),
    *(f"{_PLUGINS.parent / name}{sep}" for name in ("config", "handlers")),
    f"{Path(importlib.__file__).parent}{sep}",
    "<",
)


class RegistryError(Exception):
    """The plugins cannot be loaded together; `problems` has a sentence for each reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def built_in_names() -> list[str]:
    """Return the names of the plugins that come with the service."""
    return sorted(path.parent.name for path in _PLUGINS.glob("*/plugin.py"))


def load_plugins(names: Sequence[str]) -> list[Plugin]:
    """Load the named plugins and those that they require, in order; without names, all built-in ones but optional ones.

    `+name` loads a plugin in addition to the built-in ones. External plugins are found by the entry-point group
    `tradewind.plugins`. Raises `RegistryError`.
    """
    built_in = built_in_names()
    external, problems = _find_installed(built_in)
    loaded: dict[str, Plugin] = {}
    with_built_in = not names or any(name.startswith("+") for name in names)
    wanted = {name.removeprefix("+") for name in names}
    waiting = [*(built_in if with_built_in else ()), *(name.removeprefix("+") for name in names)]
    while waiting:
        name = waiting.pop(0)
        if name in loaded:
            continue
        plugin = _load(name, built_in, external, problems)
        if plugin is not None and not (plugin.optional and name not in wanted):
            loaded[name] = plugin
            waiting += plugin.requires
            wanted.update(plugin.requires)
    plugins = list(loaded.values())
    try:
        plugins = in_order(plugins)
    except RegistryError as error:
        problems += error.problems
    if problems:
        # the declarations of the loaded ones are checked too, so that one start reports every problem
        raise RegistryError(list(dict.fromkeys([*problems, *problems_of(plugins)])))
    return plugins


def _find_installed(built_in: Sequence[str]) -> tuple[dict[str, EntryPoint], list[str]]:
    """Return the external plugins by name, and a sentence for each name that is taken twice."""
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
        place = _place(error)
        problems.append(f"Plugin {name} cannot be imported: {type(error).__name__}: {error}{place and f' ({place})'}.")
        return None
    if not isinstance(plugin, Plugin):
        problems.append(f"Plugin {name}: its entry point is a {type(plugin).__name__}, not a Plugin.")
        return None
    if plugin.name != name:
        problems.append(f"Plugin {name} calls itself {plugin.name}; the two names must agree.")
        return None
    ill_typed = [*type_problems(plugin)]
    problems += ill_typed
    return None if ill_typed else plugin


def _place(error: Exception) -> str:
    """Return file and line of a failed import: of a syntax error, or of the last frame outside the core and Python."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [f"{frame.filename}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    own = [place for place in frames if not place.startswith(_NOT_OF_PLUGINS)]
    return own[-1] if own else ""


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"


def in_order(plugins: Sequence[Plugin]) -> list[Plugin]:
    """Sort the plugins, each after those that it requires. Raises `RegistryError`."""
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


def freeze(plugins: Sequence[Plugin], check: bool = True) -> Catalogue:
    """Check the declarations of the plugins and return them as one catalogue. Raises `RegistryError`.

    Without `check`, the declarations are known to be correct. The checks of a route are compiled when it is first used.
    """
    problems = [*problems_of(plugins)] if check else []
    if problems:
        raise RegistryError(problems)
    collections = (*CORE_COLLECTIONS, *all_of(plugins, lambda plugin: plugin.collections))
    own = _own_fields(plugins)
    holders = find_holders(extended(one, own.get(one.name, {})) for one in collections)
    routes = tuple(
        _with_refusals_of_holders(holders, _with_refusals_of_listeners(plugins, route))
        for route in (*CORE_ROUTES, *all_of(plugins, lambda plugin: plugin.routes), *_print_routes(plugins))
    )
    declared = Catalogue(
        plugins=tuple(plugin.name for plugin in plugins),
        routes=routes,
        collections={collection.name: collection for collection in collections},
        menus=tuple(all_of(plugins, lambda plugin: plugin.menus)),
        errors=(*CORE_ERRORS, *all_of(plugins, lambda plugin: plugin.errors)),
        dictionaries=tuple(all_of(plugins, lambda plugin: plugin.dictionaries)),
        state_machines=tuple(all_of((CORE, *plugins), machines_of)),
        biz_types={name: collection for plugin in plugins for name, collection in plugin.biz_types.items()},
        options=tuple(all_of(plugins, lambda plugin: plugin.options)),
        dashboards=tuple(all_of(plugins, lambda plugin: plugin.dashboards)),
        holdings=tuple(all_of(plugins, lambda plugin: holdings_of(plugin, named(collections)))),
        audits=tuple(all_of(plugins, lambda plugin: plugin.audits)),
        further=(*all_of(plugins, lambda plugin: plugin.debts), *all_of(plugins, lambda plugin: plugin.prints)),
        migrations=tuple((plugin.name, migration) for plugin in plugins for migration in plugin.migrations),
        views=tuple(all_of(plugins, lambda plugin: plugin.views)),
        transition_labels=transition_labels(routes),
        permission_titles=action_titles(routes)
        | {code: title for plugin in plugins for code, title in plugin.permissions.items()},
    )
    return extend(declared, own)


def _print_routes(plugins: Sequence[Plugin]) -> Iterator[Route]:
    """Yield the routes that print what plugins declare, if one of them makes papers."""
    if any(Papers in plugin.provides for plugin in plugins):
        yield from print_routes(all_of(plugins, lambda plugin: plugin.prints))


def _own_fields(plugins: Iterable[Plugin]) -> OwnFields:
    """Return the own fields that plugins declare on collections of others."""
    found = defaultdict[str, dict[str, Field]](dict)
    for one in (one for plugin in plugins for one in plugin.extends):
        found[one.collection.name] |= one.fields
    return found


def _with_refusals_of_listeners(plugins: Iterable[Plugin], route: Route) -> Route:
    """Return the route with the refusals of the listeners to its events, besides its own."""
    names = {name_of(event) for event in route.events}
    listeners = [one for plugin in plugins for one in plugin.listens if name_of(one.event) in names]
    further = [refusal for listener in listeners for refusal in listener.refusals]
    if APPROVAL_FINISHED.name in names:
        further += [refusal for plugin in plugins for refusal in refusals_of_outcomes(plugin.routes)]
    return replace(route, refusals=tuple(dict.fromkeys((*route.refusals, *further)))) if further else route


def _with_refusals_of_holders(holders: Holders, route: Route) -> Route:
    """Return the route; if it deletes a record, add the refusals of the references to the record."""
    deletes = route.method == "DELETE" and len(route.parameters) == 1 and route.path.endswith("}")
    sentences = refusals_to_delete(holders, route.collection) if deletes and route.collection else ()
    further = [one for one in conflicts(*sentences) if one not in route.refusals]
    return replace(route, refusals=(*route.refusals, *further)) if further else route
