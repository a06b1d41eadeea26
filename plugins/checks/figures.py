"""Checks of the parts of dashboards: that a route serves them, and that their figures are sums over declared fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from handlers.reports.dashboards import OF_A_DEPARTMENT, Dashboard
from handlers.reports.figures import Figures
from handlers.route import Route
from handlers.schema.fields import Field

_SERVED = "/api/dashboard/"


def figure_problems(where: str, parts: Iterable[Dashboard], routes: Sequence[Route]) -> Iterator[str]:
    """Yield a sentence for each fault in the parts of dashboards of a plugin; `routes` are those of all plugins.

    Without any dashboard among the routes, the parts wait for the plugin that serves them.
    """
    served = {route.path: route for route in routes if route.path.startswith(_SERVED)}
    for part in parts:
        route = served.get(f"{_SERVED}{part.name}")
        if served and route is None:
            yield f"{where}: no route serves its part of the dashboard {part.name}; declare it with dashboard_route."
        if route is not None and part.figures and f"{route.path}/rows" not in served:
            yield f"{where}: no route shows the records behind {part.name}; declare it with dashboard_routes."
        for figures in part.figures:
            faults = [*_field_faults(figures), *(_route_faults(figures, route, routes) if route is not None else ())]
            yield from (f"{where}: the dashboard {part.name} {fault}." for fault in faults)


def _field_faults(figures: Figures) -> Iterator[str]:
    collection = figures.collection
    for name in sorted(_names_read(figures) - {"_id", *collection.all_fields, *collection.internal}):
        yield f"adds up {name} of {collection.name}, which is no field of it"


def _route_faults(figures: Figures, route: Route, routes: Iterable[Route]) -> Iterator[str]:
    name = figures.collection.name
    if not any(one.paged and one.collection == name for one in routes):
        yield f"has figures of {name}, which no route lists"
    if OF_A_DEPARTMENT.items() <= route.query.items() and not figures.collection.scoped:
        yield f"has figures of {name}, which have no departments: declare it with departments=False"
    asked = {*figures.sums, *((figures.by.name,) if figures.by is not None else ())}
    if unknown := asked - {*_names_shown(route.returns, figures)}:
        yield f"has no {', '.join(sorted(unknown))} where its figures are"


def _names_shown(shape: Field, figures: Figures) -> Iterable[str]:
    """Return the names of the fields among which the figures are: in the response, or in the rows of its array."""
    fields = shape.fields or {}
    if figures.by is None:
        return fields
    items = fields[figures.array].items if figures.array in fields else None
    return (items.fields if items is not None else None) or {}


def _names_read(figures: Figures) -> set[str]:
    by = getattr(figures.by, "field", None)
    return {*_paths(list(figures.sums.values())), *([by] if by else ())}


def _paths(expression: object) -> Iterator[str]:
    """Yield the field at the beginning of each path `$field.…` of an expression; `$$name` is a variable."""
    if isinstance(expression, str):
        if expression.startswith("$") and not expression.startswith("$$"):
            yield expression[1:].split(".")[0]
    elif isinstance(expression, Mapping):
        for operator, operand in expression.items():
            if operator != "$literal":
                yield from _paths(operand)
    elif isinstance(expression, list | tuple):
        for one in expression:
            yield from _paths(one)
