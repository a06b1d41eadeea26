"""Calls of a server that is away leave hardly any garbage, which would wait for the garbage collector."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from config.database import Driver
from tests.support.proxy import Proxy
from tests.system.config.test_garbage import collect, no_garbage_collector

__all__ = ["no_garbage_collector"]
pytestmark = pytest.mark.gen_test
MANY = 50


@pytest.mark.gen_test(timeout=20)
@pytest.mark.parametrize("driver_name", ["direct", "motor"])
@pytest.mark.parametrize("operation", ["find", "insert", "transaction"])
async def test_calls_of_a_server_that_is_away_leave_hardly_any_garbage(
    behind: Driver, proxy: Proxy, things: str, operation: str
) -> None:
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "find": lambda: behind.find(things, {}),
        "insert": lambda: behind.insert(things, [{"_id": 1}]),
        "transaction": lambda: behind.transaction(calls["insert"]),
    }
    await behind.insert(things, [{"_id": 0}])
    await proxy.down()
    await asyncio.gather(*(calls[operation]() for _ in range(MANY)), return_exceptions=True)
    gc.collect()
    await asyncio.gather(*(calls[operation]() for _ in range(MANY)), return_exceptions=True)
    garbage = collect()
    # a call had fifty or more
    assert len(garbage) < 3 * MANY, Counter(getattr(left, "f_code", type(left)) for left in garbage).most_common(20)
