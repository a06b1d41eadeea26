"""The interface `Driver`: every implementation keeps the same contract."""

import asyncio
import gc
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from pymongo.errors import BulkWriteError, OperationFailure, WriteConcernError, WriteError
from tornado.ioloop import IOLoop

from config.database import (
    AWAY_CODES,
    DRIVERS,
    Change,
    DatabaseRefused,
    DatabaseUnavailable,
    Driver,
    DuplicateKey,
    IndexSpec,
    differences,
    open_driver,
    translate_errors,
)
from handlers.tasks import end
from plugins.testing import eventually

pytestmark = [
    pytest.mark.gen_test,
    # PyMongo leaves a socket open when it is closed while it connects
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def left_sockets(io_loop: IOLoop) -> Iterator[None]:
    """Report what PyMongo leaves open here and not in another test."""
    yield
    io_loop.run_sync(lambda: asyncio.sleep(0))
    gc.collect()


class Refused(Exception):
    """What a test gives a transaction up with."""


async def fill(driver: Driver, things: str, count: int) -> None:
    await driver.insert(things, [{"_id": n, "even": n % 2 == 0} for n in range(count)])


async def ids(driver: Driver, things: str, filter: dict[str, Any] | None = None) -> list[Any]:
    return [row["_id"] for row in await driver.find(things, filter or {}, sort=[("_id", 1)])]


async def index_names(driver: Driver, things: str) -> set[str]:
    return {index["name"] for index in await driver.list_indexes(things)}


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


async def test_find_one_returns_none_where_nothing_matches(driver: Driver, things: str) -> None:
    assert await driver.find_one(things, {}) is None


async def test_find_one_takes_the_first_in_order(driver: Driver, things: str) -> None:
    await fill(driver, things, 3)
    assert await driver.find_one(things, {}, sort=[("_id", -1)]) == {"_id": 2, "even": True}


async def test_a_stream_passes_over_every_batch(driver: Driver, things: str) -> None:
    await fill(driver, things, 25)
    assert [row["_id"] async for row in driver.stream(things, {}, sort=[("_id", 1)], batch=10)] == list(range(25))


async def test_count_counts_what_matches(driver: Driver, things: str) -> None:
    await fill(driver, things, 5)
    assert (await driver.count(things, {}), await driver.count(things, {"even": True})) == (5, 3)


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


async def test_insert_missing_raises_duplicate_key_for_another_unique_key(driver: Driver, things: str) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("code", (("code", 1),), unique=True)])
    await driver.insert(things, [{"_id": 1, "code": "a"}])
    with pytest.raises(DuplicateKey):
        await driver.insert_missing(things, [{"_id": 2, "code": "a"}])


async def test_insert_missing_leaves_what_is_there(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "by": "first"}])
    await driver.insert_missing(things, [{"_id": 1, "by": "second"}, {"_id": 2, "by": "second"}])
    assert await driver.find(things, {}, sort=[("_id", 1)]) == [{"_id": 1, "by": "first"}, {"_id": 2, "by": "second"}]


async def test_update_one_returns_the_new_state_of_the_document(driver: Driver, things: str) -> None:
    await fill(driver, things, 2)
    assert await driver.update_one(things, {"_id": 1}, {"$set": {"even": "no"}}) == {"_id": 1, "even": "no"}
    assert await driver.update_one(things, {"_id": 9}, {"$set": {"even": "no"}}) is None


async def test_update_one_takes_a_pipeline(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "a": 2}])
    changed = await driver.update_one(things, {"_id": 1}, [{"$set": {"b": {"$multiply": ["$a", 3]}}}])
    assert changed == {"_id": 1, "a": 2, "b": 6}


async def test_update_one_makes_what_is_missing_when_it_may(driver: Driver, things: str) -> None:
    assert await driver.update_one(things, {"_id": 1}, {"$inc": {"n": 1}}, upsert=True) == {"_id": 1, "n": 1}


async def test_update_many_and_delete_many_say_how_many(driver: Driver, things: str) -> None:
    await fill(driver, things, 5)
    assert await driver.update_many(things, {"even": True}, {"$set": {"even": False}}) == 3
    assert await driver.delete_many(things, {"_id": {"$gte": 3}}) == 2
    assert await ids(driver, things) == [0, 1, 2]


@pytest.mark.parametrize("scan", [False, True])
async def test_aggregate_returns_every_row(scan: bool, driver: Driver, things: str) -> None:
    await fill(driver, things, 250)
    rows = await driver.aggregate(things, [{"$match": {"even": True}}, {"$sort": {"_id": 1}}], collection_scan=scan)
    assert [row["_id"] for row in rows] == list(range(0, 250, 2))


