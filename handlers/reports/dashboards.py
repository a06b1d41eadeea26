"""Dashboards: how a plugin declares its part of a dashboard.

A dashboard is computed by one or more plugins, each of which returns only its own part of the data. The parts are added
to zeros, so that no plugin needs to complete or sort a series, and a module that is not loaded counts as zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from handlers.data.collection import THE_DEPARTMENTS
from handlers.ports import Departments
from handlers.reports.figures import Figures, add_up
from handlers.request import Request
from handlers.schema.fields import Field, integer
from handlers.schema.values import ReadOnlyRecord

Compute = Callable[[Request], Awaitable[ReadOnlyRecord]]
_DEPARTMENT = "department_id"
OF_A_DEPARTMENT: Mapping[str, Field] = {
    _DEPARTMENT: integer(
        label=("部门", "Department"),
        nullable=False,
        ref=THE_DEPARTMENTS,
        on_delete="keep",
        example=1,
        description="Only the records whose creator or owner belongs to this department or to one below it.",
    )
}


@dataclass(frozen=True)
class Dashboard:
    """The part of the dashboard `name` that one plugin computes.

    `compute` takes the request and returns a part of the data in the declared shape of the dashboard: amounts as
    `Decimal` or `Decimal128`, series as rows in any order, without the days and months that have no data. It reads
    through `req.store(…)`, so the caller's data scope applies. `personal`: the part depends on the caller and not only
    on the data scope, so callers with the same scope do not share it. `figures` declare the records behind its figures.
    """

    name: str
    compute: Compute
    personal: bool = False
    figures: tuple[Figures, ...] = ()


async def narrow_to_department(req: Request) -> None:
    """Limit the stores of the request to the department that its query names, if any, and the departments below it.

    The stores then have the rows of the caller's data scope that a scope of these departments shows too.
    """
    id = req.query.get(_DEPARTMENT)
    if id is not None:
        req.scope = replace(req.scope, within=await req.part(Departments).below(id))


def summed(name: str, *figures: Figures) -> Dashboard:
    """Return the part of a dashboard that consists of these figures alone: totals, and rows by key in any order."""

    async def compute(req: Request) -> ReadOnlyRecord:
        return await add_up(req, figures)

    return Dashboard(name, compute, figures=figures)
