"""Locks of records: transactions on one record wait for each other, in every process."""

import asyncio
from typing import Any

import pytest

from config.database import DatabaseUnavailable, open_driver
from handlers.data.database import Database
from handlers.data.sync.locks import LOCKS, exclude_sharers, share_records
from plugins.testing import eventually
from tests.support.records import NOTES

pytestmark = pytest.mark.gen_test(timeout=30)


async def note(database: Database) -> Any:
    return (await database.store(NOTES).create({"title": "locked"}))["id"]


async def read_and_add(database: Database, id: Any, other: Any) -> None:
    """Add one to the likes of a note by what was read of another one: only the lock makes it exact."""
    await database.lock(NOTES, id)
    read = (await database.store(NOTES).get(other))["likes"]
    await asyncio.sleep(0)
    await database.driver.update_one(NOTES.name, {"_id": other}, {"$set": {"likes": read + 1}})


async def test_transactions_on_one_record_wait_for_each_other_in_every_process(
    database: Database, other_instance: Database
) -> None:
    id, order = await note(database), list[str]()
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        await database.lock(NOTES, id)
        inside.set()
        await go_on.wait()
        order.append("first")

    async def second() -> None:
        await other_instance.lock(NOTES, id)
        order.append("second")

    running = asyncio.create_task(database.transaction(first))
    await inside.wait()
    waiting = asyncio.create_task(other_instance.transaction(second))
    asyncio.get_running_loop().call_later(0.2, go_on.set)
    await asyncio.gather(running, waiting)
    assert order == ["first", "second"]


async def test_many_that_lock_a_record_each_see_what_the_one_before_wrote(
    database: Database, other_instance: Database
) -> None:
    id, other = await note(database), await note(database)
    places = (database, other_instance) * 15
    await asyncio.gather(*(one.transaction(lambda one=one: read_and_add(one, id, other)) for one in places))
    assert (await database.store(NOTES).get(other))["likes"] == len(places)


async def test_two_locks_in_opposite_orders_do_not_deadlock(database: Database, other_instance: Database) -> None:
    ids = [await note(database), await note(database)]

    async def work(place: Database, order: list[Any]) -> None:
        for id in order:
            await place.lock(NOTES, id)
            await asyncio.sleep(0)

    both = [(place, order) for place in (database, other_instance) for order in (ids, ids[::-1])] * 5
    await asyncio.gather(*(place.transaction(lambda p=place, o=order: work(p, o)) for place, order in both))


async def test_a_wait_for_a_lock_ends_at_the_time_limit(
    database: Database, other_instance: Database, driver_name: str, mongodb_uri: str
) -> None:
    id = await note(database)
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        await other_instance.lock(NOTES, id)
        inside.set()
        await go_on.wait()

    holding = asyncio.create_task(other_instance.transaction(hold))
    await inside.wait()
    name = (await database.driver.command({"dbStats": 1}))["db"]
    hasty = Database(open_driver(driver_name, mongodb_uri, name, 500), database.collections.values())
    async with asyncio.timeout(4):  # the others have five seconds
        with pytest.raises(DatabaseUnavailable):
            await hasty.transaction(lambda: hasty.lock(NOTES, id))
    go_on.set()
    await holding
    await hasty.driver.close()


async def test_a_lock_leaves_the_record_as_it_is_and_notifies_nobody(
    database: Database, other_instance: Database
) -> None:
    heard: list[Any] = []
    other_instance.changes.listen(NOTES.name, heard.append)

    async def wait_for(id: Any) -> None:
        async def was_heard() -> bool:
            return id in heard

        await eventually(was_heard, seconds=2)

    id = await note(database)
    await wait_for(id)
    heard.clear()
    before = await database.driver.find_one(NOTES.name, {"_id": id})
    await database.transaction(lambda: database.lock(NOTES, id))
    await wait_for(await note(database))
    assert id not in heard
    assert await database.driver.find_one(NOTES.name, {"_id": id}) == before


async def test_a_record_is_locked_once_in_a_transaction(database: Database) -> None:
    id = await note(database)

    async def work() -> None:
        for _ in range(3):
            await database.lock(NOTES, id)

    await database.transaction(work)
    lock = await database.driver.find_one(LOCKS.name, {"_id": f"{NOTES.name}:{id}"})
    assert lock is not None
    assert lock["count"] == 1


async def test_a_transaction_shares_a_record_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    id, places = await note(database), iter(range(100))
    monkeypatch.setattr("handlers.data.sync.locks._choose_place", lambda: next(places))

    async def work() -> None:
        for _ in range(3):
            await share_records(database.driver, [(NOTES.name, id)])

    await database.transaction(work)
    shared = await database.driver.find(LOCKS.name, {"_id": {"$regex": f"^{NOTES.name}:{id}/"}})
    assert [lock["count"] for lock in shared] == [1]


async def test_a_record_is_locked_within_a_transaction_only(database: Database) -> None:
    with pytest.raises(RuntimeError, match="within a transaction only"):
        await database.lock(NOTES, 1)


async def test_writes_that_refer_to_one_record_pass_each_other_and_a_deletion_waits(
    database: Database, other_instance: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, order = [(NOTES.name, await note(database))], list[str]()
    places = iter(range(100))
    monkeypatch.setattr("handlers.data.sync.locks._choose_place", lambda: next(places))
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def refer() -> None:
        await share_records(database.driver, records)
        inside.set()
        await go_on.wait()
        order.append("referred")

    async def delete() -> None:
        await exclude_sharers(other_instance.driver, records)
        order.append("deleted")

    referring = asyncio.create_task(database.transaction(refer))
    await inside.wait()
    # another writer does not wait for the open transaction
    await other_instance.transaction(lambda: share_records(other_instance.driver, records))
    deleting = asyncio.create_task(other_instance.transaction(delete))
    asyncio.get_running_loop().call_later(0.2, go_on.set)
    await asyncio.gather(referring, deleting)
    assert order == ["referred", "deleted"]