async def test_indexes_that_equal_their_declaration_are_distinguished_from_others(driver: Driver, things: str) -> None:
    first, second = IndexSpec("a", (("a", 1),), unique=True), IndexSpec("b", (("b", -1),))
    assert await driver.has_indexes(things, [])  # no collection, no index
    assert not await driver.has_indexes(things, [first])
    await driver.synchronise_indexes(things, [first])
    assert await driver.has_indexes(things, [first])
    for others in ([], [second], [first, second], [IndexSpec("a", (("a", 1),))], [IndexSpec("c", (("a", 1),))]):
        assert not await driver.has_indexes(things, others)


async def test_indexes_become_what_is_declared(driver: Driver, things: str) -> None:
    first, second = IndexSpec("a", (("a", 1),)), IndexSpec("b", (("b", -1),), expire_seconds=60)
    await driver.synchronise_indexes(things, [first])
    await driver.synchronise_indexes(things, [second])
    assert await index_names(driver, things) == {"_id_", "b"}


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        (IndexSpec("a", (("a", -1),)), "keys"),
        (IndexSpec("a", (("a", 1),), unique=True), "uniqueness"),
        (IndexSpec("a", (("a", 1),), partial={"b": {"$gte": float("-inf")}}), "covered documents"),
        (IndexSpec("a", (("a", 1),), expire_seconds=60), "time to live"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_index_whose_declaration_changed_is_replaced_once(
    driver: Driver, things: str, changed: IndexSpec, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("a", (("a", 1),))])
    for _ in range(2):  # the second finds it as it is declared
        await driver.synchronise_indexes(things, [changed])
    listed = await driver.command({"listIndexes": things})
    (there,) = [index for index in listed["cursor"]["firstBatch"] if index["name"] != "_id_"]
    assert differences(changed, there) == []
    assert await driver.has_indexes(things, [changed])
    (logged,) = [record for record in caplog.records if record.message == "index replaced"]
    assert vars(logged).items() >= {"collection": things, "index": "a", "differed_in": [part]}.items()


async def test_an_index_may_be_declared_otherwise_again_and_again(driver: Driver, things: str) -> None:
    for partial in ({"b": 1}, {"b": 2}, None, {"b": 1}):
        spec = IndexSpec("a", (("a", 1),), unique=True, partial=partial)
        await driver.synchronise_indexes(things, [spec])
        assert await driver.has_indexes(things, [spec])
        assert len(await index_names(driver, things)) == 2
    for seconds in (60, 90, None):
        spec = IndexSpec("a", (("a", 1),), expire_seconds=seconds)
        await driver.synchronise_indexes(things, [spec])
        assert await driver.has_indexes(things, [spec])


async def test_an_index_that_cannot_be_made_leaves_the_old_one(driver: Driver, things: str) -> None:
    old, new = IndexSpec("a", (("a", 1), ("b", 1)), unique=True), IndexSpec("a", (("a", 1),), unique=True)
    await driver.synchronise_indexes(things, [old])
    await driver.insert(things, [{"_id": n, "a": 1, "b": n} for n in range(2)])
    with pytest.raises(DuplicateKey):
        await driver.synchronise_indexes(things, [new])
    assert await driver.has_indexes(things, [old])


async def test_a_key_stays_unique_while_its_index_is_made_anew(driver: Driver, things: str) -> None:
    def declared(partial: dict[str, Any]) -> IndexSpec:
        return IndexSpec("a", (("a", 1),), unique=True, partial=partial)

    await driver.synchronise_indexes(things, [declared({"live": True})])
    await driver.insert(things, [{"_id": n, "a": n, "live": True, "kind": 1} for n in range(5000)])
    changing = asyncio.ensure_future(driver.synchronise_indexes(things, [declared({"kind": 1})]))
    attempts = 0
    while not changing.done() or not attempts:
        attempts += 1
        with pytest.raises(DuplicateKey):
            await driver.insert(things, [{"_id": -attempts, "a": 1, "live": True, "kind": 1}])
    await changing
    assert await driver.has_indexes(things, [declared({"kind": 1})])


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


async def test_an_aggregation_in_a_transaction_sees_its_writes_and_returns_every_row(
    driver: Driver, things: str
) -> None:
    at, text = datetime(2026, 11, 23, 21, 30, tzinfo=UTC), "x" * 1000
    await driver.insert(things, [{"_id": number, "at": at, "text": text} for number in range(20_000)])

    async def work() -> list[Any]:
        await driver.update_one(things, {"_id": 0}, {"$set": {"text": "changed"}})
        return await driver.aggregate(things, [{"$sort": {"_id": 1}}])

    rows = await driver.transaction(work)
    assert [row["_id"] for row in rows] == list(range(20_000))
    assert (rows[0]["text"], rows[0]["at"], rows[-1]["at"]) == ("changed", at, at)


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
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        found = await driver.find_one(things, {"_id": 1})
        assert found is not None
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


