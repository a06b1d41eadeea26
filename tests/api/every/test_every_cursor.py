"""A cursor leads through every list, in every order that it offers, past each record once: whatever is stored in it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from bson import Decimal128, ObjectId
from tornado.ioloop import IOLoop

from config.database import open_driver
from config.settings import Settings
from handlers.data.collection import Collection, named
from handlers.data.database import Database, utc_now
from handlers.data.store import Store
from handlers.route import Route
from handlers.schema.conversion import decode
from handlers.schema.fields import Field
from plugins.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.files.hand_made import attached_to
from tests.support.catalogue import CATALOGUE
from tests.support.operation_log import until_logged
from tests.support.sample_values import accepts, sample, scalar
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=60)
ROWS, PAGE = 18, 4
MISSING = object()  # the field is not in the document: the record is older than the field
SORTED = [one for one in CATALOGUE.collections.values() if one.sortable]
MOST_PAGES = 30  # of a walk: some lists have thousands of rows after the tests of others
RUNAWAY = 300  # a walk of so many pages does not end
PAGED = [route for route in CATALOGUE.routes if route.paged]
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
# also what no request could store today: records that are older than a rule
POOLS: Mapping[str, list[Any]] = {
    "text": ["", "a", "a", "B", "é", "晨光", "\U0001f600", "a\nb"],
    "integer": [-(2**53), -1, 0, 0, 7, 2**53],
    "number": [-1e300, -0.5, 0.0, 0.1, 0.1, 1e300],
    "boolean": [False, True],
    "money": [
        Decimal128(text) for text in ("-999999999999999.99", "-0.01", "0.00", "0.00", "9.90", "999999999999999.99")
    ],
    "quantity": [Decimal128(text) for text in ("-12.5", "-0.0001", "0", "3", "3", "99999999999.9999")],
    "timestamp": [datetime(1, 1, 1, tzinfo=UTC), NOON, NOON, datetime(9999, 12, 31, 23, 59, 59, 999000, UTC)],
    "day": ["0001-01-01", "1969-12-31", "2026-11-20", "2026-11-20", "9999-12-31"],
    "object_id": [ObjectId("0" * 24), ObjectId("a" * 24), ObjectId("a" * 24)],
}
# MongoDB deletes what has expired whenever it likes, also in the middle of a walk
TIMES_TO_COME = [datetime(9000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC), POOLS["timestamp"][-1]]


async def no_reference(collection: str) -> Any:
    return 1 if named(CATALOGUE.collections.values())[collection].ids == "integer" else "65f0c0ffee65f0c0ffee65f0"


async def rows_of(collection: Collection, *, anything: bool) -> list[dict[str, Any]]:
    """Rows whose sorted fields take many values, some of them the same; `anything`: null, absent, and against every rule."""
    base = {name: decode(child, await sample(child, no_reference)) for name, child in collection.fields.items()}
    audit = {"deleted": False, "version": 1, "creator_id": 1, "creator_department_id": None, "updater_id": 1}
    rows = []
    for number in range(ROWS):
        row = {**base, **({} if collection.plain else {**audit, "created_at": utc_now(), "updated_at": utc_now()})}
        row["_id"] = {"integer": 10**9 + number, "object_id": ObjectId(), "text": f"cursor-{number:04}"}[collection.ids]
        for place, (name, field) in enumerate(collection.sortable.items()):
            if name != "id" and (anything or name not in _unique(collection)):
                # the service itself stamps every record with its times
                stamped = name in ("created_at", "updated_at")
                row[name] = _value(field, (number * (place + 1) + place) // 2, anything=anything and not stamped)
        rows.append({name: value for name, value in row.items() if value is not MISSING})
    return rows


def _value(field: Field, number: int, *, anything: bool) -> Any:
    choices: list[Any] = field.rules["enum"] if "enum" in field.rules else POOLS[field.kind]
    if not anything and field.kind in ("text", "integer", "number"):
        choices = [one for one in choices if accepts(field, one)] or [scalar(field)]
    if not anything and field.kind == "timestamp":
        choices = TIMES_TO_COME
    empty = [None, MISSING] if anything else [None] if field.nullable else []
    values = [*empty, *choices]
    return values[number % len(values)]


def _unique(collection: Collection) -> set[str]:
    return {name.removeprefix("-") for index in collection.indexes if index.unique for name in index.keys}


@pytest.fixture(scope="module")
def stored(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Database]:
    """A database of its own, without unique indexes, and rows in every collection that is sorted by something."""
    settings = Settings(_env_file=None, demo=True)  # type: ignore[call-arg]
    driver = open_driver(settings.mongodb_driver, mongodb_uri, unique("cursors"), 60_000)
    database = Database(driver, CATALOGUE.collections.values())

    async def fill() -> None:
        for collection in SORTED:
            await driver.insert(collection.name, await rows_of(collection, anything=True))

    async def discard() -> None:
        await driver.command({"dropDatabase": 1})
        await driver.close()

    try:
        io_loop.run_sync(fill)
        yield database
    finally:
        io_loop.run_sync(discard)


@pytest.mark.parametrize("collection", SORTED, ids=lambda one: one.name)
async def test_a_walk_by_cursor_meets_every_record_once_in_every_order(
    collection: Collection, stored: Database
) -> None:
    store = stored.store(collection)
    names = list(collection.sortable)
    orders = [*names, *(f"{one},-{other}" for one, other in pairwise([*names, names[0]]) if one != other)]
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


@pytest.mark.parametrize("route", PAGED, ids=name_of)
async def test_the_cursors_of_every_list_lead_through_it(route: Route, maker: Maker, tradewind: Running) -> None:
    exercise = await (attached_to(maker, route) if name_of(route) == "GET /api/attachments" else maker.exercise(route))
    joint = "&" if "?" in exercise.path else "?"
    described = route.query["sort"].description or "" if "sort" in route.query else ""
    names = [name for name in dict.fromkeys(re.findall(r"\w+", described.rpartition("Any of ")[2])) if name != "or"]
    collection = CATALOGUE.collections.get(route.collection)
    await until_logged(tradewind)  # or what was requested before appears in the list of operations meanwhile
    async with further_rows(collection if not route.parameters else None, tradewind):
        for order in ("", *(f"&sort={sign}{name}" for name in names for sign in ("", "-"))):
            path = f"{exercise.path}{joint}with_total=false{order}"
            whole = await listed(exercise.client, f"{path}&page_size=200")
            size = max(5, len(whole) // MOST_PAGES)
            assert await listed(exercise.client, f"{path}&page_size={size}") == whole, order
            assert len({str(row) for row in whole}) == len(whole), order


@asynccontextmanager
async def further_rows(collection: Collection | None, running: Running) -> AsyncIterator[None]:
    """Rows of the collection that are there during the block."""
    rows = await rows_of(collection, anything=False) if collection is not None and not _unique(collection) else []
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
