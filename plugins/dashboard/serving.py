"""Serving a dashboard: its parts computed side by side, once for all who ask the same, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from plugins.api import (
    Catalogue,
    Dashboard,
    Database,
    Field,
    Handler,
    Request,
    Route,
    Service,
    Shared,
    day_of,
    obj,
    period_of,
    route,
    unavailable,
)  # fmt: skip
from plugins.dashboard.merging import merging
from plugins.dashboard.messages import TOO_SLOW
from plugins.dashboard.settings import DashboardSettings

AT = "/api/dashboard"
RESOURCE = "dashboard:chart"
Data = dict[str, Any]


class Executions:
    """The dashboards that are computed at this moment."""

    def __init__(self, database: Database, seconds: float) -> None:
        self.seconds = seconds
        self.shared = Shared(database.driver.note_wait)


@asynccontextmanager
async def executions(service: Service) -> AsyncIterator[None]:
    """Offer the executions. Raises ValueError for a part of a dashboard that no route serves."""
    served = {one.path.removeprefix(f"{AT}/") for one in service.part(Catalogue).routes}
    unknown = sorted({dashboard.name for dashboard in service.part(Catalogue).dashboards} - served)
    if unknown:
        raise ValueError(f"no route serves the dashboard {', '.join(unknown)}: declare it with dashboard_route")
    seconds = service.settings_of(DashboardSettings).dashboard_seconds
    service.provide(Executions, Executions(service.database, seconds))
    yield


def dashboard_route(
    name: str, *, summary: str, returns: Mapping[str, Field], query: Mapping[str, Field] | None = None
) -> Route:
    """`GET /api/dashboard/<name>` over the parts that loaded plugins declare of it.

    Its permission is `dashboard:chart:<name>`, a button of the dashboards' page. `returns` are the fields of the data.
    """
    shape = obj(f"{name.title().replace('-', '')}Dashboard", returns, nullable=False)
    return route(
        f"GET {AT}/{name}", _serving(name, shape), summary=summary, access=f"{RESOURCE}:{name}", query=query or {},
        returns=shape, tag="dashboard",
    )  # fmt: skip


def _serving(name: str, shape: Field) -> Handler:
    merge, asked = merging(shape), (shape.fields or {}).keys()

    async def computed(req: Request, parts: Sequence[Dashboard], seconds: float) -> Data:
        found = merge(await _parts(req, parts, seconds), period_of(req))
        # what was asked for and is part of the answer, such as `days`
        return {**found, **{name: value for name, value in req.query.items() if name in asked}}

    async def serve(req: Request) -> Data:
        period_of(req)  # a query that is refused starts nothing
        parts = [dashboard for dashboard in req.part(Catalogue).dashboards if dashboard.name == name]
        running = req.part(Executions)
        return await running.shared.run(_key(req, name, parts), lambda: computed(req, parts, running.seconds))

    return serve


def _key(req: Request, name: str, parts: Sequence[Dashboard]) -> Hashable:
    """What the answer depends on. The day is part of it: at midnight a query means other days."""
    scope = replace(req.scope, user_id=None) if req.scope.everything else req.scope
    person = req.actor.user_id if any(part.personal for part in parts) else None
    query = tuple(sorted((name, str(value)) for name, value in req.query.items()))
    return name, query, scope, person, req.language, day_of(req.now, req.service.settings.zone)


async def _parts(req: Request, parts: Sequence[Dashboard], seconds: float) -> list[Mapping[str, Any]]:
    """What each part knows, computed side by side."""
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as together:
            tasks = [together.create_task(_part(part, req)) for part in parts]
    except TimeoutError as error:
        raise unavailable(reason=TOO_SLOW) from error
    except ExceptionGroup as group:
        # the caller knows what to answer to one error, not to a group
        raise group.exceptions[0] from None
    return [task.result() for task in tasks]


async def _part(part: Dashboard, req: Request) -> Mapping[str, Any]:
    return await part.compute(req)
