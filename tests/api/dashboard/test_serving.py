"""How dashboards are served: permissions, sharing, time limit, and parts of other plugins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from handlers.data.history.history import CHANGES
from handlers.data.sync.single_flight import SingleFlight
from handlers.reports.dashboards import Dashboard, summed
from handlers.reports.figures import ByValue, Figures
from handlers.reports.periods import period_of
from handlers.request import Request
from handlers.route import Route
from handlers.schema.fields import array, integer, money, number, obj, quantity, text
from handlers.schema.messages import Message
from plugins.boot.registry import RegistryError, freeze, load_plugins
from plugins.dashboard.api import dashboard_route, dashboard_routes
from plugins.dashboard.rows import Executions
from plugins.plugin import Plugin
from plugins.rbac.records import USERS
from plugins.testing import Client, People, eventually, expect, serving

pytestmark = pytest.mark.gen_test(timeout=60)
PATH = "/api/dashboard/acme-orders"
ROUTE = dashboard_route(
    "GET /api/dashboard/acme-orders",
    summary="Show the orders",
    access="dashboard:chart:acme-orders",
    returns={"orders": integer(nullable=False), "who": array(obj("AcmeWho", {"name": text()}), nullable=False)},
)
WITH_ROWS = dashboard_routes(
    "GET /api/dashboard/acme-orders",
    summary="Show the orders",
    access="dashboard:chart:acme-orders",
    returns=ROUTE.returns.fields or {},
)


def acme(*parts: Dashboard, routes: Sequence[Any] = (ROUTE,)) -> Plugin:
    return Plugin(
        name="acme",
        title=Message("甲", "A"),
        requires=("dashboard",),
        routes=tuple(routes),
        dashboards=parts,
        permissions={"dashboard:chart:acme-orders": Message("甲", "A")},
    )


class Arrivals(SingleFlight):
    """Shared executions that count the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    async def run(self, key: Hashable, work: Callable[[], Awaitable[Any]]) -> Any:
        self.count += 1
        return await super().run(key, work)


@asynccontextmanager
async def served(
    uri: str, folder: Path, *plugins: Plugin, arrivals: Arrivals | None = None, **settings: Any
) -> AsyncIterator[Client]:
    loaded = [*load_plugins(("rbac", "auth", "system", "dashboard")), *plugins]
    async with serving(uri, folder, plugins=loaded, **settings) as running:
        running.service.part(Executions).shared = arrivals or Arrivals()
        yield await Client(running.url).log_in("admin")


class Gate:
    """A part that waits for a permit, and counts its executions."""

    def __init__(self) -> None:
        self.computed = 0
        self.open = asyncio.Event()

    async def compute(self, req: Request) -> dict[str, Any]:
        self.computed += 1
        await self.open.wait()
        return {"orders": self.computed, "who": [{"name": req.actor.username}]}


async def test_a_plugin_adds_a_dashboard_that_is_granted_by_a_button(mongodb_uri: str, tmp_path: Path) -> None:
    gate = Gate()
    gate.open.set()
    async with served(mongodb_uri, tmp_path, acme(Dashboard("acme-orders", gate.compute))) as admin:
        assert expect(await admin.get(PATH)) == {"orders": 1, "who": [{"name": "admin"}]}
        people = People(admin)
        expect(await (await people.person(["dashboard:chart:acme-orders"])).get(PATH))
        other = await people.person(["dashboard:chart:overview"])
        expect(await other.get(PATH), 40300)
        expect(await other.get("/api/dashboard/overview"))


async def test_the_parts_of_several_plugins_are_added_up(mongodb_uri: str, tmp_path: Path) -> None:
    async def two(req: Request) -> dict[str, Any]:
        return {"orders": 2, "who": [{"name": "two"}]}

    async def three(req: Request) -> dict[str, Any]:
        return {"orders": 3}

    other = Plugin(name="other", title=Message("乙", "B"), dashboards=(Dashboard("acme-orders", three),))
    async with served(mongodb_uri, tmp_path, acme(Dashboard("acme-orders", two)), other) as admin:
        assert expect(await admin.get(PATH)) == {"orders": 5, "who": [{"name": "two"}]}


FIGURES = {
    "orders": integer(nullable=False),
    "hours": number(nullable=False),
    "cost": money(nullable=False),
    "weight": quantity(nullable=False),
}
MONTHS = dashboard_route(
    "GET /api/dashboard/acme-orders",
    summary="Show the orders",
    access="dashboard:chart:acme-orders",
    returns={**FIGURES, "items": array(obj("AcmeMonth", {"month": text(nullable=False), **FIGURES}), nullable=False)},
    query={"months": integer(minimum=1, maximum=36, default=2, nullable=False)},
)
NO_FIGURES = {"orders": 0, "hours": 0, "cost": "0.00", "weight": "0"}


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_figures_of_every_kind_are_added_up_over_zeros(count: int, mongodb_uri: str, tmp_path: Path) -> None:
    async def part(req: Request) -> dict[str, Any]:
        month = period_of(req).today.isoformat()[:7]
        found = {"orders": 2, "hours": 1.5, "cost": Decimal("2.50"), "weight": Decimal("0.5")}
        return {**found, "items": [{"month": month, **found}]}

    others = [
        Plugin(name=name, title=Message("乙", "B"), dashboards=(Dashboard("acme-orders", part),))
        for name in ("first", "second")[:count]
    ]
    async with served(mongodb_uri, tmp_path, acme(routes=(MONTHS,)), *others) as admin:
        found = expect(await admin.get(PATH))
    sums = {"orders": 2 * count, "hours": 1.5 * count, "cost": f"{2.5 * count:.2f}", "weight": f"{0.5 * count:g}"}
    before, now = ({name: row[name] for name in FIGURES} for row in found.pop("items"))
    assert (found, before, now) == (sums, NO_FIGURES, sums)


