"""A record has the department of its owner, whoever writes it, and follows an owner who moves to another one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from bson import ObjectId
from tornado.ioloop import IOLoop

from config.database import DatabaseUnavailable
from handlers.access.actor import Actor
from handlers.data.collection import THE_USERS, Collection
from handlers.data.database import Database, Lease
from handlers.data.history.history import CHANGES
from handlers.data.history.restoring import restore
from handlers.data.store import Store
from handlers.data.visible.owner_moves import FOLLOWED, OwnerMoves
from handlers.data.visible.scope import OWNER_DEPARTMENT, Scope
from handlers.schema.fields import integer, text
from plugins.testing import eventually, unique
from tests.support.data_fixtures import opened

pytestmark = pytest.mark.gen_test(timeout=60)
PEOPLE = Collection(
    name="probe_people",
    title="ProbePerson",
    alias=THE_USERS,
    ids="integer",
    watched=True,
    scope_department="department_id",
    fields={"name": text(), "department_id": integer()},
)
DEALS = Collection(
    name="probe_deals",
    title="ProbeDeal",
    scoped=True,
    owner="owner_id",
    fields={"name": text(), "owner_id": integer(ref=THE_USERS, on_delete="keep")},
)
EAST, WEST, NORTH = 10, 20, 30
ANN, BOB, EVE = 1, 2, 3
OFFICE = Actor(user_id=9, department_id=NORTH)


@pytest.fixture
def deals(io_loop: IOLoop, mongodb_uri: str, driver_name: str) -> Iterator[Database]:
    """Ann in the east, Bob in the west, Eve in no department, and no deals."""
    made = Database(opened(driver_name, mongodb_uri, unique("owners")), (PEOPLE, DEALS, CHANGES))

    async def open_it() -> None:
        await made.prepare()
        await made.changes.start()
        for id, department in ((ANN, EAST), (BOB, WEST), (EVE, None)):
            await made.store(PEOPLE).create({"name": "x", "department_id": department}, id=id)

    io_loop.run_sync(open_it)
    yield made
    io_loop.run_sync(made.changes.stop)
    io_loop.run_sync(lambda: made.driver.command({"dropDatabase": 1}))
    io_loop.run_sync(made.driver.close)


def store_of(database: Database) -> Store:
    return database.store(DEALS, OFFICE)


async def place(database: Database, id: object) -> int | None:
    """The responsible department of a deal; checks that who sees it by data scope are its people and the creator's."""
    stored = await database.driver.find_one(DEALS.name, {"_id": id}) or {}
    for department in (EAST, WEST):
        seen = database.store(DEALS, scope=Scope(department_ids=frozenset({department})))
        assert await seen.count({"_id": id}) == (stored[OWNER_DEPARTMENT] == department)
    assert await database.store(DEALS, scope=Scope(department_ids=frozenset({NORTH}))).count({"_id": id}) == 1
    department_id: int | None = stored[OWNER_DEPARTMENT]
    return department_id


async def move(database: Database, person: int, department: int | None) -> None:
    await database.store(PEOPLE).update(person, {"department_id": department})


