"""Dashboards: how a plugin declares its part of one.

One plugin or several compute a dashboard. Each returns only its own part of the data. The parts are added up over
zeros, so that no plugin needs to complete or sort a series, and a module that is not loaded counts as zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handlers.figures import Figures, add_up
from handlers.request import Request
from handlers.schema.values import ReadOnlyRecord

Compute = Callable[[Request], Awaitable[ReadOnlyRecord]]


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


def summed(name: str, *figures: Figures) -> Dashboard:
    """The part of a dashboard that is nothing but these figures: totals, and rows by their keys in any order."""

    async def compute(req: Request) -> ReadOnlyRecord:
        return await add_up(req, figures)

    return Dashboard(name, compute, figures=figures)
