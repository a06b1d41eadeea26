"""What the interface `Driver` promises, of each of the three drivers. All other tests use the default one.

The experiments run those over the two others too, see `tests/experiments/config/test_other_drivers.py`.
"""

import asyncio
import gc
import random
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from tornado.ioloop import IOLoop

from config.database import (
    DRIVERS,
    Change,
    DatabaseRefused,
    DatabaseUnavailable,
    Driver,
    DuplicateKey,
    IndexSpec,
    open_driver,
)
from handlers.tasks import end
from plugins.testing import eventually
from tests.support.document_holder import holder
from tests.support.proxy import Proxy
from tests.support.watchdog import LoopWatchdog

pytestmark = [
    pytest.mark.gen_test(timeout=20),
    # PyMongo leaves a socket open when it is closed while it connects
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"),
]
CALLS = 240  # more than there are connections
AT_ONCE_SECONDS = 1.0
SHORT = pytest.mark.parametrize("limit_ms", [400])  # where a test waits for the time limit


@pytest.fixture(params=sorted(DRIVERS), scope="module")
def driver_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def left_sockets(io_loop: IOLoop) -> Iterator[None]:
    """Report what PyMongo leaves open here and not in another test."""
    yield
    io_loop.run_sync(lambda: asyncio.sleep(0))
    gc.collect()


@pytest.fixture
def watchdog(io_loop: IOLoop) -> Iterator[LoopWatchdog]:
    with LoopWatchdog(io_loop.asyncio_loop) as watching:
        yield watching
    assert watching.blocks == [], "\n".join(map(str, watching.blocks))


class Refused(Exception):
    """What a test gives a transaction up with."""


async def fill(driver: Driver, things: str, count: int) -> None:
    await driver.insert(things, [{"_id": n, "even": n % 2 == 0} for n in range(count)])


async def ids(driver: Driver, things: str, filter: dict[str, Any] | None = None) -> list[Any]:
    return [row["_id"] for row in await driver.find(things, filter or {}, sort=[("_id", 1)])]


# -- reading


async def test_a_document_comes_back_as_it_was_stored(driver: Driver, things: str) -> None:
    stored = {
        "_id": ObjectId(),
        "text": "晨光",
        "whole": 2**53,
        "float": 0.1,
        "yes": True,
        "nothing": None,
        "amount": Decimal128("1234.50"),
        "at": datetime(2026, 11, 20, 8, 0, 0, 123000, UTC),
        "list": [1, {"deep": []}],
    }
    await driver.insert(things, [stored])
    assert await driver.find_one(things, {"_id": stored["_id"]}) == stored


async def test_find_sorts_skips_limits_and_selects(driver: Driver, things: str) -> None:
    await fill(driver, things, 10)
    found = await driver.find(things, {"even": True}, sort=[("_id", -1)], skip=1, limit=2, fields=["_id"])
    assert found == [{"_id": 6}, {"_id": 4}]
    assert await driver.find_one(things, {}, sort=[("_id", -1)]) == {"_id": 9, "even": False}
    assert await driver.find_one(things, {"_id": 99}) is None


async def test_a_stream_passes_over_every_batch(driver: Driver, things: str) -> None:
    await fill(driver, things, 25)
    assert [row["_id"] async for row in driver.stream(things, {}, sort=[("_id", 1)], batch=10)] == list(range(25))


async def test_count_counts_what_matches(driver: Driver, things: str) -> None:
    await fill(driver, things, 5)
    assert (await driver.count(things, {}), await driver.count(things, {"even": True})) == (5, 3)


async def test_aggregate_returns_every_row(driver: Driver, things: str) -> None:
    await fill(driver, things, 250)
    for scan in (False, True):
        rows = await driver.aggregate(things, [{"$match": {"even": True}}, {"$sort": {"_id": 1}}], collection_scan=scan)
        assert [row["_id"] for row in rows] == list(range(0, 250, 2))


