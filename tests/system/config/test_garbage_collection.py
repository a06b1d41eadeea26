"""While calls of the database fail, garbage is collected in small steps, and afterwards as before."""

import gc
from collections.abc import Iterator

import pytest

from config import garbage_collection
from config.database import DatabaseUnavailable, Driver
from plugins.testing import eventually
from tests.support.proxy import Proxy

pytestmark = pytest.mark.gen_test(timeout=20)
USUAL = 10_000  # objects


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(USUAL)
    monkeypatch.setattr(garbage_collection, "_collect_after", USUAL)
    monkeypatch.setattr(garbage_collection, "_FAILURE_SECONDS", 0.3)
    yield
    gc.set_threshold(*before)


async def collects_as_usual() -> bool:
    return gc.get_threshold()[0] == USUAL


@pytest.mark.parametrize("driver_name", ["direct"])  # Motor always collects in small steps
async def test_garbage_is_collected_sooner_until_a_while_after_a_failure(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1}])
    proxy.stall()
    with pytest.raises(DatabaseUnavailable):
        await behind.find(things, {})
    assert not await collects_as_usual()
    await eventually(collects_as_usual)
