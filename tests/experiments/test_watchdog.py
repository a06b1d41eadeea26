"""The watchdog of the event loop finds what blocks it, and ignores a slow machine."""

import asyncio
import threading
import time

import pytest
from tornado.ioloop import IOLoop

from tests.support.watchdog import LoopWatchdog

pytestmark = pytest.mark.gen_test


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def test_a_call_that_waits_is_reported_with_its_place(io_loop: IOLoop) -> None:
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        await asyncio.sleep(0.05)
        time.sleep(0.4)
        await asyncio.sleep(0.05)
    (block,) = watchdog.blocks
    assert not block.busy
    assert block.seconds > 0.25
    assert "test_a_call_that_waits_is_reported_with_its_place" in block.stack


async def test_a_computation_is_reported_with_its_place(io_loop: IOLoop) -> None:
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        await asyncio.sleep(0.05)
        compute(0.4)
        await asyncio.sleep(0.05)
    (block,) = watchdog.blocks
    assert block.busy
    assert "in compute" in block.stack


async def test_what_waits_without_blocking_is_no_block(io_loop: IOLoop) -> None:
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        await asyncio.gather(asyncio.sleep(0.4), asyncio.to_thread(time.sleep, 0.4))
    assert watchdog.blocks == []


async def test_short_pieces_of_work_are_no_block(io_loop: IOLoop) -> None:
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        for _ in range(20):
            compute(0.02)
            await asyncio.sleep(0)
    assert watchdog.blocks == []


async def test_a_pause_is_not_counted(io_loop: IOLoop) -> None:
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        with watchdog.paused():
            compute(0.3)
        await asyncio.sleep(0.05)
    assert watchdog.blocks == []


def test_a_loop_that_does_not_run_is_not_blocked() -> None:
    loop = IOLoop(make_current=False)
    with LoopWatchdog(loop.asyncio_loop) as watchdog:
        loop.run_sync(lambda: asyncio.sleep(0.05))
        time.sleep(0.3)
        loop.run_sync(lambda: asyncio.sleep(0.05))
    loop.close()
    assert watchdog.blocks == []


async def test_threads_that_take_the_interpreter_block_nobody(io_loop: IOLoop) -> None:
    threads = [threading.Thread(target=compute, args=(0.3,)) for _ in range(3)]
    with LoopWatchdog(io_loop.asyncio_loop) as watchdog:
        for thread in threads:
            thread.start()
        for _ in range(100):
            compute(0.001)
            await asyncio.sleep(0.005)
    for thread in threads:
        thread.join()
    assert watchdog.blocks == []
