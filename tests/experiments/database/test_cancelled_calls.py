"""Calls whose callers are cancelled run on to their end, and no more of them than there are connections."""

import asyncio
import time
from typing import Any

import pytest

from config.database.detached_calls import DetachedCalls

pytestmark = pytest.mark.gen_test(timeout=20)
AT_ONCE_SECONDS = 1.0


async def test_a_cancelled_call_is_ended_before_the_next_of_its_session_begins() -> None:
    detached, session = DetachedCalls(5), set[asyncio.Future[Any]]()
    order = []

    async def call(name: str) -> str:
        order.append(f"{name} begins")
        await asyncio.sleep(0.05)
        order.append(f"{name} ends")
        return name

    first = asyncio.create_task(detached.run(call("first"), session))
    await asyncio.sleep(0)
    first.cancel()
    assert await detached.run(call("second"), session) == "second"
    assert first.cancelled()
    assert order == ["first begins", "first ends", "second begins", "second ends"]
    assert session == set()


async def test_no_more_calls_run_than_there_are_connections_and_waiting_ones_are_dropped() -> None:
    detached, begun, go_on = DetachedCalls(2), [], asyncio.Event()

    async def call(number: int) -> None:
        begun.append(number)
        await go_on.wait()

    running = [asyncio.create_task(detached.run(call(number))) for number in range(5)]
    await asyncio.sleep(0)
    started = time.monotonic()
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    assert time.monotonic() - started < AT_ONCE_SECONDS
    last = asyncio.create_task(detached.run(call(5)))
    await asyncio.sleep(0)
    assert begun == [0, 1]
    go_on.set()
    await last
    assert begun == [0, 1, 5]


async def test_the_error_of_a_call_is_its_callers() -> None:
    async def call() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await DetachedCalls(1).run(call())
