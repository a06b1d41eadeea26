"""A transaction whose process was killed is ended by the others, in a second; one that is only slow is left alone."""

import asyncio
import time
from pathlib import Path

import pytest

from config.database import Driver, open_driver
from config.embedded import acquire
from tests.support.document_holder import holder

pytestmark = pytest.mark.gen_test(timeout=30)


async def looked(driver: Driver, seconds: float) -> None:
    """Look for orphans again and again, for so long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        await driver.end_orphans()
        await asyncio.sleep(0.05)


async def is_free(driver: Driver, things: str) -> bool:
    """Whether the document 1 can be changed."""
    async with asyncio.timeout(2):
        return await driver.update_one(things, {"_id": "1"}, {"$inc": {"n": 10}}) == {"_id": "1", "n": 10}


@pytest.mark.parametrize("name", ["direct", "pymongo"])
async def test_a_transaction_that_waits_for_a_living_process_is_left_alone(
    driver: Driver, mongodb_uri: str, database_name: str, things: str, name: str
) -> None:
    await driver.insert(things, [{"_id": "1", "n": 0}])
    with holder(mongodb_uri, database_name, things, "1", name) as process:
        await looked(driver, 0.6)
        printed, _ = process.communicate("\n")
    assert printed == "committed\n"
    assert await driver.find(things, {}) == [{"_id": "1", "n": 1}]


async def test_a_user_without_rights_beyond_its_database_ends_its_own(tmp_path: Path, things: str) -> None:
    embedded = await asyncio.to_thread(acquire, tmp_path, database="tradewind")
    plain = open_driver("direct", embedded.uri, "tradewind", 5000)
    try:
        await plain.insert(things, [{"_id": "1", "n": 0}])
        with holder(embedded.uri, "tradewind", things, "1") as process:
            process.kill()
            process.wait()
            await looked(plain, 0.6)
            assert await is_free(plain, things)
    finally:
        await plain.close()
        await asyncio.to_thread(embedded.release_and_wait, 15)
