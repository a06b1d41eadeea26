"""Failures that leave no cycle of objects: cycles wait for the garbage collector, and many of them make a long pause.

An exception refers to the frames that it passed through. A frame with the exception in a local variable is a cycle.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import cast
from weakref import ref

import pytest
from bson import Binary
from pymongo import MongoClient
from pymongo.errors import AutoReconnect, DuplicateKeyError, OperationFailure, ServerSelectionTimeoutError

from config.database import DatabaseUnavailable, Driver, wire_sessions
from config.database.detached_calls import DetachedCalls
from config.database.errors import translate_errors
from config.database.keyed_locks import WriteConflict
from config.database.libraries import Motor
from config.database.operations import MARGIN_SECONDS, Operations
from config.database.sessions import OpenSession
from config.database.wire_sessions import WireSession, WireSessions, _ServerSession
from config.time_limits import TimeLimit
from handlers.data.sync.cached_snapshot import RecordCache
from handlers.data.sync.single_flight import SingleFlight
from handlers.tasks import within
from plugins.testing import eventually
from tests.support.proxy import Proxy

pytestmark = pytest.mark.gen_test

_TAKEN = DuplicateKeyError("E11000", 11000, {"keyPattern": {"code": 1}, "keyValue": {"code": "a"}})


class Local:
    """A local variable of a frame; it lives as long as the frame does."""


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def collect() -> list[object]:
    """Return the objects that the garbage collector finds."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    garbage = [*gc.garbage]
    gc.garbage.clear()
    return garbage


async def frame_is_freed(call: Callable[[], Awaitable[object]]) -> bool:
    """Return whether a frame that awaits `call`, which fails, is freed at once."""
    locals_of_frame: list[ref[Local]] = []

    async def caller() -> None:
        local = Local()
        locals_of_frame.append(ref(local))
        await call()

    try:
        await caller()
    except Exception:
        await asyncio.sleep(0)  # futures call what waits for them
    else:
        pytest.fail("the call did not fail")
    await asyncio.sleep(0)
    return locals_of_frame[0]() is None


@pytest.mark.parametrize("error", [OperationFailure("stepped down", 189), _TAKEN], ids=["away", "duplicate"])
async def test_a_transaction_that_fails_leaves_no_cycle(driver: Driver, error: OperationFailure) -> None:
    async def work() -> None:
        with translate_errors:
            raise type(error)(str(error), error.code, error.details)

    assert await frame_is_freed(lambda: driver.transaction(work))


async def test_a_conflict_leaves_no_cycle(driver: Driver, things: str) -> None:
    attempts: list[ref[Local]] = []

    async def work() -> None:
        local = Local()
        attempts.append(ref(local))
        if len(attempts) == 1:
            raise WriteConflict((things, 1))

    await driver.transaction(work)
    assert [attempt() for attempt in attempts] == [None, None]


async def test_an_operation_that_fails_leaves_no_cycle() -> None:
    async def operation() -> None:
        with Operations(1.0)():
            raise OperationFailure("stepped down", 189)

    assert await frame_is_freed(operation)


async def test_an_operation_that_takes_too_long_leaves_no_cycle() -> None:
    locals_of_frame: list[ref[Local]] = []

    async def operation() -> None:
        local = Local()
        locals_of_frame.append(ref(local))
        with Operations(0.01 - MARGIN_SECONDS)():
            await asyncio.sleep(60)

    with suppress(DatabaseUnavailable):
        await operation()
    await asyncio.sleep(0)  # the callback that resumed this task ends
    assert locals_of_frame[0]() is None


async def test_a_call_of_motor_that_fails_after_its_caller_has_gone_leaves_no_cycle() -> None:
    locals_of_frame: list[ref[Local]] = []
    begun, gone = threading.Event(), threading.Event()

    class Cursor:
        def to_list(self, length: int | None) -> None:
            local = Local()
            locals_of_frame.append(ref(local))
            begun.set()
            gone.wait(10)
            error = OperationFailure("stepped down", 189)  # PyMongo too keeps its errors in local variables
            raise error

    call = Motor().to_list(SimpleNamespace(delegate=Cursor()))
    await asyncio.to_thread(begun.wait, 10)
    call.cancel()
    gone.set()

    async def is_freed() -> bool:
        return locals_of_frame[0]() is None

    await eventually(is_freed, seconds=3)


@pytest.mark.parametrize("end", ["commit_transaction", "abort_transaction"])
async def test_a_transaction_whose_end_has_no_reply_in_time_leaves_no_cycle(
    monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(wire_sessions, "_ABORT_SECONDS", MARGIN_SECONDS)
    locals_of_frame: list[ref[Local]] = []

    async def no_reply(*_: object) -> None:
        local = Local()
        locals_of_frame.append(ref(local))
        await asyncio.sleep(60)

    session = WireSession(cast(WireSessions, SimpleNamespace(send=no_reply, timeout_ms=0)), _ServerSession(Binary(b"")))
    await session.start_transaction()
    for call in (session.run({"insert": "things"}), getattr(session, end)()):
        await asyncio.gather(call, return_exceptions=True)  # in a task, which keeps its error
    await asyncio.sleep(0)
    assert [local() for local in locals_of_frame] == [None, None]


async def test_the_error_of_a_first_attempt_that_a_second_one_repeats_leaves_no_cycle() -> None:
    locals_of_frame: list[ref[Local]] = []

    def attempt_again(first: AutoReconnect) -> None:
        local = Local()
        locals_of_frame.append(ref(local))
        raise ServerSelectionTimeoutError("no primary")

    def call() -> None:
        first = AutoReconnect("refused")
        first.__cause__ = ConnectionRefusedError()
        try:
            attempt_again(first)
        except ServerSelectionTimeoutError:
            raise first  # noqa: B904 - PyMongo too raises it without `from`: what matters here is its context

    with suppress(DatabaseUnavailable), translate_errors:
        call()
    assert locals_of_frame[0]() is None


async def test_a_connection_that_is_refused_leaves_no_cycle(proxy: Proxy) -> None:
    await proxy.down()
    gc.collect()
    with MongoClient("127.0.0.1", proxy.port, serverSelectionTimeoutMS=500) as client:
        with suppress(ServerSelectionTimeoutError):
            await asyncio.to_thread(client.admin.command, "ping")
        garbage = collect()
    await proxy.up()
    # by its type: the garbage of others may be a proxy whose object is gone
    assert [left for left in garbage if issubclass(type(left), ConnectionRefusedError)] == []


async def fail() -> None:
    await asyncio.sleep(0)
    raise DatabaseUnavailable("away")


async def detached() -> object:
    return await DetachedCalls(1).run(fail())


async def of_a_session() -> object:
    return await OpenSession(object()).run(fail())


async def shared() -> object:
    return await SingleFlight().run("key", fail)


async def limited() -> object:
    return await within(TimeLimit(5), fail())


async def awaited_within_a_limit() -> object:
    async def work() -> None:
        await asyncio.create_task(fail())

    return await within(TimeLimit(5), work())


async def cached() -> object:
    return await RecordCache(lambda _: fail()).get("key")


@pytest.mark.parametrize("call", [detached, of_a_session, shared, limited, awaited_within_a_limit, cached])
async def test_a_task_that_fails_for_its_caller_leaves_no_cycle(call: Callable[[], Awaitable[object]]) -> None:
    assert await frame_is_freed(call)
