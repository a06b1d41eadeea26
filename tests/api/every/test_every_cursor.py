"""A cursor leads through every list, past each record once: whatever is stored in it, in orders of every kind."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.store import Store
from handlers.route import Route
from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.api.files.hand_made import attached_to
from tests.support.catalogue import CATALOGUE, chosen_collections, chosen_routes, handled_alike, stand_ins
from tests.support.operation_log import until_logged
from tests.support.strange_rows import ROWS, rows_of, unique_fields
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=60)
PAGE = 4
MOST_PAGES = 15  # of a walk: some lists have thousands of rows after the tests of others
RUNAWAY = 150  # a walk of so many pages does not end
PAGED = [route for route in chosen_routes() if route.paged]


def kind_of(collection: Collection, name: str) -> tuple[object, ...]:
    """By what the order of a field depends: how it is compared, whether it may be null, and what breaks ties."""
    field = collection.sortable[name]
    return field.kind, field.nullable, name in collection.stored_orders, name == "id", collection.ids


# the first field of each kind
_FIRST = {kind_of(one, name): (one, name) for one in reversed(chosen_collections()) for name in reversed(one.sortable)}


@pytest.mark.parametrize(("collection", "name"), _FIRST.values(), ids=lambda part: getattr(part, "name", part))
async def test_a_walk_by_cursor_meets_every_record_once_in_orders_of_every_kind(
    collection: Collection, name: str, strange: Database
) -> None:
    other = next((one for one in reversed(collection.sortable) if one != name), None)
    await check_walks(strange.store(collection), [name, *([f"{name},-{other}"] if other else [])])


def orders_of(collection: Collection) -> list[str]:
    """Every field, and with the one after it, which is then sorted the other way."""
    names = list(collection.sortable)
    return [*names, *(f"{one},-{other}" for one, other in pairwise([*names, names[0]]) if one != other)]


async def check_walks(store: Store, orders: Sequence[str]) -> None:
    """Walk in these orders, rising and falling, by pages and at once."""
    for order in (sign + order for order in orders for sign in ("", "-")):
        whole = await store.page({"page": 1, "page_size": 200, "with_total": False, "sort": order})
        assert len(whole.items) == ROWS
        assert await walked(store, order) == [row["id"] for row in whole.items], order


async def walked(store: Store, order: str) -> list[Any]:
    query: dict[str, Any] = {"page": 1, "page_size": PAGE, "with_total": False, "sort": order}
    page = await store.page(query)
    ids = [row["id"] for row in page.items]
    while page.next_cursor and len(ids) <= ROWS:
        page = await store.page({**query, "cursor": page.next_cursor})
        ids += [row["id"] for row in page.items]
    return ids


@pytest.mark.parametrize("route", stand_ins(PAGED, handled_alike), ids=name_of)
async def test_the_cursors_of_every_list_lead_through_it(route: Route, maker: Maker, tradewind: Running) -> None:
    await check_list(route, ["", *(f"-{name}" for name in sorted_by(route)[-1:])], maker, tradewind)


def sorted_by(route: Route) -> list[str]:
    """What the route says that it can be sorted by."""
    described = route.query["sort"].description or "" if "sort" in route.query else ""
    names = re.findall(r"\w+", described.rpartition("Any of ")[2])
    return [name for name in dict.fromkeys(names) if name != "or"]


async def check_list(route: Route, orders: Sequence[str], maker: Maker, tradewind: Running) -> None:
    """Walk through the list in each of these orders, by large pages and by small ones."""
    exercise = await (attached_to(maker, route) if name_of(route) == "GET /api/attachments" else maker.exercise(route))
    joint = "&" if "?" in exercise.path else "?"
    collection = CATALOGUE.collections.get(route.collection)
    await until_logged(tradewind)  # or what was requested before appears in the list of operations meanwhile
    async with further_rows(collection if not route.parameters else None, tradewind):
        for order in orders:
            path = f"{exercise.path}{joint}with_total=false{order and f'&sort={order}'}"
            whole, stepped = await listed_twice(exercise.client, path)
            if stepped != whole:  # a background job of the service may have changed a row meanwhile
                whole, stepped = await listed_twice(exercise.client, path)
            assert stepped == whole, order
            assert len({str(row) for row in whole}) == len(whole), order


async def listed_twice(client: Client, path: str) -> tuple[list[Any], list[Any]]:
    """The ids of a list by large pages and by small ones."""
    whole = await listed(client, f"{path}&page_size=200")
    size = min(100, max(5, len(whole) // MOST_PAGES))
    return whole, await listed(client, f"{path}&page_size={size}")


@asynccontextmanager
async def further_rows(collection: Collection | None, running: Running) -> AsyncIterator[None]:
    """Rows of the collection that are there during the block."""
    rows = await rows_of(collection, anything=False) if collection is not None and not unique_fields(collection) else []
    driver = running.service.database.driver
    if collection is not None and rows:
        await driver.insert(collection.name, rows)
    try:
        yield
    finally:
        if collection is not None and rows:
            await driver.delete_many(collection.name, {"_id": {"$in": [row["_id"] for row in rows]}})


async def listed(client: Client, path: str) -> list[Any]:
    """The ids of a list, walked by its cursors; what has none is told apart by all that it is."""
    page = expect(await client.get(path))
    rows, pages = page["items"], 1
    while page["next_cursor"]:
        page = expect(await client.get(f"{path}&cursor={quote(page['next_cursor'])}"))
        rows, pages = rows + page["items"], pages + 1
        assert pages < RUNAWAY
    return [row.get("id", row) for row in rows]
