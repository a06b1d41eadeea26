"""The catalogue of the built-in plugins, by which tests of every route or collection are parametrised."""

from handlers.declarations import Catalogue
from plugins.registry import freeze, load_plugins

CATALOGUE: Catalogue = freeze(load_plugins(()))