async def test_simultaneous_readers_by_id_each_get_a_document_of_their_own(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": n, "list": [n], "long": "x"} for n in range(3)])
    wanted = [0, 1, 9, 1, 2]
    found = await asyncio.gather(*(driver.find_by_id(things, id, without=["long"]) for id in wanted))
    assert found == [
        {"_id": 0, "list": [0]},
        {"_id": 1, "list": [1]},
        None,
        {"_id": 1, "list": [1]},
        {"_id": 2, "list": [2]},
    ]
    first, second = found[1] or {}, found[3] or {}
    first["list"].append("mine")
    assert second["list"] == [1]


async def test_a_reader_by_id_gets_the_fields_that_were_asked_for(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "a": 1, "b": 2}])
    whole, part = await asyncio.gather(driver.find_by_id(things, 1), driver.find_by_id(things, 1, fields=["b"]))
    assert (whole, part) == ({"_id": 1, "a": 1, "b": 2}, {"_id": 1, "b": 2})


async def test_more_readers_by_id_than_fit_in_one_command_all_get_their_document(driver: Driver, things: str) -> None:
    await fill(driver, things, 250)
    found = await asyncio.gather(*(driver.find_by_id(things, id) for id in range(250)))
    assert [one and one["_id"] for one in found] == list(range(250))


async def test_reading_by_id_joins_the_transaction(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 0}])

    async def work() -> list[Any]:
        await driver.insert(things, [{"_id": 1}])
        return [await driver.find_by_id(things, id) for id in (0, 1)]

    assert await driver.transaction(work) == [{"_id": 0}, {"_id": 1}]


async def test_a_cancelled_reader_by_id_does_not_cancel_the_others(driver: Driver, things: str) -> None:
    await fill(driver, things, 2)
    leaving, staying = (asyncio.ensure_future(driver.find_by_id(things, id)) for id in (0, 1))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == {"_id": 1, "even": False}


# -- writing


@pytest.mark.parametrize("number", [1, 2])
async def test_a_taken_key_is_a_duplicate_that_names_its_fields(driver: Driver, things: str, number: int) -> None:
    unique = IndexSpec("code", (("code", 1), ("area", 1)), unique=True)
    await driver.synchronise_indexes(things, [unique])
    await driver.insert(things, [{"_id": 0, "code": "a", "area": 1}])
    with pytest.raises(DuplicateKey) as error:
        await driver.insert(things, [{"_id": n, "code": "a", "area": n} for n in range(number, 0, -1)])
    assert error.value.fields == ("code", "area")


async def test_an_update_to_a_taken_key_is_a_duplicate(driver: Driver, things: str) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("code", (("code", 1),), unique=True)])
    await driver.insert(things, [{"_id": 1, "code": "a"}, {"_id": 2, "code": "b"}])
    with pytest.raises(DuplicateKey):
        await driver.update_one(things, {"_id": 2}, {"$set": {"code": "a"}})


async def test_of_documents_inserted_at_once_those_alone_fail_whose_key_is_taken(driver: Driver, things: str) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("code", (("code", 1),), unique=True)])
    codes = ["a", "b", "a", "c"]
    results = await asyncio.gather(
        *(driver.insert(things, [{"_id": n, "code": code}]) for n, code in enumerate(codes)), return_exceptions=True
    )
    refused = [one for one in results if one is not None]
    assert [one.fields for one in refused if isinstance(one, DuplicateKey)] == [("code",)]
    assert len(refused) == 1
    assert sorted(row["code"] for row in await driver.find(things, {})) == ["a", "b", "c"]


async def test_what_cannot_be_stored_keeps_nothing_else_from_being_inserted(driver: Driver, things: str) -> None:
    results = await asyncio.gather(
        driver.insert(things, [{"_id": 1, "n": 2**70}]), driver.insert(things, [{"_id": 2}]), return_exceptions=True
    )
    assert isinstance(results[0], OverflowError)
    assert await ids(driver, things) == [2]


async def test_insert_missing_leaves_what_is_there_and_takes_no_other_unique_key(driver: Driver, things: str) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("code", (("code", 1),), unique=True)])
    await driver.insert(things, [{"_id": 1, "code": "a"}])
    await driver.insert_missing(things, [{"_id": 1, "code": "b"}, {"_id": 2, "code": "b"}])
    assert await driver.find(things, {}, sort=[("_id", 1)]) == [{"_id": 1, "code": "a"}, {"_id": 2, "code": "b"}]
    with pytest.raises(DuplicateKey):
        await driver.insert_missing(things, [{"_id": 3, "code": "a"}])


