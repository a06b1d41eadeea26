"""Transactions: all or nothing, joined, reported after the commit, and never seen by caches."""

import asyncio
import contextvars
from functools import partial
from typing import Any

import pytest

from handlers.data.database import Database
from handlers.data.history.history import CHANGES
from handlers.data.sync.cached_snapshot import CachedSnapshot, RecordCache
from handlers.schema.errors import CONFLICT, STALE, ApiError
from plugins.testing import eventually, unique
from tests.support.records import NOTES
from tests.support.slow_reads import resting_at, until_resting

pytestmark = pytest.mark.gen_test


class Refused(Exception):
    """What a test gives a transaction up with."""


async def likes(database: Database, id: Any) -> int:
    return int((await database.store(NOTES).get(id))["likes"])


async def test_what_a_transaction_writes_is_there_together(database: Database) -> None:
    store, title = database.store(NOTES), unique("both")

    async def work() -> None:
        await store.create({"title": title})
        await store.create({"title": title})

    await database.transaction(work)
    assert await store.count({"title": title}) == 2


async def test_an_aggregation_in_a_snapshot_is_of_one_moment(database: Database, mongodb_uri: str) -> None:
    store, title = database.store(NOTES), unique("moment")
    made = [await store.create({"title": title, "likes": 1}) for _ in range(2)]
    of_both = {"$match": {"_id": {"$in": [one["id"] for one in made]}}}
    stages = [of_both, {"$sort": {"_id": 1}}, resting_at(made[0]["id"]), {"$project": {"likes": 1}}]
    reading = asyncio.create_task(database.snapshot(partial(store.aggregate, stages)))
    await until_resting(mongodb_uri, made[0]["id"])
    await store.update_many({"title": title}, {"$set": {"likes": 2}})
    assert [row["likes"] for row in await reading] == [1, 1]


async def test_a_transaction_that_fails_writes_nothing(database: Database) -> None:
    store, title = database.store(NOTES), unique("none")
    kept = await store.create({"title": unique("kept")})

    async def work() -> None:
        await store.create({"title": title})
        await store.update(kept["id"], {"likes": 5})
        await store.update_many({"_id": kept["id"]}, {"$inc": {"likes": 1}})
        raise Refused

    with pytest.raises(Refused):
        await database.transaction(work)
    assert await store.count({"title": title}) == 0
    assert await store.get(kept["id"]) == kept


async def test_records_are_changed_by_one_command_as_they_were_read(database: Database) -> None:
    store = database.store(NOTES)
    made = [await store.create({"title": unique("each")}) for _ in range(3)]

    async def work() -> list[Any]:
        rows = await store.find({"_id": {"$in": [one["id"] for one in made]}}, sort="title")
        return await store.update_each([(row, {"likes": number}) for number, row in enumerate(rows)])

    changed = await database.transaction(work)
    assert [(row["likes"], row["version"]) for row in changed] == [(0, 2), (1, 2), (2, 2)]
    assert [await store.get(row["id"]) for row in changed] == changed
    newest, total = await database.history.page(NOTES, changed[2]["id"], 1)
    assert (newest[0].before, newest[0].after, total) == ({"likes": 0}, {"likes": 2}, 2)
    with pytest.raises(RuntimeError):
        await store.update_each([(changed[0], {"likes": 9})])


async def test_one_record_that_has_another_version_keeps_all_from_being_changed(database: Database) -> None:
    store = database.store(NOTES)
    fresh, stale = [await store.create({"title": unique("each")}) for _ in range(2)]
    await store.update(stale["id"], {"likes": 1})

    async def work() -> None:
        await store.update_each([(fresh, {"likes": 5}), (stale, {"likes": 5})])

    with pytest.raises(ApiError) as refused:
        await database.transaction(work)
    assert refused.value.kind is STALE
    assert [await likes(database, one["id"]) for one in (fresh, stale)] == [0, 1]


