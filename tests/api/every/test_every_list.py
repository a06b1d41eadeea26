"""No list reads a whole collection: not under any data scope, sort, filter, search, nor by a cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from config.database import open_driver
from config.settings import Settings
from handlers.data.database import Database
from handlers.data.store import Store
from handlers.route import SUPER, Route
from plugins.runtime import Running
from plugins.testing import expect, unique
from tests.support.catalogue import CATALOGUE
from tests.support.office import FIVE_SCOPES, VIEWS, Office
from tests.support.query_plans import PAGE_ROWS, SCOPES, fill, list_reads, profiled, rows_read, without_index
from tests.support.valid_requests import Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=60)
PAGED = [route for route in CATALOGUE.routes if route.paged]
LISTED = {route.collection for route in PAGED if route.collection}
COLLECTIONS = [one for one in CATALOGUE.collections.values() if one.scoped or one.name in LISTED]
# data scope plays no part in the others
SCOPED_READS = [(one, scope) for one in COLLECTIONS for scope in (FIVE_SCOPES if one.scoped else ("all",))]


@pytest.fixture(scope="module")
def filled(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Database]:
    """A database of its own, with the declared indexes and thousands of rows in every listed collection."""
    settings = Settings(_env_file=None, demo=True)  # type: ignore[call-arg]
    driver = open_driver(settings.mongodb_driver, mongodb_uri, unique("plans"), 60_000)
    database = Database(driver, CATALOGUE.collections.values())

    async def prepare() -> None:
        await database.prepare()
        for collection in COLLECTIONS:
            await fill(database, collection)

    async def discard() -> None:
        await driver.command({"dropDatabase": 1})
        await driver.close()

    try:
        io_loop.run_sync(prepare)
        yield database
    finally:
        io_loop.run_sync(discard)


@pytest.mark.parametrize(("collection", "scope"), SCOPED_READS, ids=lambda part: getattr(part, "name", part))
async def test_every_query_of_a_list_is_served_by_an_index(collection: Any, scope: str, filled: Database) -> None:
    store: Store = filled.store(collection, scope=SCOPES[scope])
    asked = await list_reads(store)
    scanned = await asyncio.gather(*(without_index(filled, command) for command in asked.values()))
    assert [name for name, found in zip(asked, scanned, strict=True) if found] == []


@pytest.mark.parametrize("scope", FIVE_SCOPES)
@pytest.mark.parametrize("collection", [one for one in COLLECTIONS if one.scoped], ids=lambda one: one.name)
async def test_a_page_in_its_own_order_reads_few_rows_that_it_does_not_show(
    collection: Any, scope: str, filled: Database
) -> None:
    asked = await list_reads(filled.store(collection, scope=SCOPES[scope]))
    assert await rows_read(filled, asked["rows by None"]) <= 3 * PAGE_ROWS


@pytest.mark.parametrize("route", PAGED, ids=name_of)
@pytest.mark.parametrize("scope", FIVE_SCOPES)  # changes last: the viewer gets other roles then
async def test_nothing_that_a_list_route_reads_is_scanned_whole(
    route: Route, scope: str, maker: Maker, office: Office, tradewind: Running
) -> None:
    client = maker.admin if route.access == SUPER else (await office.look(scope)).client
    path, code = await path_in_scope(route, scope, maker, office)
    async with profiled(tradewind.service.database) as reads:
        expect(await client.get(path), code)
    assert not route.collection or any(read["ns"].endswith(f".{route.collection}") for read in reads)
    assert [(read["ns"], read["command"]) for read in reads if "COLLSCAN" in read["planSummary"]] == []


async def path_in_scope(route: Route, scope: str, maker: Maker, office: Office) -> tuple[str, int]:
    """The path of a list and its code; what it is a list below, such as `/articles/{id}/revisions`, lies in the scope."""
    collection = CATALOGUE.collections.get(route.collection)
    if not route.parameters or collection is None or not collection.scoped or route.access == SUPER:
        exercise = await maker.exercise(route)
        return exercise.path, exercise.code
    rows = await office.rows(collection)
    return path_with(route, str(rows[min(VIEWS[scope].sees)])), 0