async def test_update_one_returns_the_new_state_of_the_document(driver: Driver, things: str) -> None:
    await fill(driver, things, 2)
    assert await driver.update_one(things, {"_id": 1}, {"$set": {"even": "no"}}) == {"_id": 1, "even": "no"}
    assert await driver.update_one(things, {"_id": 9}, {"$set": {"even": "no"}}) is None
    changed = await driver.update_one(things, {"_id": 1}, [{"$set": {"twice": {"$multiply": ["$_id", 2]}}}])
    assert changed == {"_id": 1, "even": "no", "twice": 2}
    assert await driver.update_one(things, {"_id": 9}, {"$inc": {"n": 1}}, upsert=True) == {"_id": 9, "n": 1}


async def test_update_many_and_delete_many_say_how_many(driver: Driver, things: str) -> None:
    await fill(driver, things, 5)
    assert await driver.update_many(things, {"even": True}, {"$set": {"even": False}}) == 3
    assert await driver.delete_many(things, {"_id": {"$gte": 3}}) == 2
    assert await ids(driver, things) == [0, 1, 2]


async def test_indexes_become_what_is_declared(driver: Driver, things: str) -> None:
    first, second = IndexSpec("a", (("a", 1),)), IndexSpec("b", (("b", -1),), expire_seconds=60)
    assert await driver.has_indexes(things, [])  # no collection, no index
    for declared in (first, second):
        assert not await driver.has_indexes(things, [declared])
        await driver.synchronise_indexes(things, [declared])
        assert await driver.has_indexes(things, [declared])
        assert {index["name"] for index in await driver.list_indexes(things)} == {"_id_", declared.name}


# -- transactions


async def test_a_transaction_writes_all_or_nothing(driver: Driver, things: str) -> None:
    async def work(fails: bool) -> str:
        assert driver.in_transaction
        await driver.insert(things, [{"_id": fails}])
        await driver.update_one(things, {"_id": "counter"}, {"$inc": {"n": 1}}, upsert=True)
        if fails:
            raise Refused
        return "done"

    assert await driver.transaction(lambda: work(False)) == "done"
    with pytest.raises(Refused):
        await driver.transaction(lambda: work(True))
    assert not driver.in_transaction
    assert await driver.find(things, {}, sort=[("_id", 1)]) == [{"_id": "counter", "n": 1}, {"_id": False}]


async def test_a_snapshot_shows_one_moment_and_keeps_no_write(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1}])

    async def work(id: int) -> list[int]:
        seen = [await ids(driver, things)]
        await asyncio.create_task(driver.insert(things, [{"_id": id}]), context=Context())
        assert await ids(driver, things) == seen[0]
        await driver.insert(things, [{"_id": -id}])
        return seen[0]

    assert await driver.snapshot(lambda: work(2)) == [1]
    assert not driver.in_transaction
    assert await ids(driver, things) == [1, 2]
    assert await driver.transaction(lambda: driver.snapshot(lambda: work(3))) == [1, 2]
    assert await ids(driver, things) == [-3, 1, 2, 3]

    async def ended() -> bool:
        return not driver.open_sessions

    await eventually(ended)


async def test_what_is_large_fits_into_a_transaction(driver: Driver, things: str) -> None:
    many = [{"_id": number, "text": "x" * 20_000} for number in range(1500)]  # more than a command or a reply can hold

    async def work() -> None:
        await driver.insert(things, many)
        assert await driver.find(things, {}, sort=[("_id", 1)]) == many
        assert [row["_id"] async for row in driver.stream(things, {}, sort=[("_id", -1)], batch=700)] == [
            *reversed(range(1500))
        ]
        assert await driver.count(things, {"_id": {"$lt": 900}}) == 900
        assert await driver.count(things, {"_id": {"$lt": 900}}, limit=50) == 50
        assert await driver.count(things, {"_id": 5000}) == 0
        rows = await driver.aggregate(things, [{"$match": {"_id": {"$gte": 10}}}, {"$project": {"text": 0}}])
        assert len(rows) == 1490

    await driver.insert(things, [{"_id": -1}])
    await driver.delete_many(things, {})
    await driver.transaction(work)
    assert await driver.count(things, {"_id": {"$gte": 0}}) == 1500


async def test_commands_that_start_together_in_a_transaction_run_one_after_the_other(
    driver: Driver, things: str
) -> None:
    await driver.insert(things, [{"_id": number} for number in range(8)])

    async def work() -> list[Any]:
        return await asyncio.gather(
            *(driver.update_one(things, {"_id": number}, {"$set": {"n": number}}) for number in range(8))
        )

    assert await driver.transaction(work) == [{"_id": number, "n": number} for number in range(8)]


