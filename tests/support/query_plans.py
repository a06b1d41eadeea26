"""Fills collections with rows, and gets MongoDB's query plans for reading them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date, timedelta
from typing import Any

from bson import ObjectId
from bson.codec_options import CodecOptions, DatetimeConversion
from tornado.ioloop import IOLoop

from config.database import open_driver
from config.database.direct.driver import DirectDriver
from config.settings import Settings
from handlers.data.collection import Collection
from handlers.data.database import Database, utc_now
from handlers.data.lists.filters import after_cursor, list_filter, make_cursor, sort_keys
from handlers.data.store import Store
from handlers.data.visible.responsible import new_fields
from handlers.data.visible.scope import Scope
from handlers.operations.migrations import MIGRATIONS
from handlers.schema.conversion import decode
from handlers.schema.fields import Field
from plugins.testing import unique
from tests.support.sample_values import sample

ROWS, PEOPLE, DEPARTMENTS = 500, 50, 20
A_DAY = date(2026, 11, 20)
PAGE_ROWS = 21  # a page of 20, and one more that tells whether there is a next one
# an open bound of a time is a date that Python has no room for
_OPEN_BOUNDS: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)
_BY_INDEX = ("COUNT_SCAN", "IDHACK", "RECORD_STORE_FAST_COUNT")
SCOPES: Mapping[str, Scope] = {
    "all": Scope(everything=True, user_id=7),
    "department": Scope(department_ids=frozenset({7}), user_id=7),
    "department_and_below": Scope(department_ids=frozenset(range(7, 17)), user_id=7),
    "self": Scope(creator_id=7, user_id=7),
    "custom": Scope(department_ids=frozenset({2, 3, 5}), user_id=7),
}


@contextmanager
def database_of_its_own(
    io_loop: IOLoop, uri: str, collections: Iterable[Collection], prepare: Callable[[Database], Awaitable[None]]
) -> Iterator[Database]:
    """A database with these collections and what `prepare` puts into it, which is dropped afterwards."""
    settings = Settings(_env_file=None, demo=True)  # type: ignore[call-arg]
    driver = open_driver(settings.mongodb_driver, uri, unique("every"), 60_000)
    database = Database(driver, collections)

    async def discard() -> None:
        await driver.command({"dropDatabase": 1})
        await driver.close()

    try:
        io_loop.run_sync(lambda: prepare(database))
        yield database
    finally:
        io_loop.run_sync(discard)


async def fill(database: Database, collection: Collection) -> None:
    """Enough rows of many people and departments that the planner has something to choose."""
    base = {name: decode(child, await sample(child, _any_id(database))) for name, child in collection.fields.items()}
    unique = {name for index in collection.indexes if index.unique for name in index.keys}
    now = utc_now()
    rows = []
    for number in range(ROWS):
        row = {**base, **{name: _one_of_many(collection, name, base.get(name), number) for name in unique}}
        row["_id"] = {"integer": number + 1, "object_id": ObjectId(), "text": f"{number:024}"}[collection.ids]
        if not collection.plain:
            at = now - timedelta(minutes=number)
            row |= {
                "deleted": number % 50 == 0,
                "version": 1,
                "creator_id": number % PEOPLE,
                "created_at": at,
                "updated_at": at,
                "updater_id": 1,
                "creator_department_id": number % DEPARTMENTS,
            }
            row |= collection.derived(row)
            if collection.owner:  # every tenth by somebody of another department
                row |= new_fields(number % DEPARTMENTS, (number + (number % 10 == 0)) % DEPARTMENTS)
        if collection.scope_department in collection.fields:
            row[collection.scope_department] = number % DEPARTMENTS
        rows.append(row)
    await database.driver.insert(collection.name, rows)


def _one_of_many(collection: Collection, name: str, value: object, number: int) -> str:
    field = collection.fields.get(name)
    return str(A_DAY + timedelta(days=number)) if field and field.kind == "day" else f"{value}-{number}"


def _any_id(database: Database) -> Any:
    async def refer(collection: str) -> Any:
        return 1 if database.referred[collection].ids == "integer" else "65f0c0ffee65f0c0ffee65f0"

    return refer


def own_order(store: Store) -> dict[str, Any]:
    """What MongoDB is asked for the first page of a list in its own order."""
    return find_command(store.collection.name, store._visibility.filter(), sort_keys(store.collection, None))


async def list_reads(store: Store, *, falling: bool = False) -> dict[str, Mapping[str, Any]]:
    """By name: what MongoDB is asked for a list, its total and its next page, in each order and with each filter.

    With `falling` in each order backwards too, for which the same index is read from its end.
    """
    collection = store.collection
    row = await store._driver.find_one(collection.name, {})
    assert row is not None
    signs = ("", "-") if falling else ("",)
    orders = [None, *(f"{sign}{name}" for name in collection.sortable for sign in signs)]
    reads: dict[str, Mapping[str, Any]] = {}
    for order in orders:
        keys = sort_keys(collection, order)
        behind = after_cursor(collection, keys, make_cursor(keys, {**row, "id": row["_id"]}))
        reads[f"rows by {order}"] = find_command(collection.name, store._visibility.filter(), keys)
        reads[f"next page by {order}"] = find_command(
            collection.name, {"$and": [store._visibility.filter(), behind]}, keys
        )
    for name, values in (await list_queries(collection)).items():
        matching = store._visibility.filter(list_filter(collection, values))
        reads[f"rows with {name}"] = find_command(collection.name, matching, sort_keys(collection, None))
        reads[f"total with {name}"] = count_command(collection.name, matching)
    for number, part in enumerate(store._visibility.parts()):
        reads[f"part {number} of the total"] = count_command(collection.name, part)
    return reads


async def list_queries(collection: Collection) -> dict[str, dict[str, Any]]:
    """By name: no filter, each filter, the search."""
    queries: dict[str, dict[str, Any]] = {"nothing": {}}
    for name, child in collection.filters.items():
        queries[name] = {name: await _filter_value(child)}
    if collection.searchable:
        queries |= {
            f"q={query}": {"q": query} for query in ("样本", "样", "sample", "sample 样本 text", "138-0013-8000")
        }
    return queries


async def _filter_value(child: Field) -> Any:
    value = decode(child, await sample(child.but(example=None), _any_id_of_nothing))
    return value * 2 if isinstance(value, list) else value


async def _any_id_of_nothing(collection: str) -> Any:
    raise AssertionError(f"a filter does not refer to {collection}")


def find_command(collection: str, filter: Mapping[str, Any], sort: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """The `find` of a page."""
    return {"find": collection, "filter": filter, "limit": PAGE_ROWS, **({"sort": dict(sort)} if sort else {})}


def count_command(collection: str, filter: Mapping[str, Any]) -> dict[str, Any]:
    """What the driver sends to count what matches."""
    return {"count": collection, "query": filter}


async def rows_read(database: Database, command: Mapping[str, Any]) -> int:
    """How many documents MongoDB looks at to answer this command."""
    plan = await _explained(database, command, "executionStats")
    return int(plan["executionStats"]["totalDocsExamined"])


async def without_index(database: Database, command: Mapping[str, Any]) -> bool:
    """Whether the planner would read the whole collection for this command, or anything but an index."""
    stages = set(_stages(await _explained(database, command, "queryPlanner")))
    return "COLLSCAN" in stages or not any("IXSCAN" in stage or stage in _BY_INDEX for stage in stages)


async def _explained(database: Database, command: Mapping[str, Any], verbosity: str) -> dict[str, Any]:
    asked = {"explain": command, "verbosity": verbosity}
    driver = database.driver
    library = driver.library if isinstance(driver, DirectDriver) else driver
    answer: dict[str, Any] = await library._database.command(asked, codec_options=_OPEN_BOUNDS)
    return answer


@asynccontextmanager
async def profiled(database: Database) -> AsyncIterator[list[dict[str, Any]]]:
    """The reads of the block, as MongoDB's profiler saw them; filled in when it is left."""
    reads: list[dict[str, Any]] = []
    await database.driver.command({"profile": 2})
    try:
        yield reads
    finally:
        await database.driver.command({"profile": 0})
    reads += await database.driver.find(
        "system.profile",
        # a job reads the few documents of migrations meanwhile
        {"op": {"$in": ["query", "command"]}, "planSummary": {"$exists": True}, "ns": {"$not": {"$regex": MIGRATIONS}}},
        # the bounds of an index scan may be times that Python does not know
        fields=["ns", "command", "planSummary", "docsExamined"],
    )
    await database.driver.command({"drop": "system.profile"})


def _stages(plan: Any, winning: bool = False) -> Iterator[str]:
    """The stages of the winning plan; `stage` is also the name of parts of slot-based plans."""
    if isinstance(plan, list):
        for part in plan:
            yield from _stages(part, winning)
    elif isinstance(plan, Mapping):
        if winning and isinstance(plan.get("stage"), str):
            yield plan["stage"]
        for name, part in plan.items():
            yield from _stages(part, winning or name == "winningPlan")
