"""Transactions of every driver: what is large, what the server refuses, and what becomes of their sessions."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from config.database import DRIVERS, DatabaseUnavailable, Driver, begin_waiting, open_driver
from config.database.wire import WirePool
from scripts.fault_injection.processes import ReplicaSet

pytestmark = pytest.mark.gen_test(timeout=60)
LIMIT_MS = 2000
LATE_SECONDS = LIMIT_MS / 1000 + 1.5
DRIVER_NAMES = pytest.mark.parametrize("driver_name", sorted(DRIVERS))


def hurt_commits(server: ReplicaSet, mode: str | Mapping[str, int], **fault: Any) -> None:
    """Let the server hurt commits from now on."""
    with server.client(server.ports[0]) as client:
        data = {"failCommands": ["commitTransaction"], **fault}
        client.admin.command({"configureFailPoint": "failCommand", "mode": mode, "data": data})


@contextmanager
def commits(server: ReplicaSet, mode: str | Mapping[str, int], **fault: Any) -> Iterator[None]:
    """The server hurts commits while the block runs."""
    hurt_commits(server, mode, **fault)
    try:
        yield
    finally:
        hurt_commits(server, "off")


@DRIVER_NAMES
@pytest.mark.parametrize("code", [91, 189, 11600])
async def test_a_commit_that_is_always_refused_ends_with_the_time_limit(
    driver_name: str, code: int, failing: ReplicaSet, things: str
) -> None:
    driver = open_driver(driver_name, failing.uri, "refused", LIMIT_MS)
    await driver.insert(things, [{"_id": 0}])
    begin_waiting()
    with commits(failing, "alwaysOn", errorCode=code):
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            await driver.transaction(lambda: driver.insert(things, [{"_id": 1}]))
        assert time.monotonic() - began < LATE_SECONDS
    await driver.close()


@DRIVER_NAMES
async def test_a_commit_that_hangs_and_is_never_executed_blocks_its_documents_for_seconds_only(
    driver_name: str, failing: ReplicaSet, things: str
) -> None:
    driver = open_driver(driver_name, failing.uri, "hanging", LIMIT_MS)
    await driver.insert(things, [{"_id": 0}])
    change = partial(driver.update_one, things, {"_id": 0}, {"$inc": {"n": 1}})
    # not switched off: the server would wait for what hangs
    hurt_commits(failing, {"times": 1}, blockConnection=True, blockTimeMS=LIMIT_MS + 1000)
    assert await went_wrong(driver, change)
    began = time.monotonic()
    while await went_wrong(driver, change):
        assert time.monotonic() - began < LATE_SECONDS + 1
    await driver.close()


async def went_wrong(driver: Driver, work: Callable[[], Awaitable[Any]]) -> bool:
    """Whether a transaction, as a request of its own, found the database away."""
    begin_waiting()
    try:
        await driver.transaction(work)
    except DatabaseUnavailable:
        return True
    return False


# the libraries wait seconds for news of a server that says that it ends
@pytest.mark.parametrize(
    ("driver_name", "fault"),
    [("direct", {"errorCode": 11600}), *((name, {"closeConnection": True}) for name in sorted(DRIVERS))],
)
async def test_a_commit_without_a_known_outcome_is_asked_for_again(
    driver_name: str, fault: Mapping[str, Any], failing: ReplicaSet, things: str
) -> None:
    driver, runs = open_driver(driver_name, failing.uri, "doubtful", LIMIT_MS), 0
    await driver.insert(things, [{"_id": 0}])

    async def work() -> None:
        nonlocal runs
        runs += 1
        await driver.update_one(things, {"_id": 0}, {"$inc": {"n": 1}})

    with commits(failing, {"times": 1}, **fault):
        await driver.transaction(work)
    assert (await driver.find_by_id(things, 0), runs) == ({"_id": 0, "n": 1}, 1)
    await driver.close()


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


async def test_transactions_use_a_session_again(
    mongodb_uri: str, database_name: str, things: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bytes, int]] = []
    run = WirePool.run

    async def noted(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = (), *more: Any) -> Any:
        if "startTransaction" in command:
            seen.append((bytes(command["lsid"]["id"]), command["txnNumber"]))
        return await run(pool, command, documents, *more)

    monkeypatch.setattr(WirePool, "run", noted)
    driver = open_driver("direct", mongodb_uri, database_name, LIMIT_MS)
    for number in range(3):
        await driver.transaction(partial(driver.insert, things, [{"_id": number}]))
    assert [number for _, number in seen] == [1, 2, 3]
    assert len({session for session, _ in seen}) == 1
    assert driver.open_sessions == []
    await driver.close()
