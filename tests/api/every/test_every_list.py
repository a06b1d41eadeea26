"""No list reads a whole collection: not with any sort, filter, search, nor by a cursor, nor to tell its total."""

from __future__ import annotations

import asyncio

import pytest

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.lists.filters import sort_keys
from handlers.route import SUPER, Route
from plugins.boot.runtime import Running
from plugins.testing import expect, unique
from tests.support.catalogue import (
    CATALOGUE,
    chosen_collections,
    chosen_routes,
    declared_scope,
    reached_alike,
    stand_ins,
)
from tests.support.office import FIVE_SCOPES, VIEWS, Office
from tests.support.query_plans import (
    PAGE_ROWS,
    SCOPES,
    find_command,
    list_reads,
    own_order,
    profiled,
    rows_read,
    without_index,
)
from tests.support.valid_requests import Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=60)
HARDEST = "custom"  # any departments: neither one value of an index nor a person's own rows
PAGED = [route for route in chosen_routes() if route.paged]
LISTED = [one for one in chosen_collections() if one.scoped or one.name in {route.collection for route in PAGED}]
_CUSTOMERS = CATALOGUE.collections["crm_customers"]  # a company has many
_BY_INDEX = _CUSTOMERS.sortable.keys() - {"updated_at"}  # which would cost every update
INDEXED = {
    (one.name, name) for one in chosen_collections() for name in (_BY_INDEX if one is _CUSTOMERS else one.stored_orders)
}


@pytest.mark.parametrize("collection", stand_ins(LISTED, declared_scope), ids=lambda one: one.name)
async def test_every_query_of_a_list_is_served_by_an_index(collection: Collection, filled: Database) -> None:
    assert await scanning(filled, collection, HARDEST) == []


async def scanning(filled: Database, collection: Collection, scope: str, *, falling: bool = False) -> list[str]:
    """The reads of the list that read the whole collection."""
    # data scope plays no part in collections without one
    store = filled.store(collection, scope=SCOPES[scope if collection.scoped else "all"])
    asked = await list_reads(store, falling=falling)
    scanned = await asyncio.gather(*(without_index(filled, command) for command in asked.values()))
    return [name for name, found in zip(asked, scanned, strict=True) if found]


async def test_a_page_in_its_own_order_reads_few_rows_that_it_does_not_show(filled: Database) -> None:
    reads = {
        (one.name, scope): await rows_read(filled, own_order(filled.store(one, scope=SCOPES[scope])))
        for one in LISTED
        if one.scoped
        for scope in FIVE_SCOPES
    }
    assert {at: read for at, read in reads.items() if read > 3 * PAGE_ROWS} == {}


async def test_a_list_in_the_order_of_its_names_is_read_by_an_index(filled: Database) -> None:
    reads = {}
    for collection, name in sorted(INDEXED):
        store = filled.store(CATALOGUE.collections[collection])
        keys = sort_keys(store.collection, name)
        reads[collection, name] = await rows_read(filled, find_command(collection, store._visibility.filter(), keys))
    assert {at: read for at, read in reads.items() if read > 2 * PAGE_ROWS} == {}


_ACCOUNTS = "/api/v1/system/service-accounts"


@pytest.mark.parametrize("route", stand_ins(PAGED, reached_alike), ids=name_of)
async def test_nothing_that_a_list_route_reads_is_scanned_whole(
    route: Route, maker: Maker, office: Office, tradewind: Running
) -> None:
    await check_reads(route, HARDEST, maker, office, tradewind)


async def check_reads(route: Route, scope: str, maker: Maker, office: Office, tradewind: Running) -> None:
    """Ask for the list, and look at the plans of what is read."""
    client = maker.admin if route.access == SUPER else (await office.look(scope)).client
    path, code = await path_in_scope(route, scope, maker, office)
    async with profiled(tradewind.service.database) as reads:
        expect(await client.get(path), code)
    assert not route.collection or any(read["ns"].endswith(f".{route.collection}") for read in reads)
    assert [(read["ns"], read["command"]) for read in reads if "COLLSCAN" in read["planSummary"]] == []


async def path_in_scope(route: Route, scope: str, maker: Maker, office: Office) -> tuple[str, int]:
    """The path of a list and its code; what it is a list below, such as `/articles/{id}/revisions`, lies in the scope."""
    if "/service-accounts/" in route.path:  # the rows of their collection are people too
        department = office.colleagues[min(VIEWS[scope].sees)].department_id
        body = {"username": unique("erp"), "department_id": department}
        code = 40400 if scope == "self" else 0  # who sees only themselves sees no account
        return path_with(route, str(expect(await maker.admin.post(_ACCOUNTS, body))["id"])), code
    collection = CATALOGUE.collections.get(route.collection)
    if not route.parameters or collection is None or not collection.scoped or route.access == SUPER:
        exercise = await maker.exercise(route)
        return exercise.path, exercise.code
    rows = await office.rows(collection)
    return path_with(route, str(rows[min(VIEWS[scope].sees)])), 0
