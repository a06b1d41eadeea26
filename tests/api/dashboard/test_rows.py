"""The records behind the figures of dashboards: they add up to the figure, and are those that the person may list."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.testing import Client, People, Reply, expect, serving, unique
from tests.api.dashboard.cells import WHOLE, compared, figures_of, figures_shown, rows_of
from tests.api.dashboard.trade import MODULES, founded, listed
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=3600 if WHOLE else 60)
NAMES = [route.path.rpartition("/")[2] for route in CATALOGUE.routes if route.path.count("/") == 3]
NAMES = [name for name in NAMES if f"/api/dashboard/{name}/rows" in {route.path for route in CATALOGUE.routes}]
OF_STAFF = {"employee-distribution", "headcount-trend", "attendance-summary"}  # compared in tests of hrm


CATALOGUE_QUERIES = {route.path.removeprefix("/api/dashboard/"): route.query for route in CATALOGUE.routes}


@dataclass
class Company:
    people: list[Client]
    departments: Sequence[int]
    chance: random.Random


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """Random records of people with every kind of data scope."""
    plugins = load_plugins(("rbac", "auth", "system", "dashboard", *MODULES))
    block = serving(mongodb_uri, tmp_path_factory.mktemp("rows"), plugins=plugins, demo=False)
    running = io_loop.run_sync(block.__aenter__)

    async def made() -> Company:
        admin = await Client(running.url).log_in("admin")
        company = await founded(admin, running.service.database, random.Random(3))
        await company.records(40)
        return Company([*company.people][: None if WHOLE else 6], company.departments, company.chance)

    yield io_loop.run_sync(made)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def behind(person: Client, name: str, cell: str) -> Reply:
    """The first page of the records behind a cell."""
    return await person.get(f"/api/dashboard/{name}/rows?{urlencode({'cell': cell})}")


def test_every_dashboard_says_which_records_are_behind_each_of_its_figures() -> None:
    assert len(NAMES) == 13
    for name in NAMES:
        returns = next(route.returns for route in CATALOGUE.routes if route.path == f"/api/dashboard/{name}")
        query = next(route.query for route in CATALOGUE.routes if route.path == f"/api/dashboard/{name}")
        declared = {(one.array if one.by else "", figure) for one in figures_of(name) for figure in one.sums}
        declared |= {("", figure) for one in figures_of(name) if one.totals for figure in one.sums}
        shown = set()
        for top, field in (returns.fields or {}).items():
            inside = field.items.fields if field.items is not None else None
            shown |= {(top, one) for one, inner in (inside or {}).items() if _is_sum(one, inner.kind, inner.ref)}
            shown |= {("", top)} if top not in query and _is_sum(top, field.kind, field.ref) else set()
        assert declared == shown, name


def _is_sum(name: str, kind: str, ref: str | None) -> bool:
    return kind in ("money", "quantity", "integer") and ref is None and name != "rank"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_STAFF])
async def test_the_records_add_up_to_the_figure_for_people_of_every_scope(company: Company, name: str) -> None:
    seen = [await compared(person, name, company.chance) for person in company.people]
    # people must see different figures, or the test would prove nothing
    assert max(seen) > 0
    assert len({await figures_shown(person, name) for person in company.people}) > 1


DEPARTED = [name for name in NAMES if "department_id" in CATALOGUE_QUERIES[name]]


def test_every_dashboard_whose_records_have_departments_takes_one() -> None:
    scoped = {name for name in NAMES if all(one.collection.scoped for one in figures_of(name))}
    assert set(DEPARTED) == scoped
    assert len(scoped) == 12
    for name in DEPARTED:
        assert "department_id" in CATALOGUE_QUERIES[f"{name}/rows"]


@pytest.mark.parametrize("name", [name for name in DEPARTED if name not in OF_STAFF])
async def test_the_figures_of_a_department_are_of_its_records(company: Company, name: str) -> None:
    top, _, lowest = company.departments
    seen = {}
    for id in (top, lowest):
        queries = {"department_id": str(id)}
        seen[id] = [await compared(person, name, company.chance, also=queries) for person in company.people[:4]]
    assert seen[top][0] > 0
    # of those below it and others
    admin = company.people[0]
    assert len({await figures_shown(admin, name, {"department_id": str(id)}) for id in (top, lowest)}) == 2


@pytest.mark.parametrize(("figure", "lists"), [("customers", "crm/customers"), ("opportunities", "crm/opportunities")])
async def test_a_figure_of_a_department_counts_what_is_listed_of_it(company: Company, figure: str, lists: str) -> None:
    admin, lowest = company.people[0], company.departments[-1]
    module, noun = lists.split("/")
    of_it = [
        one
        async for one in listed(admin, module, noun)
        if lowest in (one["creator_department_id"], one.get("owner_department_id"))
    ]
    told = expect(await admin.get(f"/api/dashboard/overview?department_id={lowest}"))
    assert 0 < told[figure] == len(of_it) < expect(await admin.get("/api/dashboard/overview"))[figure]


async def test_a_department_that_there_is_not_has_no_records(company: Company) -> None:
    told = expect(await company.people[0].get("/api/dashboard/overview?department_id=987654"))
    assert {Decimal(value) for value in told.values()} == {Decimal(0)}


async def test_pages_have_every_record_once(company: Company) -> None:
    admin = company.people[0]
    cell = {"cell": "income"}
    pages = await rows_of(admin, "finance-summary", cell, page_size=7)
    (whole,) = await rows_of(admin, "finance-summary", cell)
    assert len(pages) > 2
    assert [item for page in pages for item in page["items"]] == whole["items"]
    assert {item["collection"] for item in whole["items"]} == {"crm_payments", "finance_vouchers"}


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "no_such",
        "items",
        "items.2026-11",
        "items.2026-11.no_such",
        "no_such.2026-11.income",
        "items.2026-13.income",
        "items..income",
        "items.9999-12.income",
        "items.0001-01.income",
        "x" * 301,
    ],
)
async def test_what_is_no_cell_is_named(company: Company, cell: str) -> None:
    reply = await behind(company.people[0], "finance-summary", cell)
    if reply.code:
        assert (reply.code, reply.fields) == (40001, {"cell"})
    else:
        assert (reply.data["value"], reply.data["total"]) == ("0.00", 0)


@pytest.mark.parametrize("key", ["x", "1" * 30, "", "٣", "a.b"])
async def test_a_key_that_nobody_has_is_no_error_of_ours(company: Company, key: str) -> None:
    for name, figure in (
        ("sales-ranking", "count"),
        ("stock-value-by-warehouse", "value"),
        ("opportunity-funnel", "count"),
    ):
        reply = await behind(company.people[0], name, f"items.{key}.{figure}")
        assert (reply.code, reply.fields) == (40001, {"cell"}) if reply.code else reply.data["total"] == 0


async def test_records_are_left_out_without_the_permission_to_list_them(admin: Client, people: People) -> None:
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": unique("lead"), "source": "website"}))
    only_figures = await people.person(["dashboard:chart:lead-source-distribution"])
    name, cell = "lead-source-distribution", "items.website.value"
    assert expect(await behind(only_figures, name, cell), 40300)["permission"] == "crm:lead:list"
    expect(await behind(await people.person(["crm:lead:list"]), name, cell), 40300)
    both = await people.person([f"dashboard:chart:{name}", "crm:lead:list"], "all")
    found = expect(await behind(both, name, cell))
    assert (found["items"][0]["id"], found["items"][0]["name"]) == (lead["id"], lead["name"])