async def test_a_change_apart_stays_out_of_the_transaction(driver: Driver, things: str) -> None:
    async def work() -> None:
        await driver.update_one(things, {"_id": 1}, {"$inc": {"n": 1}}, upsert=True, outside_transaction=True)
        raise Refused

    with pytest.raises(Refused):
        await driver.transaction(work)
    assert await driver.find_one(things, {}) == {"_id": 1, "n": 1}


@pytest.mark.gen_test(timeout=20)
async def test_a_transaction_runs_again_after_a_write_conflict(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])
    runs, all_have_read = 0, asyncio.Barrier(5)

    async def work() -> None:
        nonlocal runs
        runs += 1
        first = runs <= all_have_read.parties
        found = await driver.find_one(things, {"_id": 1})
        assert found is not None
        if first:
            await all_have_read.wait()
        await driver.update_one(things, {"_id": 1}, {"$set": {"n": found["n"] + 1}})

    await asyncio.gather(*(driver.transaction(work) for _ in range(5)))
    assert await driver.find_one(things, {}) == {"_id": 1, "n": 5}
    assert runs > 5


async def test_a_duplicate_ends_a_transaction_and_is_a_duplicate(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1}])

    async def work() -> None:
        await driver.insert(things, [{"_id": 2}])
        await driver.insert(things, [{"_id": 1}])

    with pytest.raises(DuplicateKey):
        await driver.transaction(work)
    assert await ids(driver, things) == [1]


async def test_several_changes_by_one_command_happen_together_or_not_at_all(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}])
    with pytest.raises(RuntimeError):
        await driver.update_each(things, [({"_id": 1}, {"$set": {"n": 1}})])

    async def work() -> None:
        changes = [({"_id": 1}, {"$set": {"n": 1}}), ({"_id": 9}, {"$set": {"n": 1}})]
        assert await driver.update_each(things, changes) == 1
        raise LookupError

    with pytest.raises(LookupError):
        await driver.transaction(work)
    assert [row["n"] for row in await driver.find(things, {})] == [0, 0]


async def test_transactions_that_take_turns_never_do_anything_in_vain(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])
    runs: Counter[int] = Counter()

    async def work(number: int) -> None:
        await driver.take_turn(things, 1)
        runs[number] += 1
        found = await driver.find_one(things, {"_id": 1})
        assert found is not None
        await driver.update_one(things, {"_id": 1}, {"$set": {"n": found["n"] + 1}})

    await asyncio.gather(*(driver.transaction(partial(work, number)) for number in range(20)))
    assert await driver.find_one(things, {}) == {"_id": 1, "n": 20}
    assert set(runs.values()) == {1}
    with pytest.raises(RuntimeError):
        await driver.take_turn(things, 1)


async def test_what_a_cancelled_transaction_wrote_is_free_at_once(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])
    started = asyncio.Event()

    async def work() -> None:
        await driver.update_one(things, {"_id": 1}, {"$set": {"n": 1}})
        started.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(driver.transaction(work))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(3):  # of the twenty seconds that MongoDB lets a transaction live
        assert await driver.update_one(things, {"_id": 1}, {"$inc": {"n": 1}}) == {"_id": 1, "n": 1}


async def test_the_sessions_of_open_transactions_are_listed(driver: Driver, things: str) -> None:
    async def work() -> list[bytes]:
        await driver.insert(things, [{"_id": 1}])
        return driver.open_sessions

    (during,) = await driver.transaction(work)
    assert len(during) == 16

    async def none_is_left() -> bool:
        return driver.open_sessions == []

    await eventually(none_is_left)


async def look_for_orphans(driver: Driver) -> None:
    """As every server does from time to time."""
    while True:
        await driver.end_orphans()
        await asyncio.sleep(0.05)


async def test_the_transaction_of_a_killed_process_is_ended(
    driver: Driver, mongodb_uri: str, database_name: str, things: str
) -> None:
    await driver.insert(things, [{"_id": "1", "n": 0}])
    with holder(mongodb_uri, database_name, things, "1") as process:
        process.kill()
        process.wait()
        looking = asyncio.create_task(look_for_orphans(driver))
        async with asyncio.timeout(2):  # of the twenty seconds that MongoDB lets a transaction live
            assert await driver.update_one(things, {"_id": "1"}, {"$inc": {"n": 10}}) == {"_id": "1", "n": 10}
        await end([looking])


