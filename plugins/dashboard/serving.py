"""Serves a dashboard. Equal concurrent requests share one computation, with a time limit, and its JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plugins.api import Field, Handler, Request, Route, day, day_of, route, shape
from plugins.api.data import reading_from_secondaries
from plugins.api.errors import unavailable
from plugins.api.records import Catalogue
from plugins.api.reports import OF_A_DEPARTMENT, Dashboard, narrow_to_department, period_of
from plugins.api.requests import Encoded, encode_once
from plugins.dashboard.rows import TOO_SLOW, Executions, make_merge, rows_route

_BOUNDS = ("date_from", "date_to")


def dashboard_route(
    endpoint: str,
    *,
    summary: str,
    access: str,
    returns: Mapping[str, Field],
    query: Mapping[str, Field] | None = None,
    departments: bool = False,
) -> Route:
    """Declare a dashboard whose figures are not sums over records; see `dashboard_routes`."""
    made, *_ = dashboard_routes(
        endpoint, summary=summary, access=access, returns=returns, query=query, departments=departments
    )
    return made


def dashboard_routes(
    endpoint: str,
    *,
    summary: str,
    access: str,
    returns: Mapping[str, Field],
    query: Mapping[str, Field] | None = None,
    departments: bool = True,
    compared: Sequence[str] = (),
) -> tuple[Route, ...]:
    """Declare a dashboard: `*dashboard_routes("GET /api/dashboard/<name>", access="dashboard:chart:<name>", …)`.

    Its data are the parts that the loaded plugins declare under `<name>`, merged into the shape `returns`; the route
    `/rows` below it shows the records behind a figure. The permission is a button on the page of dashboards. With
    `departments` both routes accept a department and read only its records, which must have a data scope.
    `compared` are the figures of the response that `/before` returns for the period before; their parts must follow
    `date_from` and `date_to`.
    Raises ValueError for another path or another permission.
    """
    name = endpoint.removeprefix("GET /api/dashboard/")
    if name == endpoint or access != f"dashboard:chart:{name}":
        raise ValueError(
            f"{endpoint} with {access}: a dashboard is GET /api/dashboard/<name> with dashboard:chart:<name>"
        )
    returned = shape(f"{name.title().replace('-', '')}Dashboard", **returns)
    figures = route(
        endpoint,
        _make_handler(name, returned),
        summary=summary,
        access=access,
        query={**(query or {}), **(OF_A_DEPARTMENT if departments else {})},
        returns=returned,
    )
    return figures, rows_route(figures), *([_before_route(figures, compared)] if compared else [])


def _before_route(figures: Route, compared: Sequence[str]) -> Route:
    """Return the route of the figures of the period before."""
    name, fields = figures.path.rpartition("/")[2], figures.returns.fields or {}
    bounds = {one: day(description="The period; without a first day, all until the last one.") for one in _BOUNDS}
    returned = shape(f"{name.title().replace('-', '')}Before", **bounds, **{one: fields[one] for one in compared})
    compute = _make_handler(name, returned)

    async def serve(req: Request) -> Any:
        return await compute(replace(req, query={**req.query, **period_of(req, figures.returns).before}))

    return route(
        f"{figures.name}/before",
        serve,
        summary=f"{figures.summary}: the period before",
        access=figures.access,
        query=figures.query,
        returns=returned,
    )


def _make_handler(name: str, returned: Field) -> Handler:
    merge, asked = make_merge(returned), (returned.fields or {}).keys()

    async def compute(req: Request, parts: Sequence[Dashboard], seconds: float) -> Encoded:
        found = merge(await _compute_parts(req, parts, seconds), period_of(req))
        # parameters that are fields of the response, such as `days`
        given = {name: value for name, value in req.query.items() if name in asked}
        return await encode_once(req, {**found, **given})

    async def serve(req: Request) -> Encoded:
        period_of(req)  # refuses an invalid period before anything is computed
        await narrow_to_department(req)
        parts = [dashboard for dashboard in req.part(Catalogue).dashboards if dashboard.name == name]
        running = req.part(Executions)
        key = _make_key(req, f"{name} {', '.join(asked)}", parts)
        return await running.shared.run(key, lambda: compute(req, parts, running.seconds))

    return serve


def _make_key(req: Request, name: str, parts: Sequence[Dashboard]) -> Hashable:
    """Return what the response depends on. It includes the day, as the default period changes at midnight."""
    scope = replace(req.scope, user_id=None) if req.scope.everything else req.scope
    person = req.actor.user_id if any(part.personal for part in parts) else None
    query = tuple(sorted((name, str(value)) for name, value in req.query.items()))
    return name, query, scope, person, req.language, day_of(req.now, req.service.settings.zone)


async def _compute_parts(req: Request, parts: Sequence[Dashboard], seconds: float) -> list[Mapping[str, Any]]:
    """Compute the parts concurrently."""
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks_of_parts:
            tasks = [tasks_of_parts.create_task(_compute_part(part, req)) for part in parts]
    except TimeoutError as error:
        raise unavailable(reason=TOO_SLOW) from error
    except ExceptionGroup as group:
        # the lifecycle maps a single error to a response, not a group
        raise group.exceptions[0] from None
    return [task.result() for task in tasks]


async def _compute_part(part: Dashboard, req: Request) -> Mapping[str, Any]:
    with reading_from_secondaries():
        return await part.compute(req)
