"""Copies in memory under races: loads are held back and let go by hand."""

import asyncio
from typing import Any

import pytest

from handlers.data.sync.cached_snapshot import CachedSnapshot, RecordCache

pytestmark = pytest.mark.gen_test


class Source:
    """What is loaded: each load waits until the test completes it."""

    def __init__(self) -> None:
        self.loads: list[asyncio.Future[Any]] = []

    async def load(self, _key: Any = None) -> Any:
        self.loads.append(asyncio.get_running_loop().create_future())
        return await self.loads[-1]


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def reading(what: Any) -> asyncio.Task[Any]:
    return asyncio.ensure_future(what)


async def test_a_value_is_loaded_once_for_all_callers() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    readers = [reading(mirror.current()) for _ in range(5)]
    await settle()
    source.loads[0].set_result("a")
    assert await asyncio.gather(*readers) == ["a"] * 5
    assert await mirror.current() == "a"
    assert len(source.loads) == 1


async def test_after_a_change_the_next_reader_loads_again() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    for number, value in enumerate("abc"):
        reader = reading(mirror.current())
        await settle()
        source.loads[number].set_result(value)
        assert await reader == value
        mirror.invalidate()


async def test_a_change_during_a_load_reaches_later_callers() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    early = reading(mirror.current())
    await settle()
    mirror.invalidate()
    late = reading(mirror.current())
    await settle()
    source.loads[0].set_result("old")
    assert await early == "old"
    await settle()
    source.loads[1].set_result("new")
    assert await late == "new"


async def test_a_load_that_fails_fails_for_all_waiting_callers() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    readers = [reading(mirror.current()) for _ in range(5)]
    await settle()
    source.loads[0].set_exception(ConnectionError("away"))
    ended = await asyncio.gather(*readers, return_exceptions=True)
    assert [type(end) for end in ended] == [ConnectionError] * 5
    assert len(source.loads) == 1


async def test_after_a_load_that_failed_the_next_reader_tries_again() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    first = reading(mirror.current())
    await settle()
    source.loads[0].set_exception(ConnectionError("away"))
    await asyncio.wait([first])
    second = reading(mirror.current())
    await settle()
    source.loads[1].set_result("back")
    assert await second == "back"
    assert isinstance(first.exception(), ConnectionError)


async def test_a_cancelled_reader_does_not_cancel_the_others() -> None:
    source = Source()
    mirror: CachedSnapshot[str] = CachedSnapshot(source.load)
    leaving, staying = reading(mirror.current()), reading(mirror.current())
    await settle()
    leaving.cancel()
    await settle()
    source.loads[0].set_result("a")
    assert await staying == "a"


async def test_a_value_may_be_none() -> None:
    source = Source()
    mirror: CachedSnapshot[None] = CachedSnapshot(source.load)
    reader = reading(mirror.current())
    await settle()
    source.loads[0].set_result(None)
    assert await reader is None
    assert await mirror.current() is None
    assert len(source.loads) == 1


async def test_a_record_is_loaded_once_and_kept() -> None:
    source = Source()
    cache: RecordCache[int, str] = RecordCache(source.load)
    readers = [reading(cache.get(1)) for _ in range(5)]
    await settle()
    source.loads[0].set_result("a")
    assert await asyncio.gather(*readers) == ["a"] * 5
    assert await cache.get(1) == "a"
    assert len(source.loads) == 1


@pytest.mark.parametrize("key", [1, None])
async def test_a_record_that_changed_while_it_was_loaded_is_not_kept(key: int | None) -> None:
    source = Source()
    cache: RecordCache[int, str] = RecordCache(source.load)
    early = reading(cache.get(1))
    await settle()
    cache.invalidate(key)
    late = reading(cache.get(1))
    await settle()
    source.loads[1].set_result("new")
    assert await late == "new"
    source.loads[0].set_result("old")
    assert await early == "old"
    assert await cache.get(1) == "new"


async def test_a_change_of_one_record_leaves_the_others() -> None:
    source = Source()
    cache: RecordCache[int, str] = RecordCache(source.load)
    for number, key in enumerate((1, 2)):
        reader = reading(cache.get(key))
        await settle()
        source.loads[number].set_result("kept")
        await reader
    cache.invalidate(1)
    assert await cache.get(2) == "kept"
    assert len(source.loads) == 2


async def test_a_record_that_is_not_there_is_looked_for_again() -> None:
    source = Source()
    cache: RecordCache[int, str] = RecordCache(source.load)
    for number, value in enumerate((None, "made meanwhile")):
        reader = reading(cache.get(1))
        await settle()
        source.loads[number].set_result(value)
        assert await reader == value


async def test_a_cache_keeps_no_more_than_its_size() -> None:
    loaded: list[int] = []

    async def load(key: int) -> int:
        loaded.append(key)
        return key

    cache: RecordCache[int, int] = RecordCache(load, size=3)
    for key in (1, 2, 3, 4, 4, 1):
        await cache.get(key)
    assert loaded == [1, 2, 3, 4, 1]
