"""The catalogue of the built-in plugins, and the parts of it by which tests of every route or collection are made."""

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.route import Route
from plugins.boot.registry import freeze, load_plugins
from tests.support.own_fields import extended

EVERY = "TRADEWIND_TEST_EVERY"  # the environment variable in which nothing stands for others
CHOSEN = "TRADEWIND_TEST_PLUGINS"  # the environment variable that passes on `pytest --plugin NAME`
PLUGINS = extended(load_plugins(()))
CATALOGUE: Catalogue = freeze(PLUGINS)

T = TypeVar("T")


def chosen_routes() -> list[Route]:
    """The routes of the plugins that `pytest --plugin` names; all without the option."""
    names = {route.name for plugin in PLUGINS if _is_chosen(plugin.name) for route in plugin.routes}
    return [route for route in CATALOGUE.routes if route.name in names or not os.environ.get(CHOSEN)]


def chosen_collections() -> list[Collection]:
    """The collections of these plugins."""
    names = {one.name for plugin in PLUGINS if _is_chosen(plugin.name) for one in plugin.collections}
    return [one for one in CATALOGUE.collections.values() if one.name in names or not os.environ.get(CHOSEN)]


def stand_ins(parts: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """The first of each kind, as the core does the same for all of it; in tests/experiments/every all of them."""
    every = list(parts)
    return every if os.environ.get(EVERY) else [*{kind(one): one for one in reversed(every)}.values()][::-1]


def handled_alike(route: Route) -> Hashable:
    """What the handler is made by, if that is the core or what all plugins share; else the route is like no other."""
    handler = getattr(route.handler, "__self__", route.handler)
    made_by = handler if hasattr(handler, "__qualname__") else type(handler)
    shared = made_by.__module__.startswith(("handlers.", "plugins.records."))
    return (made_by.__module__, made_by.__qualname__) if shared else route.name


def declared_scope(collection: Collection) -> Hashable:
    """All of a declaration by which `handlers/data/visible/visibility.py` decides who sees what."""
    return collection.scope_person, collection.scope_department, collection.shared, collection.owned


def reached_alike(route: Route) -> Hashable:
    """By what it depends who may reach a record of the route, and how."""
    collection = CATALOGUE.collections.get(route.collection)
    return handled_alike(route), collection and declared_scope(collection)


def _is_chosen(plugin: str) -> bool:
    return plugin in os.environ.get(CHOSEN, "").split()