async def test_viewers_of_one_scope_share_executions(mongodb_uri: str, tmp_path: Path) -> None:
    gate, arrivals = Gate(), Arrivals()
    part = Dashboard("acme-orders", gate.compute)
    async with served(mongodb_uri, tmp_path, acme(part), arrivals=arrivals) as admin:
        first = asyncio.create_task(admin.get(PATH))
        await eventually(lambda: _is(gate.computed == 1))
        late = [asyncio.create_task(admin.get(PATH)) for _ in range(20)]
        await eventually(lambda: _is(arrivals.count == 21))
        gate.open.set()
        assert expect(await first)["orders"] == 1
        assert {expect(await one)["orders"] for one in late} == {2}


@pytest.mark.parametrize("personal", [True, False])
async def test_a_part_about_the_person_is_shared_with_nobody_else(
    personal: bool, mongodb_uri: str, tmp_path: Path
) -> None:
    gate = Gate()
    arrivals, part = Arrivals(), Dashboard("acme-orders", gate.compute, personal)
    async with served(mongodb_uri, tmp_path, acme(part), arrivals=arrivals) as admin:
        other = await People(admin).person(["dashboard:chart:acme-orders"], scope="all")
        asked = [asyncio.create_task(one.get(PATH)) for one in (admin, admin, other)]
        await eventually(lambda: _is(arrivals.count == 3))
        await eventually(lambda: _is(gate.computed >= (2 if personal else 1)))
        gate.open.set()
        answers = [expect(await one) for one in asked]
        # two by one user, of which the second waits for the next execution, and one by the other
        assert gate.computed == (3 if personal else 2)
        assert answers[2]["who"] == [{"name": other.user["username"]}] or not personal


async def test_people_of_other_languages_do_not_share(mongodb_uri: str, tmp_path: Path) -> None:
    gate = Gate()
    async with served(mongodb_uri, tmp_path, acme(Dashboard("acme-orders", gate.compute))) as admin:
        languages = ("zh", "en")
        asked = [asyncio.create_task(admin.get(PATH, headers={"Accept-Language": one})) for one in languages]
        await eventually(lambda: _is(gate.computed == 2))
        gate.open.set()
        assert [(await one).json["msg"] for one in asked] == ["成功", "OK"]


async def test_people_of_other_scopes_do_not_share(mongodb_uri: str, tmp_path: Path) -> None:
    gate = Gate()
    async with served(mongodb_uri, tmp_path, acme(Dashboard("acme-orders", gate.compute))) as admin:
        people = [await People(admin).person(["dashboard:chart:acme-orders"]) for _ in range(3)]
        asked = [asyncio.create_task(person.get(PATH)) for person in people]
        await eventually(lambda: _is(gate.computed == 3))
        gate.open.set()
        assert [(expect(await one))["who"][0]["name"] for one in asked] == [one.user["username"] for one in people]


async def test_a_slow_dashboard_is_cut_off_and_holds_up_no_other(mongodb_uri: str, tmp_path: Path) -> None:
    gate = Gate()
    part = Dashboard("acme-orders", gate.compute)
    async with served(mongodb_uri, tmp_path, acme(part), dashboard_seconds=0.5) as admin:
        slow = asyncio.create_task(admin.get(PATH))
        await eventually(lambda: _is(gate.computed == 1))
        expect(await admin.get("/api/dashboard/overview"))
        assert not slow.done()
        answer = await slow
        expect(answer, 50300)
        assert answer.status == 503
        assert answer.headers["Retry-After"]
        gate.open.set()
        assert expect(await admin.get(PATH))["orders"] == 2


async def test_a_part_that_fails_is_one_internal_error(mongodb_uri: str, tmp_path: Path) -> None:
    async def broken(req: Request) -> dict[str, Any]:
        raise LookupError("no such thing")

    async with served(mongodb_uri, tmp_path, acme(Dashboard("acme-orders", broken))) as admin:
        expect(await admin.get(PATH), 50000)


@pytest.mark.parametrize(
    ("figures", "routes", "said"),
    [
        (Figures(USERS, {"orders": 1}), (ROUTE,), "no route shows the records behind acme-orders"),
        (Figures(USERS, {"ordres": 1}), WITH_ROWS, "has no ordres"),
        (Figures(USERS, {"name": 1}, by=ByValue("id", "who_id"), array="who"), WITH_ROWS, "has no who_id"),
        (Figures(CHANGES, {"orders": 1}), WITH_ROWS, "figures of core_history, which no route lists"),
    ],
)
def test_figures_that_no_response_has_are_refused(figures: Figures, routes: Sequence[Route], said: str) -> None:
    with pytest.raises(RegistryError, match=said):
        freeze([*load_plugins(()), acme(summed("acme-orders", figures), routes=routes)])


def test_a_part_that_one_plugin_declares_twice_is_refused() -> None:
    twice = Dashboard("overview", Gate().compute)
    with pytest.raises(RegistryError, match="part of dashboard overview of acme"):
        freeze([*load_plugins(()), acme(twice, twice)])


async def _is(truth: bool) -> bool:
    return truth