# -- changes


@asynccontextmanager
async def seen(driver: Driver, *collections: str) -> AsyncIterator["asyncio.Queue[Change]"]:
    """The changes from now on, as a queue."""
    queue: asyncio.Queue[Change] = asyncio.Queue()

    async with driver.watch(collections) as changes:

        async def pump() -> None:
            async for change in changes:
                queue.put_nowait(change)

        task = asyncio.create_task(pump())
        yield queue
        await end([task])


async def test_watch_reports_every_change_of_the_named_collections_after_it_began(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 0}])
    async with seen(driver, things) as changes:
        await driver.insert(f"{things}_other", [{"_id": 9}])
        await driver.insert(things, [{"_id": 1}])
        await driver.update_one(things, {"_id": 0}, {"$set": {"a": 1}})
        await driver.delete_many(things, {"_id": 1})
        results = [await asyncio.wait_for(changes.get(), 3) for _ in range(3)]
    assert results == [Change(things, 1), Change(things, 0), Change(things, 1)]


async def test_watch_does_not_wait_for_a_change(driver: Driver, things: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.database.library_driver._WATCH_WAIT_MS", 60_000)
    async with asyncio.timeout(1.5), driver.watch([things]):  # a silence of two seconds would end the wait too
        pass


async def test_a_quiet_stream_goes_on(driver: Driver, things: str) -> None:
    async with seen(driver, things) as changes:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(changes.get(), 0.8)
        await driver.insert(things, [{"_id": 1}])
        assert await asyncio.wait_for(changes.get(), 3) == Change(things, 1)


# -- a server that is away, slow or not ours


@asynccontextmanager
async def opened(name: str, uri: str, timeout_ms: int) -> AsyncIterator[Driver]:
    """A driver with a time limit of its own."""
    driver = open_driver(name, uri, f"test_{uuid.uuid4().hex[:12]}", timeout_ms)
    try:
        yield driver
    finally:
        await driver.close()


NOWHERE = "mongodb://127.0.0.1:1/"
OPERATIONS: dict[str, Callable[[Driver], Awaitable[Any]]] = {
    "find": lambda driver: driver.find("things", {}),
    "insert": lambda driver: driver.insert("things", [{"_id": 1}]),
    "find_by_id": lambda driver: driver.find_by_id("things", 1),
    "insert_missing": lambda driver: driver.insert_missing("things", [{"_id": 1}]),
    "update_one": lambda driver: driver.update_one("things", {}, {"$set": {"a": 1}}),
    "aggregate": lambda driver: driver.aggregate("things", []),
    "command": lambda driver: driver.command({"ping": 1}),
    "transaction": lambda driver: driver.transaction(lambda: driver.insert("things", [{"_id": 1}])),
}


async def test_a_server_that_is_not_there_is_unavailable_within_the_time_limit(driver_name: str) -> None:
    async with opened(driver_name, NOWHERE, 300) as driver:
        started = time.monotonic()
        outcomes = await asyncio.gather(*(call(driver) for call in OPERATIONS.values()), return_exceptions=True)
        took = time.monotonic() - started
    others = {name: one for name, one in zip(OPERATIONS, outcomes, strict=True) if type(one) is not DatabaseUnavailable}
    assert others == {}
    assert took < 0.3 + 1.5


async def test_a_server_that_is_too_slow_is_unavailable(driver_name: str, mongodb_uri: str) -> None:
    async with opened(driver_name, mongodb_uri, 500) as driver:
        await driver.insert("things", [{"_id": 1}])
        with pytest.raises(DatabaseUnavailable):
            await driver.find("things", {"$where": "sleep(2000) || true"})


def test_an_address_that_is_none_is_refused_in_words(driver_name: str) -> None:
    for uri in ("http://127.0.0.1/", "mongodb://", "mongodb://127.0.0.1:99999/"):
        with pytest.raises(ValueError, match="TRADEWIND_MONGODB_URI"):
            open_driver(driver_name, uri, "nothing", 300)


async def test_a_wrong_password_is_reported_without_the_password(driver_name: str, mongodb_uri: str) -> None:
    password = mongodb_uri.partition("@")[0].rpartition(":")[2]
    async with opened(driver_name, mongodb_uri.replace("@", "x@", 1), 2000) as driver:
        with pytest.raises(DatabaseRefused, match=r"(?i)auth") as error:
            await driver.command({"ping": 1})
    assert password not in str(error.value)


@SHORT
@pytest.mark.parametrize("fault", ["hanging", "dead"])
async def test_a_server_that_goes_while_a_transaction_commits_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, fault: str, limit_ms: int, watchdog: LoopWatchdog
) -> None:
    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        if fault == "dead":
            await proxy.down()
        else:
            proxy.stall()

    await behind.insert(things, [{"_id": 0}])
    with pytest.raises(DatabaseUnavailable):
        await behind.transaction(work)
    await asyncio.sleep(2 * limit_ms / 1000)  # whatever ends later must not block either


