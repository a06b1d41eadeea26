"""A time limit ends what takes too long, tells it as TimeoutError, and leaves everything else alone."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest

from config.time_limits import TimeLimit

pytestmark = pytest.mark.gen_test
NEVER = 3600.0


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def waits(limit: TimeLimit, seconds: float) -> str:
    with limit():
        await asyncio.sleep(seconds)
    return "done"


async def test_work_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        await waits(TimeLimit(0.01), NEVER)


async def test_work_that_ends_in_time_is_left_alone() -> None:
    limit = TimeLimit(0.05)
    assert await waits(limit, 0) == "done"
    with pytest.raises(TimeoutError):
        await waits(limit, NEVER)  # the timer of the first is still there when the second begins


async def test_each_piece_counts_from_its_own_beginning() -> None:
    limit, clock = TimeLimit(0.2), asyncio.get_running_loop().time

    async def piece(before: float) -> float:
        await asyncio.sleep(before)
        begun = clock()
        with suppress(TimeoutError):
            await waits(limit, NEVER)
        return clock() - begun

    taken = await asyncio.gather(piece(0.1), piece(0))
    assert min(taken) > 0.19  # the timer of the first ends nobody else


async def test_a_task_that_is_cancelled_from_outside_is_cancelled() -> None:
    task = asyncio.create_task(waits(TimeLimit(NEVER), NEVER))
    await asyncio.sleep(0)  # it begins
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_that_is_cancelled_while_its_time_runs_out_is_cancelled() -> None:
    async def work() -> None:
        with TimeLimit(0.01)():
            try:
                await asyncio.sleep(NEVER)
            finally:
                this_task().cancel()  # somebody else wants the same

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def test_of_two_limits_that_end_at_once_the_outer_one_raises() -> None:
    raised = []

    async def inner() -> None:
        try:
            with TimeLimit(0.01)():
                time.sleep(0.02)  # both are due by the time that the loop looks
                await asyncio.sleep(NEVER)
        except BaseException as error:
            raised.append(type(error))
            raise

    with pytest.raises(TimeoutError), TimeLimit(0.01)():
        await inner()
    assert raised == [asyncio.CancelledError]
    assert this_task().cancelling() == 0


async def test_a_limit_within_a_longer_one_ends_alone() -> None:
    outer, inner = TimeLimit(NEVER), TimeLimit(0.01)
    with outer():
        with pytest.raises(TimeoutError):
            await waits(inner, NEVER)
        assert this_task().cancelling() == 0


async def test_a_longer_limit_around_a_shorter_one_ends_both() -> None:
    with pytest.raises(TimeoutError), TimeLimit(0.01)():
        await waits(TimeLimit(NEVER), NEVER)


async def test_an_error_of_the_block_is_raised_unchanged() -> None:
    with pytest.raises(ValueError, match="broken"), TimeLimit(NEVER)():
        raise ValueError("broken")