Write = Callable[[Database, Any], Awaitable[object]]
WRITES: Mapping[str, Write] = {
    "update": lambda database, id: store_of(database).update(id, {"owner_id": BOB}),
    "update with operators": lambda database, id: store_of(database).update(
        id, {}, operators={"$set": {"owner_id": BOB}}
    ),
    "update_many": lambda database, id: store_of(database).update_many({"_id": id}, {"$set": {"owner_id": BOB}}),
    "update_where": lambda database, id: store_of(database).update_where({"_id": id}, {"owner_id": BOB}),
    "update_unversioned": lambda database, id: store_of(database).update_unversioned(
        {"_id": id}, {"$set": {"owner_id": BOB}}
    ),
    "update_unversioned by stages": lambda database, id: store_of(database).update_unversioned(
        {"_id": id}, [{"$set": {"owner_id": BOB}}]
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_every_write_of_the_owner_writes_the_department(deals: Database, write: Write) -> None:
    made = await store_of(deals).create({"name": "x", "owner_id": ANN})
    assert await place(deals, made["id"]) == EAST
    await write(deals, made["id"])
    assert await place(deals, made["id"]) == WEST


async def test_a_record_of_nobody_has_no_responsible_department(deals: Database) -> None:
    rows = [{"name": "x", "owner_id": owner} for owner in (ANN, BOB, EVE, None)]
    made = await store_of(deals).create_many(rows)
    assert [await place(deals, one["id"]) for one in made] == [EAST, WEST, None, None]
    await store_of(deals).update_many({}, {"$unset": {"owner_id": ""}})
    assert [await place(deals, one["id"]) for one in made] == [None] * 4


async def test_an_owner_that_the_database_would_compute_is_refused(deals: Database) -> None:
    made = await store_of(deals).create({"name": "x", "owner_id": ANN})
    for operators in ({"$inc": {"owner_id": 1}}, {"$set": {"owner_id": "$creator_id"}}):
        with pytest.raises(ValueError, match="owner_id"):
            await store_of(deals).update(made["id"], {}, operators=operators)
    assert await place(deals, made["id"]) == EAST


async def test_the_department_is_known_within_the_transaction_that_moves_the_owner(deals: Database) -> None:
    async def work() -> object:
        await move(deals, ANN, WEST)
        return (await store_of(deals).create({"name": "x", "owner_id": ANN}))["id"]

    assert await place(deals, await deals.transaction(work)) == WEST


async def test_records_follow_their_owner_without_a_new_version(deals: Database) -> None:
    await OwnerMoves(deals).follow()
    made = [await store_of(deals).create({"name": "x", "owner_id": owner}) for owner in (ANN, ANN, BOB)]
    deleted = await store_of(deals).create({"name": "deleted", "owner_id": ANN})
    await store_of(deals).delete(deleted["id"])
    before = await deals.driver.find(DEALS.name, {}, sort=[("_id", 1)])
    moves = OwnerMoves(deals)
    await move(deals, ANN, NORTH)
    await moves.follow()
    written = (OWNER_DEPARTMENT, "second_department_id")
    after = await deals.driver.find(DEALS.name, {}, sort=[("_id", 1)])
    kept = [[{name: row[name] for name in row if name not in written} for row in rows] for rows in (before, after)]
    assert kept[0] == kept[1]  # no version, time, or history
    assert [await place(deals, one["id"]) for one in made] == [NORTH, NORTH, WEST]
    await restore(deals, store_of(deals), deleted["id"])
    assert await place(deals, deleted["id"]) == NORTH


async def test_a_move_that_was_interrupted_is_finished_by_another_process(
    deals: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.data.visible.owner_moves._BATCH", 10)
    made = await store_of(deals).create_many([{"name": "x", "owner_id": ANN}] * 35)
    await move(deals, ANN, WEST)

    class Killed(OwnerMoves):
        """It ends after two batches."""

        batches = 0

        async def _write(self, collection: Collection, outdated: Mapping[str, Any], department: int | None) -> int:
            self.batches += 1
            if self.batches > 2:
                raise DatabaseUnavailable("killed")
            return await super()._write(collection, outdated, department)

    with pytest.raises(DatabaseUnavailable):
        await Killed(deals).follow()
    assert await deals.driver.count(DEALS.name, {OWNER_DEPARTMENT: WEST}) == 20
    await OwnerMoves(deals).follow()
    assert {await place(deals, one["id"]) for one in made} == {WEST}


async def test_one_process_at_a_time_follows_and_the_others_try_again(deals: Database) -> None:
    made = await store_of(deals).create({"name": "x", "owner_id": ANN})
    await move(deals, ANN, WEST)
    other, moves = Lease(deals, "owners", 30), OwnerMoves(deals)
    assert await other.acquire()
    await moves.follow()
    assert await place(deals, made["id"]) == EAST
    await other.release()
    await moves.follow()
    assert await place(deals, made["id"]) == WEST


async def test_what_was_written_with_the_former_department_meanwhile_is_found(
    deals: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = OwnerMoves(deals)
    await moves.follow()
    late = await store_of(deals).create({"name": "x", "owner_id": ANN})
    await move(deals, ANN, WEST)
    await moves.follow()
    # as an instance wrote it that had not heard of the move
    stale = {OWNER_DEPARTMENT: EAST, "second_department_id": EAST}
    await deals.driver.update_one(DEALS.name, {"_id": late["id"]}, {"$set": stale})
    monkeypatch.setattr("handlers.data.visible.owner_moves._SETTLED_AFTER", timedelta(0))
    await OwnerMoves(deals).follow()
    assert await place(deals, late["id"]) == WEST
    assert await deals.driver.count(FOLLOWED, {"settled": False}) == 0


async def test_records_of_an_older_version_are_seen_as_before_and_filled_in(deals: Database) -> None:
    async def write_old(owners: Sequence[int | None]) -> list[ObjectId]:
        made = await store_of(deals).create_many([{"name": "x", "owner_id": owner} for owner in owners])
        removed = {"$unset": {OWNER_DEPARTMENT: "", "second_department_id": ""}}
        await deals.driver.update_many(DEALS.name, {}, removed)
        return [one["id"] for one in made]

    old = await write_old([ANN, EVE, None])
    east, north = (deals.store(DEALS, scope=Scope(department_ids=frozenset({one}))) for one in (EAST, NORTH))
    assert (await east.count(), await north.count()) == (0, 3)
    assert (await north.get(old[0]))[OWNER_DEPARTMENT] is None
    await OwnerMoves(deals).follow()
    assert (await east.count(), await place(deals, old[0]), await place(deals, old[1])) == (1, EAST, None)
    # written by an instance of the older version afterwards, and found at the next start
    [later] = await write_old([BOB])
    await OwnerMoves(deals).follow()
    assert [await place(deals, id) for id in (old[0], later)] == [EAST, WEST]


async def test_moves_are_followed_as_they_happen(deals: Database) -> None:
    made = await store_of(deals).create({"name": "x", "owner_id": ANN})
    following = asyncio.create_task(OwnerMoves(deals).run())
    try:
        for department in (WEST, NORTH, EAST):
            await move(deals, ANN, department)

            async def arrived(department: int = department) -> bool:
                stored = await deals.driver.find_one(DEALS.name, {"_id": made["id"]}) or {}
                return bool(stored[OWNER_DEPARTMENT] == department)

            await eventually(arrived)
    finally:
        following.cancel()
