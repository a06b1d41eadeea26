"""Checks of the tables that plugins declare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handlers.route import Route
from handlers.tables.handlers import Export, StartImport


def table_problems(where: str, routes: Sequence[Route], every_route: Sequence[Route]) -> Iterator[str]:
    """Yield a sentence for each fault in the tables of some routes; `every_route` are those of all plugins."""
    bodies = {id(route.body) for route in every_route if route.method == "POST"}
    for route in routes:
        if isinstance(route.handler, StartImport):
            collection = route.handler.table.collection
            if id(collection.create) not in bodies:
                yield (
                    f"{where}: {route.path} imports {collection.name}, but no route creates one from its body; "
                    'leave the import out with only=("export",).'
                )
        if isinstance(route.handler, Export) and (name := route.handler.table.lines):
            lines = route.handler.table.collection.fields.get(name)
            if lines is None or lines.items is None or not lines.items.fields:
                yield f"{where}: {route.path} has the lines {name}, which is no list of objects."