async def test_watch_reports_every_change_after_it_began(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 0}])
    async with seen(driver, things) as changes:
        await driver.insert(things, [{"_id": 1}])
        await driver.update_one(things, {"_id": 0}, {"$set": {"a": 1}})
        await driver.delete_many(things, {"_id": 1})
        results = [await asyncio.wait_for(changes.get(), 3) for _ in range(3)]
    assert results == [Change(things, 1), Change(things, 0), Change(things, 1)]


async def test_watch_does_not_wait_for_a_change(driver: Driver, things: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.database.library_driver._WATCH_WAIT_MS", 60_000)
    async with asyncio.timeout(1.5), driver.watch([things]):  # a silence of two seconds would end the wait too
        pass


async def test_watch_reports_the_named_collections_only(driver: Driver, things: str) -> None:
    async with seen(driver, things) as changes:
        await driver.insert(f"{things}_other", [{"_id": 1}])
        await driver.insert(things, [{"_id": 2}])
        assert await asyncio.wait_for(changes.get(), 3) == Change(things, 2)


async def test_a_quiet_stream_goes_on(driver: Driver, things: str) -> None:
    async with seen(driver, things) as changes:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(changes.get(), 0.8)
        await driver.insert(things, [{"_id": 1}])
        assert await asyncio.wait_for(changes.get(), 3) == Change(things, 1)


async def test_a_command_returns_its_reply(driver: Driver) -> None:
    assert (await driver.command({"ping": 1}))["ok"] == 1


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


@pytest.mark.parametrize("name", sorted(DRIVERS))
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_server_that_is_not_there_is_unavailable_within_the_time_limit(name: str, operation: str) -> None:
    async with opened(name, NOWHERE, 300) as driver:
        started = asyncio.get_running_loop().time()
        with pytest.raises(DatabaseUnavailable):
            await OPERATIONS[operation](driver)
        assert asyncio.get_running_loop().time() - started < 0.3 + 1


@pytest.mark.parametrize("name", sorted(DRIVERS))
async def test_a_server_that_is_too_slow_is_unavailable(name: str, mongodb_uri: str) -> None:
    async with opened(name, mongodb_uri, 1000) as driver:
        await driver.insert("things", [{"_id": 1}])
        with pytest.raises(DatabaseUnavailable):
            await driver.find("things", {"$where": "sleep(2000) || true"})


@pytest.mark.parametrize("name", sorted(DRIVERS))
@pytest.mark.parametrize("uri", ["http://127.0.0.1/", "mongodb://", "mongodb://127.0.0.1:99999/"])
def test_an_address_that_is_none_is_refused_in_words(name: str, uri: str) -> None:
    with pytest.raises(ValueError, match="TRADEWIND_MONGODB_URI"):
        open_driver(name, uri, "nothing", 300)


@pytest.mark.parametrize("name", sorted(DRIVERS))
async def test_a_wrong_password_is_reported_without_the_password(name: str, mongodb_uri: str) -> None:
    password = mongodb_uri.partition("@")[0].rpartition(":")[2]
    async with opened(name, mongodb_uri.replace("@", "x@", 1), 2000) as driver:
        with pytest.raises(DatabaseRefused, match=r"(?i)auth") as error:
            await driver.command({"ping": 1})
    assert password not in str(error.value)


@pytest.mark.parametrize("code", sorted(AWAY_CODES))
def test_a_state_of_the_server_is_no_fault_of_a_command(code: int) -> None:
    for error in (OperationFailure("state", code), WriteConcernError("state", code), WriteError("state", code)):
        with pytest.raises(DatabaseUnavailable), translate_errors:
            raise error


@pytest.mark.parametrize("code", [64, 79, 100, 12345])
def test_a_write_that_nobody_knows_to_be_durable_is_no_fault_of_a_command(code: int) -> None:
    bulk = {"writeErrors": [], "writeConcernErrors": [{"code": code, "errmsg": "waiting"}], "nInserted": 2}
    for error in (WriteConcernError("waiting", code), BulkWriteError(bulk)):
        with pytest.raises(DatabaseUnavailable), translate_errors:
            raise error


def test_writes_that_a_state_of_the_server_kept_back_are_no_fault_of_a_command() -> None:
    with pytest.raises(DatabaseUnavailable), translate_errors:
        raise BulkWriteError({"writeErrors": [{"index": 1, "code": 11602, "errmsg": "state"}], "nInserted": 1})


@pytest.mark.parametrize("code", [2, 9, 17, 40, 66, 72])
def test_a_fault_of_a_command_stays_one(code: int) -> None:
    with pytest.raises(OperationFailure), translate_errors:
        raise OperationFailure("fault", code)
