"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager

from plugins.api import OF_A_DEPARTMENT, Catalogue, Field, Figures, Service
from plugins.dashboard.rows import list_of
from plugins.dashboard.settings import DashboardSettings
from plugins.dashboard.sharing import Executions


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the executions. Raises ValueError if no route serves a declared dashboard, or its figures."""
    catalogue = service.part(Catalogue)
    served = {route.path.removeprefix("/api/dashboard/") for route in catalogue.routes}
    unknown = sorted({dashboard.name for dashboard in catalogue.dashboards} - served)
    if unknown:
        raise ValueError(f"no route serves the dashboard {', '.join(unknown)}: declare it with dashboard_route")
    wrong = [*_figure_problems(catalogue)]
    if wrong:
        raise ValueError("; ".join(wrong))
    seconds = service.settings_of(DashboardSettings).dashboard_seconds
    service.provide(Executions, Executions(service.database, seconds))
    yield


def _figure_problems(catalogue: Catalogue) -> Iterator[str]:
    """Yield a sentence for each fault in the declared figures, such as one that no response has."""
    shapes = {route.path: route.returns for route in catalogue.routes}
    narrowed = {route.path for route in catalogue.routes if OF_A_DEPARTMENT.items() <= route.query.items()}
    for dashboard in catalogue.dashboards:
        path = f"/api/dashboard/{dashboard.name}"
        if dashboard.figures and f"{path}/rows" not in shapes:
            yield f"no route shows the records behind {dashboard.name}: declare it with dashboard_routes"
        for figures in dashboard.figures:
            if list_of(catalogue, figures.collection) is None:
                yield f"the dashboard {dashboard.name} has figures of {figures.collection.name}, which no route lists"
            if path in narrowed and not figures.collection.scoped:
                unscoped = f"has figures of {figures.collection.name}, which have no departments"
                yield f"the dashboard {dashboard.name} {unscoped}: declare it with departments=False"
            known = {*_names(shapes[path], figures)}
            unknown = {*figures.sums, *((figures.by.name,) if figures.by is not None else ())} - known
            if unknown:
                yield f"the dashboard {dashboard.name} has no {', '.join(sorted(unknown))} where its figures are"


def _names(shape: Field, figures: Figures) -> Iterable[str]:
    """Return the names of the fields among which the figures are: in the response, or in the rows of its array."""
    fields = shape.fields or {}
    if figures.by is None:
        return fields
    items = fields[figures.array].items if figures.array in fields else None
    return (items.fields if items is not None else None) or {}
