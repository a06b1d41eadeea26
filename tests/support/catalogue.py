"""Everything that the built-in plugins declare: what the tests over the whole registry are parametrised with."""

from handlers.declarations import Catalogue
from plugins.registry import freeze, load_plugins

CATALOGUE: Catalogue = freeze(load_plugins(()))
