"""What a request waits for in vain: the time of one operation for all of them together."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from pkgutil import resolve_name
from typing import Any

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

from config.database import MARGIN_SECONDS, DatabaseUnavailable, Driver, open_driver, share_deadline
from config.database.operations import SILENT_CODES, Operations
from config.database.transactions import Transactions
from handlers.data.sync.single_flight import SingleFlight
from tests.support.driver_fixtures import LIMIT_MS
from tests.support.proxy import Proxy

pytestmark = pytest.mark.gen_test(timeout=20)
LIMIT_SECONDS = LIMIT_MS / 1000 + MARGIN_SECONDS
SLACK_SECONDS = 0.7  # a busy machine, and the attempt to abort a transaction


def in_a_request(work: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any]:
    """Run `work` as a request of its own."""

    async def run() -> Any:
        share_deadline()
        return await work()

    return asyncio.get_running_loop().create_task(run(), context=Context())


async def went(work: Callable[[], Awaitable[Any]]) -> tuple[float, BaseException | None]:
    """How long `work` took as a request, in seconds, and what it raised."""
    started = time.monotonic()
    (outcome,) = await asyncio.gather(in_a_request(work), return_exceptions=True)
    return time.monotonic() - started, outcome if isinstance(outcome, BaseException) else None


async def seconds_of_requests(behind: Driver, things: str) -> list[float]:
    """Let requests ask the server for everything in vain, each in another order; return how long each of them took."""
    operations: tuple[Callable[[], Awaitable[Any]], ...] = (
        lambda: behind.insert(things, [{"n": 1}]),
        lambda: behind.insert(things, [{"_id": 1}]),
        lambda: behind.find(things, {}, limit=5),
        lambda: behind.find_by_id(things, 1),
        lambda: behind.update_one(things, {"_id": 1}, {"$set": {"n": 1}}),
        lambda: behind.count(things, {"n": 1}),
        lambda: behind.aggregate(things, []),
        lambda: behind.transaction(lambda: behind.insert(things, [{"n": 1}])),
    )

    async def ask_all(first: Callable[[], Awaitable[Any]]) -> None:
        for operation in (first, *operations):
            with pytest.raises(DatabaseUnavailable):
                await operation()

    ended = await asyncio.gather(*(went(lambda first=first: ask_all(first)) for first in operations))
    assert [error for _, error in ended] == [None] * len(operations)
    return [took for took, _ in ended]


@pytest.mark.parametrize("limit_ms", [1500])
async def test_a_request_that_keeps_on_asking_waits_once(
    behind: Driver, proxy: Proxy, things: str, limit_ms: int
) -> None:
    await behind.insert(things, [{"_id": 0}])
    proxy.stall()
    assert max(await seconds_of_requests(behind, things)) < 2 * limit_ms / 1000


async def test_a_reply_gives_the_next_operation_its_own_time_limit(behind: Driver, proxy: Proxy, things: str) -> None:
    await behind.insert(things, [{"_id": 0, "n": 0}])

    async def work() -> float:
        asyncio.get_running_loop().call_later(LIMIT_MS / 2000, lambda: in_a_request(proxy.up))
        proxy.stall()
        assert await behind.update_one(things, {"_id": 0}, {"$inc": {"n": 1}})
        proxy.stall()
        started = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            await behind.update_one(things, {"_id": 0}, {"$inc": {"n": 1}})
        return time.monotonic() - started

    assert await in_a_request(work) > LIMIT_MS / 1000 - 0.1


async def test_a_reply_after_a_failure_gives_a_request_no_more_time() -> None:
    operations = Operations(1)
    share_deadline()
    with pytest.raises(DatabaseUnavailable), operations():
        raise AutoReconnect("connection closed")
    assert operations.left_seconds() == operations.seconds
    with operations():
        await asyncio.sleep(0.6)
    assert operations.left_seconds() == pytest.approx(1.2 * operations.seconds - 0.6, abs=0.15)


async def test_what_a_request_waited_for_the_database_shortens_its_wait_for_other_transactions() -> None:
    operations = Operations(5)
    share_deadline()
    began = time.monotonic()
    assert operations.end_of_conflicts() - began == pytest.approx(1.2 * operations.seconds, abs=0.2)
    with suppress(DatabaseUnavailable), operations():
        await asyncio.sleep(0.5)
        raise AutoReconnect("connection closed")
    with operations():
        pass
    assert operations.end_of_conflicts() - began == pytest.approx(1.2 * operations.seconds, abs=0.2)


async def test_a_transaction_that_gets_no_session_spends_what_remains_of_the_time_limit() -> None:
    operations = Operations(LIMIT_MS / 1000)

    async def never(*_: object) -> Any:
        await asyncio.Event().wait()

    transactions = Transactions(operations, never, never, never)

    async def ask_twice() -> None:
        with pytest.raises(DatabaseUnavailable), operations():
            await never()
        with pytest.raises(DatabaseUnavailable):
            await transactions.run(never)

    took, error = await went(ask_twice)
    assert error is None
    assert took < LIMIT_SECONDS + SLACK_SECONDS


async def test_a_caller_that_waited_for_another_without_a_reply_does_not_wait_as_long_again() -> None:
    operations, shared = Operations(0.3), SingleFlight()
    share_deadline(operations)

    async def silent() -> None:
        with operations():
            await asyncio.sleep(5)

    started = time.monotonic()
    outcomes = await asyncio.gather(*(shared.run("key", silent) for _ in range(5)), return_exceptions=True)
    assert {type(one) for one in outcomes} == {DatabaseUnavailable}
    assert time.monotonic() - started < 1.5 * operations.seconds


@pytest.mark.parametrize(
    ("error", "silent"),
    [
        (TimeoutError(), True),
        (OperationFailure("no primary", 10107), True),
        (OperationFailure("conflict", 112), False),
        (OperationFailure("killed", 175), False),
    ],
)
async def test_only_an_error_without_a_reply_counts_as_silence(error: Exception, silent: bool) -> None:
    operations = Operations(1)
    with suppress(DatabaseUnavailable), operations():
        raise error
    assert bool(operations.last_failure) is silent


def test_every_silent_code_is_a_state() -> None:
    from config.database import AWAY_CODES

    assert SILENT_CODES <= AWAY_CODES


@pytest.mark.parametrize(
    ("driver_name", "cursor"),
    [("motor", "motor.motor_asyncio.AsyncIOMotorCursor"), ("pymongo", "pymongo.asynchronous.cursor.AsyncCursor")],
)
@pytest.mark.parametrize(("code", "repeated"), [(175, True), (43, True), (112, False)])
async def test_a_list_whose_cursor_was_killed_is_read_once_more(
    driver_name: str,
    cursor: str,
    code: int,
    repeated: bool,
    mongodb_uri: str,
    database_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver, failures = open_driver(driver_name, mongodb_uri, database_name, 5000), [code]
    to_list = resolve_name(f"{cursor}.to_list")
    collection = f"things_{driver_name}_{code}"

    def killed(self: Any, length: int | None = None) -> Any:
        if failures:
            raise OperationFailure("killed", failures.pop())
        return to_list(self, length)

    try:
        await driver.insert(collection, [{"_id": number} for number in range(700)])
        monkeypatch.setattr(f"{cursor}.to_list", killed)
        reading = driver.find(collection, {}, sort=[("_id", -1)], limit=600)
        if repeated:
            assert [row["_id"] for row in await reading] == list(range(699, 99, -1))
        else:
            with pytest.raises(DatabaseUnavailable):
                await reading
    finally:
        await driver.close()