async def test_the_notes_of_records_that_are_changed_together_are_moved(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": unique("each")})
    for number in range(1, 40):

        async def work(number: int = number) -> None:
            await store.update_each([(await store.get(made["id"]), {"likes": number})])

        await database.transaction(work)

    async def moved() -> bool:
        return bool(await database.driver.find(CHANGES.name, {"_id": {"$regex": f"/{made['id']}/"}}))

    await eventually(moved)
    changes, total = await database.history.page(NOTES, made["id"], 100)
    assert [one.after["likes"] for one in changes[:-1]] == list(range(39, 0, -1))
    assert total == 40


async def test_only_the_transaction_itself_reads_its_uncommitted_writes(database: Database) -> None:
    store, title = database.store(NOTES), unique("own")
    inside, outside = asyncio.Event(), asyncio.Event()

    async def work() -> int:
        await store.create({"title": title})
        inside.set()
        await outside.wait()
        return await store.count({"title": title})

    running = asyncio.create_task(database.transaction(work))
    await inside.wait()
    assert await store.count({"title": title}) == 0
    outside.set()
    assert await running == 1


async def test_a_transaction_in_a_transaction_is_part_of_it(database: Database) -> None:
    store, title = database.store(NOTES), unique("joined")

    async def inner() -> None:
        await store.create({"title": title})

    async def outer() -> None:
        await database.transaction(inner)
        raise Refused

    with pytest.raises(Refused):
        await database.transaction(outer)
    assert await store.count({"title": title}) == 0


async def test_a_taken_key_undoes_what_was_written_before_it(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")
    await store.create({"title": "a", "code": code})
    title = unique("before")

    async def work() -> None:
        await store.create({"title": title})
        await store.create({"title": title, "code": code})

    with pytest.raises(ApiError) as error:
        await database.transaction(work)
    assert error.value.kind.code == 40900
    assert await store.count({"title": title}) == 0


@pytest.mark.gen_test(timeout=20)
async def test_transactions_that_meet_are_made_one_after_the_other(database: Database) -> None:
    store = database.store(NOTES)
    note = await store.create({"title": "counted"})

    async def add_one() -> None:
        before = await store.get(note["id"])
        await store.update(note["id"], {"likes": before["likes"] + 1})

    await asyncio.gather(*(database.transaction(add_one) for _ in range(8)))
    assert await likes(database, note["id"]) == 8


async def test_of_two_transactions_with_one_key_the_second_gets_a_duplicate_error(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")

    async def work() -> None:
        await store.create({"title": "a", "code": code})

    ended = await asyncio.gather(database.transaction(work), database.transaction(work), return_exceptions=True)
    assert sorted(end.kind.code if isinstance(end, ApiError) else 0 for end in ended) == [0, 40900]


async def test_listeners_hear_of_a_transaction_when_it_is_committed(database: Database) -> None:
    heard: list[Any] = []
    store, inside = database.store(NOTES), []
    database.changes.listen(NOTES.name, heard.append)

    async def work() -> Any:
        made = await store.create({"title": "a"})
        inside.append(made["id"] in heard)
        return made["id"]

    id = await database.transaction(work)
    assert inside == [False]
    assert id in heard


async def test_listeners_do_not_hear_of_a_transaction_that_failed(database: Database) -> None:
    heard: list[Any] = []
    store, made = database.store(NOTES), []
    database.changes.listen(NOTES.name, heard.append)

    async def work() -> None:
        made.append((await store.create({"title": "a"}))["id"])
        raise Refused

    with pytest.raises(Refused):
        await database.transaction(work)
    assert made[0] not in heard


async def test_a_number_that_was_drawn_apart_stays_taken(database: Database) -> None:
    name = unique("sequence")

    async def work() -> None:
        await database.next_number(name)
        raise ApiError(CONFLICT)

    with pytest.raises(ApiError):
        await database.transaction(work)
    assert await database.next_number(name) == 2


async def test_a_number_that_belongs_to_the_transaction_is_given_back(database: Database) -> None:
    name = unique("sequence")

    async def work() -> None:
        await database.next_number(name, outside_transaction=False)
        raise ApiError(CONFLICT)

    with pytest.raises(ApiError):
        await database.transaction(work)
    assert await database.next_number(name) == 1


async def test_a_copy_in_memory_never_holds_what_is_not_committed(database: Database) -> None:
    store = database.store(NOTES)
    note = await store.create({"title": "a"})
    mirror: CachedSnapshot[int] = CachedSnapshot(lambda: likes(database, note["id"]))
    cache: RecordCache[Any, int] = RecordCache(lambda id: likes(database, id))

    async def work() -> None:
        await store.update(note["id"], {"likes": 7})
        await mirror.current()
        await cache.get(note["id"])
        raise Refused

    with pytest.raises(Refused):
        await database.transaction(work)
    assert (await mirror.current(), await cache.get(note["id"])) == (0, 0)


async def test_a_copy_made_during_a_transaction_is_no_older_than_the_last_change(database: Database) -> None:
    store = database.store(NOTES)
    note = await store.create({"title": "a"})
    mirror: CachedSnapshot[int] = CachedSnapshot(lambda: likes(database, note["id"]))

    async def work() -> int:
        await store.count({})  # the snapshot of the transaction is taken here
        await asyncio.create_task(store.update(note["id"], {"likes": 3}), context=outside)
        mirror.invalidate()
        return await mirror.current()

    outside = contextvars.copy_context()
    assert await database.transaction(work) == 3


async def test_a_transaction_that_is_given_up_half_way_holds_nothing(database: Database) -> None:
    store = database.store(NOTES)
    note = await store.create({"title": "a"})
    written = asyncio.Event()

    async def work() -> None:
        await store.update(note["id"], {"likes": 7})
        written.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(database.transaction(work))
    await written.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await store.update(note["id"], {"likes": 1}, version=1))["likes"] == 1
