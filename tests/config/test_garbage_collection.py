"""While calls of the database fail, garbage is collected in small steps, and afterwards as before."""

import gc

import pytest

from config.database import DatabaseUnavailable, Driver
from plugins.testing import eventually
from tests.faults.proxy import Proxy

SMALL = 1000  # objects
pytestmark = pytest.mark.gen_test(timeout=40)


async def collects_as_usual() -> bool:
    return gc.get_threshold()[0] > SMALL


async def test_garbage_is_collected_sooner_until_a_while_after_a_failure(
    behind: Driver, proxy: Proxy, things: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await eventually(collects_as_usual)  # calls of other tests may have failed
    monkeypatch.setattr("config.garbage_collection._FAILURE_SECONDS", 0.3)
    await behind.insert(things, [{"_id": 1}])
    proxy.stall()
    with pytest.raises(DatabaseUnavailable):
        await behind.find(things, {})
    assert not await collects_as_usual()
    await eventually(collects_as_usual)
