"""Background tasks end when they are asked to, even when they do not hear it the first time."""

import asyncio
import contextlib

import pytest

from handlers.tasks import end

pytestmark = pytest.mark.gen_test


async def test_a_task_that_waits_ends_at_once() -> None:
    task = asyncio.create_task(asyncio.sleep(60))
    await end([task])
    assert task.cancelled()


async def test_a_task_that_loses_the_first_request_is_asked_again() -> None:
    async def deaf() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        await asyncio.sleep(60)

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)  # it begins
    await end([task])
    assert task.cancelled()


async def test_a_task_that_never_ends_is_given_up() -> None:
    released = asyncio.Event()

    async def stubborn() -> None:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)  # it begins
    await end([task], seconds=0.3)
    assert not task.done()
    released.set()
    await task


async def test_no_tasks_are_ended_at_once() -> None:
    await end([])
