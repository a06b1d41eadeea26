"""The catalogue of the built-in plugins, and the parts of it by which tests of every route or collection are made."""

import os

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.route import Route
from plugins.boot.registry import freeze, load_plugins
from tests.support.own_fields import extended

CHOSEN = "TRADEWIND_TEST_PLUGINS"  # the environment variable that passes on `pytest --plugin NAME`
PLUGINS = extended(load_plugins(()))
CATALOGUE: Catalogue = freeze(PLUGINS)


def chosen_routes() -> list[Route]:
    """The routes of the plugins that `pytest --plugin` names; all without the option."""
    names = {route.name for plugin in PLUGINS if _is_chosen(plugin.name) for route in plugin.routes}
    return [route for route in CATALOGUE.routes if route.name in names or not os.environ.get(CHOSEN)]


def chosen_collections() -> list[Collection]:
    """The collections of these plugins."""
    names = {one.name for plugin in PLUGINS if _is_chosen(plugin.name) for one in plugin.collections}
    return [one for one in CATALOGUE.collections.values() if one.name in names or not os.environ.get(CHOSEN)]


def _is_chosen(plugin: str) -> bool:
    return plugin in os.environ.get(CHOSEN, "").split()
