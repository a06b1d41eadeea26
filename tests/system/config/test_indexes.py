"""Indexes become what is declared, and no key is taken twice meanwhile."""

import asyncio
from typing import Any

import pytest

from config.database import Driver, DuplicateKey, IndexSpec, differences

pytestmark = pytest.mark.gen_test


async def index_names(driver: Driver, things: str) -> set[str]:
    return {index["name"] for index in await driver.list_indexes(things)}


async def test_indexes_that_equal_their_declaration_are_distinguished_from_others(driver: Driver, things: str) -> None:
    first, second = IndexSpec("a", (("a", 1),), unique=True), IndexSpec("b", (("b", -1),))
    assert await driver.has_indexes(things, [])  # no collection, no index
    assert not await driver.has_indexes(things, [first])
    await driver.synchronise_indexes(things, [first])
    assert await driver.has_indexes(things, [first])
    for others in ([], [second], [first, second], [IndexSpec("a", (("a", 1),))], [IndexSpec("c", (("a", 1),))]):
        assert not await driver.has_indexes(things, others)


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        (IndexSpec("a", (("a", -1),)), "keys"),
        (IndexSpec("a", (("a", 1),), unique=True), "uniqueness"),
        (IndexSpec("a", (("a", 1),), partial={"b": {"$gte": float("-inf")}}), "covered documents"),
        (IndexSpec("a", (("a", 1),), expire_seconds=60), "time to live"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_index_whose_declaration_changed_is_replaced_once(
    driver: Driver, things: str, changed: IndexSpec, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    await driver.synchronise_indexes(things, [IndexSpec("a", (("a", 1),))])
    for _ in range(2):  # the second finds it as it is declared
        await driver.synchronise_indexes(things, [changed])
    listed = await driver.command({"listIndexes": things})
    (there,) = [index for index in listed["cursor"]["firstBatch"] if index["name"] != "_id_"]
    assert differences(changed, there) == []
    assert await driver.has_indexes(things, [changed])
    (logged,) = [record for record in caplog.records if record.message == "index replaced"]
    assert vars(logged).items() >= {"collection": things, "index": "a", "differed_in": [part]}.items()


async def test_an_index_may_be_declared_otherwise_again_and_again(driver: Driver, things: str) -> None:
    for partial in ({"b": 1}, {"b": 2}, None, {"b": 1}):
        spec = IndexSpec("a", (("a", 1),), unique=True, partial=partial)
        await driver.synchronise_indexes(things, [spec])
        assert await driver.has_indexes(things, [spec])
        assert len(await index_names(driver, things)) == 2
    for seconds in (60, 90, None):
        spec = IndexSpec("a", (("a", 1),), expire_seconds=seconds)
        await driver.synchronise_indexes(things, [spec])
        assert await driver.has_indexes(things, [spec])


async def test_an_index_that_cannot_be_made_leaves_the_old_one(driver: Driver, things: str) -> None:
    old, new = IndexSpec("a", (("a", 1), ("b", 1)), unique=True), IndexSpec("a", (("a", 1),), unique=True)
    await driver.synchronise_indexes(things, [old])
    await driver.insert(things, [{"_id": n, "a": 1, "b": n} for n in range(2)])
    with pytest.raises(DuplicateKey):
        await driver.synchronise_indexes(things, [new])
    assert await driver.has_indexes(things, [old])


async def test_a_key_stays_unique_while_its_index_is_made_anew(driver: Driver, things: str) -> None:
    def declared(partial: dict[str, Any]) -> IndexSpec:
        return IndexSpec("a", (("a", 1),), unique=True, partial=partial)

    await driver.synchronise_indexes(things, [declared({"live": True})])
    await driver.insert(things, [{"_id": n, "a": n, "live": True, "kind": 1} for n in range(5000)])
    changing = asyncio.ensure_future(driver.synchronise_indexes(things, [declared({"kind": 1})]))
    attempts = 0
    while not changing.done() or not attempts:
        attempts += 1
        with pytest.raises(DuplicateKey):
            await driver.insert(things, [{"_id": -attempts, "a": 1, "live": True, "kind": 1}])
    await changing
    assert await driver.has_indexes(things, [declared({"kind": 1})])