@SHORT
async def test_a_transaction_that_is_cancelled_without_its_server_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, limit_ms: int, watchdog: LoopWatchdog
) -> None:
    started = asyncio.Event()

    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        proxy.stall()
        started.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(behind.transaction(work))
    await started.wait()
    running.cancel()
    cancelled = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - cancelled < 0.5
    await asyncio.sleep(2 * limit_ms / 1000)


async def test_a_driver_is_closed_without_its_server_and_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, watchdog: LoopWatchdog
) -> None:
    await behind.transaction(lambda: behind.insert(things, [{"_id": 1}]))
    proxy.stall()
    started = time.monotonic()
    await behind.close()
    assert time.monotonic() - started < 3


# -- calls that are cancelled


def calls(driver: Driver, things: str) -> list[Callable[[], Awaitable[Any]]]:
    """One call of each kind."""

    async def changes() -> None:
        await driver.update_one(things, {"_id": random.randrange(50)}, {"$inc": {"n": 1}})
        await driver.find_one(things, {"_id": 1})

    async def reads() -> None:
        async for _ in driver.stream(things, {}, batch=10):
            pass

    return [
        lambda: driver.find(things, {}),
        lambda: driver.update_one(things, {"_id": random.randrange(50)}, {"$inc": {"n": 1}}),
        lambda: driver.count(things, {"n": 1}),
        lambda: driver.aggregate(things, []),
        lambda: driver.transaction(changes),
        reads,
    ]


async def at_once(driver: Driver) -> None:
    async with asyncio.timeout(AT_ONCE_SECONDS):
        await driver.command({"ping": 1})


async def test_calls_that_are_cancelled_in_any_phase_keep_no_connection(behind: Driver, things: str) -> None:
    await behind.insert(things, [{"_id": number, "n": 0} for number in range(50)])
    kinds, chance = calls(behind, things), random.Random(1)
    running: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(kinds[number % len(kinds)]()) for number in range(CALLS)
    ]

    async def cancel(task: asyncio.Future[Any]) -> None:
        await asyncio.sleep(chance.uniform(0, 0.3))
        for _ in range(3):  # as time limits do until a task has ended
            task.cancel()
            await asyncio.sleep(0)

    await asyncio.gather(*map(cancel, running))
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    assert {type(one) for one in outcomes if isinstance(one, BaseException)} == {asyncio.CancelledError}
    await at_once(behind)


async def test_calls_that_are_cancelled_while_the_server_hangs_keep_no_connection(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1, "n": 0}])
    proxy.stall()
    kinds = calls(behind, things)
    running = [asyncio.wait_for(kinds[number % len(kinds)](), 0.2) for number in range(CALLS)]
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    assert {type(one) for one in outcomes} == {TimeoutError}
    await proxy.up()

    async def replies() -> bool:
        with suppress(DatabaseUnavailable):  # a library may not have noticed yet that the server is back
            await behind.command({"ping": 1})
            return True
        return False

    await eventually(replies)
    await asyncio.gather(*(at_once(behind) for _ in range(20)))


async def test_a_call_of_a_transaction_that_is_cancelled_leaves_no_session(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1, "n": 0}])

    async def work() -> None:
        await behind.update_one(things, {"_id": 1}, {"$set": {"n": 1}})
        proxy.delay = 0.2
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await behind.update_one(things, {"_id": 1}, {"$set": {"n": 2}})
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await behind.transaction(work)
    proxy.delay = 0

    async def none_is_left() -> bool:
        return behind.open_sessions == []

    await eventually(none_is_left)
    async with asyncio.timeout(AT_ONCE_SECONDS):
        assert await behind.update_one(things, {"_id": 1}, {"$inc": {"n": 10}}) == {"_id": 1, "n": 10}
