"""Failures that leave no cycle of objects: cycles wait for the garbage collector, and many of them make a long pause.

An exception refers to the frames that it passed through. A frame with the exception in a local variable is a cycle.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from weakref import ref

import pytest
from pymongo.errors import DuplicateKeyError, OperationFailure

from config.database import DatabaseUnavailable, Driver
from config.database.detached_calls import DetachedCalls
from config.database.errors import translate_errors
from config.database.keyed_locks import WriteConflict
from config.database.operations import Operations
from config.database.sessions import OpenSession
from handlers.data.single_flight import SingleFlight

pytestmark = pytest.mark.gen_test

_TAKEN = DuplicateKeyError("E11000", 11000, {"keyPattern": {"code": 1}, "keyValue": {"code": "a"}})


class Local:
    """A local variable of a frame; it lives as long as the frame does."""


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


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


async def fail() -> None:
    raise DatabaseUnavailable("away")


async def detached() -> object:
    return await DetachedCalls(1).run(fail())


async def of_a_session() -> object:
    return await OpenSession(object()).run(fail())


async def shared() -> object:
    return await SingleFlight().run("key", fail)


@pytest.mark.parametrize("call", [detached, of_a_session, shared])
async def test_a_task_that_fails_for_its_caller_leaves_no_cycle(call: Callable[[], Awaitable[object]]) -> None:
    assert await frame_is_freed(call)
