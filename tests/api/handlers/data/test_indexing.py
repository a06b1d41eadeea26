"""Records whose stored fields for searching have an older form are found, and indexed again in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from bson import ObjectId
from tornado.ioloop import IOLoop

from config.database import Document, Driver
from handlers.data.collection import OUTDATED, OUTDATED_INDEX, Collection
from handlers.data.database import Database, Lease, utc_now
from handlers.data.indexing import SearchIndexing
from handlers.operations.migrations import Migrations
from handlers.schema.fields import array, text
from handlers.service import Service
from plugins.testing import eventually, unique
from tests.support.data_fixtures import opened, settings_of_tests

pytestmark = pytest.mark.gen_test(timeout=60)
NAMED = Collection(
    name="probe_named",
    title="ProbeNamed",
    fields={
        "name": text(required=True, sort="folded", search=True),
        "code": text(search=True),
        "tags": array(text(), search=True, default=[]),
    },
)
OTHERS = Collection(name="probe_others", title="ProbeOther", fields={"name": text(sort="folded", search=True)})


def as_stored_before(name: str, code: str | None = None) -> dict[str, Any]:
    """A record as the version before wrote it: the values as they are in small letters, and pairs of characters."""
    parts = [part.casefold() for part in (name, code) if part]
    pairs = {part[at : at + 2] for part in parts for at in range(len(part) - 1)}
    now = utc_now()
    return {
        "_id": ObjectId(),
        "name": name,
        "code": code,
        "tags": [],
        "version": 3,
        "deleted": False,
        "creator_id": 1,
        "creator_department_id": None,
        "created_at": now,
        "updated_at": now,
        "updater_id": 1,
        "search_text": "\n".join(parts),
        "search_grams": sorted(pairs),
    }


@pytest.fixture
def named(io_loop: IOLoop, mongodb_uri: str, driver_name: str) -> Iterator[Database]:
    """An empty database with two searched collections."""
    made = Database(opened(driver_name, mongodb_uri, unique("search")), (NAMED, OTHERS))
    io_loop.run_sync(made.prepare)
    yield made
    io_loop.run_sync(lambda: made.driver.command({"dropDatabase": 1}))
    io_loop.run_sync(made.driver.close)


@asynccontextmanager
async def another_process(database: Database, driver_name: str, uri: str) -> AsyncIterator[Database]:
    """The same database as another process has it."""
    name = (await database.driver.command({"dbStats": 1}))["db"]
    other = Database(opened(driver_name, uri, name), database.collections.values())
    try:
        yield other
    finally:
        await other.driver.close()


async def found(database: Database, query: str, sort: str = "name") -> list[str]:
    page = await database.store(NAMED).page({"page": 1, "page_size": 50, "with_total": True, "q": query, "sort": sort})
    assert page.total == len(page.items)
    return [row["name"] for row in page.items]


async def renew(indexing: SearchIndexing, database: Database) -> None:
    """Rebuild what the process of `indexing` has found, as it does, and look again."""
    service = Service(settings_of_tests(), database)
    await Migrations(service, [("core", indexing.migration)]).run_due()
    await indexing.look()


async def outdated(driver: Driver) -> int:
    return len(await driver.find(NAMED.name, OUTDATED))


async def test_a_new_database_has_nothing_to_index_again(named: Database) -> None:
    await named.store(NAMED).create({"name": "Québec"})
    await SearchIndexing(named).look()
    assert named.outdated == set()


async def test_records_of_an_older_form_are_found_as_they_were(named: Database) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before("Québec", "C-0001"), as_stored_before("Northern Light")])
    await named.store(NAMED).create({"name": "Quebec City", "code": "C-0002"})
    await SearchIndexing(named).look()
    assert named.outdated == {NAMED.name}
    for query, names in (
        ("québec", ["Québec", "Quebec City"]),
        ("C-0001", ["Québec"]),
        ("C-000", ["Québec", "Quebec City"]),
        ("northern li", ["Northern Light"]),
        ("city quebec", ["Quebec City"]),
        ("nothing", []),
    ):
        assert sorted(await found(named, query)) == sorted(names), query


async def test_a_look_sends_one_command_at_a_time(named: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    find, under_way, most = named.driver.find, 0, 0

    async def counted(*args: Any, **options: Any) -> list[Document]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await find(*args, **options)
        finally:
            under_way -= 1

    monkeypatch.setattr(named.driver, "find", counted)
    await SearchIndexing(named).look()
    assert most == 1


async def test_records_of_an_older_form_are_indexed_again(named: Database) -> None:
    deleted = {**as_stored_before("Zoë"), "deleted": True}
    before = [as_stored_before(name, code) for name, code in (("Québec", "C-0001"), ("apple", None), ("Ähre", "x"))]
    await named.driver.insert(NAMED.name, [*before, deleted])
    indexing = SearchIndexing(named)
    await indexing.look()
    await renew(indexing, named)
    assert (named.outdated, await outdated(named.driver)) == (set(), 0)
    assert await found(named, "quebec") == ["Québec"]
    assert await found(named, "c0001") == ["Québec"]
    page = await named.store(NAMED).page({"page": 1, "page_size": 50, "with_total": False, "sort": "name"})
    assert [row["name"] for row in page.items] == ["Ähre", "apple", "Québec"]
    for row in [*before, deleted]:
        now = await named.driver.find_one(NAMED.name, {"_id": row["_id"]})
        derived = NAMED.derived(row)
        assert now == {**row, **derived}  # neither its version nor when it was changed


async def test_thousands_are_indexed_again_in_batches(named: Database) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before(f"Name {number}") for number in range(1500)])
    indexing = SearchIndexing(named)
    await indexing.look()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await renew(indexing, named)
    task.cancel()
    assert await outdated(named.driver) == 0
    assert turns > 1500 / 10  # everybody else had a turn at least after ten records


async def test_what_was_left_is_indexed_by_another_process(named: Database, driver_name: str, mongodb_uri: str) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before(f"Name {number}") for number in range(1500)])
    first = SearchIndexing(named)
    await first.look()
    working = asyncio.create_task(renew(first, named))

    async def begun() -> bool:
        return await outdated(named.driver) < 1500

    await eventually(begun)
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    left = await outdated(named.driver)
    assert 0 < left < 1500
    async with another_process(named, driver_name, mongodb_uri) as other:
        second = SearchIndexing(other)
        await second.look()
        await renew(second, other)
        assert await outdated(other.driver) == 0


async def test_one_process_at_a_time_does_the_work(named: Database) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before("Name")])
    indexing = SearchIndexing(named)
    await indexing.look()
    async with Lease(named, "migrations", 30):
        await renew(indexing, named)
        assert await outdated(named.driver) == 1
    await renew(indexing, named)
    assert await outdated(named.driver) == 0


@pytest.mark.parametrize("change", [{"name": "After"}, {"code": "C-9"}, {"tags": ["new"]}])
async def test_what_was_written_meanwhile_stays(named: Database, change: Mapping[str, Any]) -> None:
    row = as_stored_before("Before", "C-1")
    await named.driver.insert(NAMED.name, [row])
    await named.store(NAMED).update(row["_id"], change)
    assert await SearchIndexing(named)._renew(NAMED, row) is False
    now = await named.driver.find_one(NAMED.name, {"_id": row["_id"]})
    assert now is not None
    assert {name: now[name] for name in NAMED.unread} == NAMED.derived({**row, **change})


async def test_what_an_older_process_writes_later_is_found_again(named: Database) -> None:
    made = await named.store(NAMED).create({"name": "Before"})
    indexing = SearchIndexing(named)
    await indexing.look()
    assert named.outdated == set()
    written = as_stored_before("Québec")
    older = {"$set": {name: written[name] for name in ("name", "search_text", "search_grams")}, "$inc": {"version": 1}}
    await named.driver.update_one(NAMED.name, {"_id": made["id"]}, older)
    await indexing.look()
    assert named.outdated == {NAMED.name}
    await renew(indexing, named)
    assert await found(named, "quebec") == ["Québec"]
    assert await found(named, "before") == []


async def test_a_search_in_some_fields_finds_records_of_an_older_form_by_these_alone(named: Database) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before("Québec", "C-0001")])
    await SearchIndexing(named).look()

    async def total(query: str) -> int | None:
        asked = {"page": 1, "page_size": 50, "with_total": True, "q": query, "sort": "name"}
        return (await named.store(NAMED).page(asked, shown=["name"])).total

    assert [await total(query) for query in ("québec", "C-0001")] == [1, 0]


async def test_without_its_index_nothing_is_taken_to_be_indexed(named: Database) -> None:
    await named.driver.insert(NAMED.name, [as_stored_before("Québec")])
    await named.driver.command({"dropIndexes": NAMED.name, "index": OUTDATED_INDEX.name})
    await SearchIndexing(named).look()
    assert named.outdated == {NAMED.name}
    assert await found(named, "québec") == ["Québec"]


async def test_without_its_index_a_search_goes_on(named: Database) -> None:
    await named.store(NAMED).create({"name": "Québec"})
    await named.driver.command({"dropIndexes": NAMED.name, "index": "search_1"})
    assert await found(named, "quebec") == ["Québec"]


async def test_many_and_few_finds_are_the_same_to_a_list(named: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handlers.data.lists.paging._FEW", 3)
    for number in range(8):
        await named.store(NAMED).create({"name": f"Name {number}", "tags": ["few"] if number < 3 else []})
    assert await found(named, "name") == [f"Name {number}" for number in range(8)]
    assert await found(named, "few", "-name") == [f"Name {number}" for number in (2, 1, 0)]
