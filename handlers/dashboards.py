"""Dashboards: how a plugin declares its part of one.

One plugin or several compute a dashboard. Each returns only its own part of the data. The parts are added up over
zeros, so that no plugin needs to complete or sort a series, and a module that is not loaded counts as zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from handlers.data.collection import THE_DEPARTMENTS
from handlers.figures import Figures, add_up
from handlers.ports import Departments
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
        description="Only the records of this department and of those below it: of their creators or owners.",
    )
}


@dataclass(frozen=True)
class Dashboard:
    """The part of the dashboard `name` that one plugin computes.

    `compute` takes the request and returns a part of the data in its declared shape: amounts as `Decimal` or
    `Decimal128`, series as rows in any order, without the days and months that have no data. It reads through
    `req.store(…)`, so the caller's data scope applies. `personal`: the part depends on the caller, not on the data
    scope alone, so callers with the same scope do not share it. `figures`: which records are behind its figures.
    """

    name: str
    compute: Compute
    personal: bool = False
    figures: tuple[Figures, ...] = ()


async def narrow_to_department(req: Request) -> None:
    """From now on the stores of the request have only the rows of the department that its query names, if it names one.

    Within the caller's data scope, those that the scope of the department and those below it shows.
    """
    id = req.query.get(_DEPARTMENT)
    if id is not None:
        known: Departments | None = req.service.parts.get(Departments)
        within = await known.below(id) if known is not None else frozenset({id})
        req.scope = replace(req.scope, within=within)


def summed(name: str, *figures: Figures) -> Dashboard:
    """The part of a dashboard that is nothing but these figures: totals, and rows by their keys in any order."""

    async def compute(req: Request) -> ReadOnlyRecord:
        return await add_up(req, figures)

    return Dashboard(name, compute, figures=figures)
