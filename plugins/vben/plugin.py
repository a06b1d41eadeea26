"""The plugin vben: the requests of vben-admin 5, answered as its own pages expect. `TRADEWIND_PLUGINS=+vben` loads it."""

from __future__ import annotations

from plugins.api import Message, Plugin, routes_of
from plugins.vben import routes

plugin = Plugin(
    name="vben",
    title=Message("vben-admin 适配", "vben-admin"),
    optional=True,
    requires=("auth", "rbac"),
    routes=routes_of(routes),
)
