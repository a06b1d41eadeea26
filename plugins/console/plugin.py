"""The plugin console: pages for every declared resource, drawn in the browser. It is a client of the API."""

from plugins.api import Message, Plugin
from plugins.console import files, routes
from plugins.console.lifespan import start

plugin = Plugin(
    name="console",
    title=Message("控制台", "Console"),
    requires=("auth", "rbac"),
    routes=(*files.ROUTES, *routes.ROUTES),
    start=start,
)
