"""The history of records: every write of a store leaves what it changed, exactly, and nothing else does."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from bson import Decimal128, ObjectId

from handlers.access.actor import Actor
from handlers.data.collection import HISTORY, Collection
from handlers.data.database import Database, utc_now
from handlers.data.history.history import CAUSE, CHANGES, Cause, Change, total_changes
from handlers.schema.errors import ApiError
from handlers.schema.fields import Field, array, obj, text
from plugins.testing import eventually, unique
from tests.support.probe import WIDGETS
from tests.support.records import COUNTERS_LOG, NOTES

pytestmark = pytest.mark.gen_test(timeout=20)
ANNA = Actor(user_id=101, department_id=11)


async def history_of(database: Database, collection: Collection, id: Any) -> list[Change]:
    document = await database.driver.find_one(collection.name, {"_id": id})
    assert document is not None
    return await database.history.read(collection, document, 0, total_changes(document))


def actions(changes: list[Change]) -> list[str]:
    return [change.action for change in reversed(changes)]


async def test_an_update_leaves_who_changed_what_from_what_to_what_and_why(database: Database) -> None:
    moment = utc_now() - timedelta(days=1)
    store = database.store(NOTES, ANNA, now=moment)
    made = await store.create({"title": "old"})
    token = CAUSE.set(Cause("req-1", "publish"))
    await store.update(made["id"], {"title": "new"}, version=1)
    CAUSE.reset(token)
    updated, created = await history_of(database, NOTES, made["id"])
    assert updated == Change(1, moment, 101, "req-1", "publish", 2, {"title": "old"}, {"title": "new"})
    assert created == Change(
        0, moment, 101, None, "create", 1, {"title": None, "likes": None}, {"title": "old", "likes": 0}
    )


async def test_a_creation_leaves_the_id_of_its_request(database: Database) -> None:
    token = CAUSE.set(Cause("req-2"))
    made = await database.store(NOTES).create({"title": "a"})
    many = await database.store(NOTES).create_many([{"title": "b"}])
    CAUSE.reset(token)
    for id in (made["id"], many[0]["id"]):
        assert (await history_of(database, NOTES, id))[0].request_id == "req-2"


async def test_a_field_that_keeps_its_value_is_not_in_the_history(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "same"})
    await store.update(made["id"], {"title": "same", "likes": 1})
    assert (await history_of(database, NOTES, made["id"]))[0].after == {"likes": 1}


async def test_a_refused_update_leaves_nothing(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    for refused in ({"version": 7}, {"where": {"likes": 9}}):
        with pytest.raises(ApiError):
            await store.update(made["id"], {"title": "b"}, **refused)  # type: ignore[arg-type]  # of several types
    assert actions(await history_of(database, NOTES, made["id"])) == ["create"]


async def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})

    async def work() -> None:
        await store.update(made["id"], {"title": "b"})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await database.transaction(work)
    assert actions(await history_of(database, NOTES, made["id"])) == ["create"]


async def test_a_deletion_and_a_change_of_many_leave_their_actions(database: Database) -> None:
    store, title = database.store(NOTES), unique("many")
    made = await store.create({"title": title})
    assert await store.update_many({"title": title}, {"$set": {"likes": 4}}) == 1
    await store.delete(made["id"])
    changes = await history_of(database, NOTES, made["id"])
    assert actions(changes) == ["create", "update", "delete"]
    assert (changes[1].before, changes[1].after) == ({"likes": 0}, {"likes": 4})


async def test_an_unversioned_update_leaves_what_it_changes_of_declared_fields_only(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    await store.update_unversioned({"_id": made["id"]}, {"$set": {"seen": True}})
    await store.update_unversioned({"_id": made["id"]}, {"$inc": {"likes": 2}, "$set": {"seen": False}})
    await store.update_unversioned({"_id": made["id"]}, [{"$set": {"likes": {"$multiply": ["$likes", 10]}}}])
    changes = await history_of(database, NOTES, made["id"])
    assert [change.after.get("likes") for change in changes] == [20, 2, 0]
    assert [change.version for change in changes] == [1, 1, 1]


async def test_a_plain_collection_has_no_history(database: Database) -> None:
    store = database.store(COUNTERS_LOG)
    await store.upsert("h", {"at": 1})
    await store.update("h", {"at": 2})
    assert await database.driver.find_one(COUNTERS_LOG.name, {"_id": "h"}) == {"_id": "h", "at": 2}
    await store.remove({"_id": "h"})


OPERATORS: list[tuple[dict[str, Any], Any, Any]] = [
    ({"$push": {"notes": 3}}, [1, 2], [1, 2, 3]),
    ({"$push": {"notes": {"a": "$b"}}}, None, [{"a": "$b"}]),
    ({"$push": {"notes": {"$each": [3, 4], "$slice": -3}}}, [1, 2], [2, 3, 4]),
    ({"$addToSet": {"notes": 2}}, [1, 2], [1, 2]),
    ({"$addToSet": {"notes": {"$each": [2, 3]}}}, [1, 2], [1, 2, 3]),
    ({"$pull": {"notes": 2}}, [1, 2, 2], [1]),
    ({"$pull": {"notes": {"$in": [1, 3]}}}, [1, 2, 3], [2]),
    ({"$pull": {"notes": {"a": 1}}}, [{"a": 1, "b": 2}, {"a": 2}], [{"a": 2}]),
    ({"$inc": {"notes": 2}}, 3, 5),
    ({"$max": {"notes": 2}}, None, 2),
    ({"$max": {"notes": 2}}, 3, 3),
    ({"$min": {"notes": 2}}, 3, 2),
    ({"$min": {"notes": 2}}, 1, 1),
    ({"$unset": {"notes": ""}}, 1, None),
    ({"$set": {"notes.a.b": None}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": None, "c": 2}}),
    ({"$set": {"notes": {"$ref": "$x", "a.b": "$$NOW"}}}, 1, {"$ref": "$x", "a.b": "$$NOW"}),
]


@pytest.mark.parametrize(("operators", "before", "after"), OPERATORS, ids=str)
async def test_an_operator_does_what_mongodb_does_and_leaves_it(
    database: Database, operators: dict[str, Any], before: Any, after: Any
) -> None:
    store = database.store(WIDGETS)
    made = await store.create({"name": "w", "notes": before})
    changed = await store.update(made["id"], {}, operators=operators)
    assert changed["notes"] == after
    (change, _) = await history_of(database, WIDGETS, made["id"])
    expected = {} if before == after else {"notes": (before, after)}
    assert {name: (change.before[name], change.after[name]) for name in change.after} == expected


@pytest.mark.parametrize(
    "operators",
    [
        {"$bit": {"likes": {"or": 1}}},
        {"$set": {"title.0.a": 1}},
        {"$set": {"title.$[].a": 1}},
        {"$pull": {"title": {"$gt": 1}}},
    ],
    ids=str,
)
async def test_an_operator_that_the_history_cannot_follow_is_refused(database: Database, operators: Any) -> None:
    made = await database.store(NOTES).create({"title": "a"})
    with pytest.raises(ValueError, match="history of a record cannot follow"):
        await database.store(NOTES).update(made["id"], {}, operators=operators)


@pytest.mark.parametrize(
    "secret",
    [
        text(secret=True),
        text(write_only=True),
        text(history=False),
        obj("HistoryKeys", {"inner": array(obj("HistoryKey", {"key": text(secret=True)}))}),
    ],
    ids=["secret", "write_only", "left out", "contains one"],
)
def test_secrets_are_never_recorded(secret: Field) -> None:
    fields = {"name": text(), "hidden": secret, "access_token": text()}
    assert list(Collection(name="probe_keys", title="ProbeKey", fields=fields).recorded) == ["name"]


async def test_many_changes_move_out_of_the_record_and_none_is_missing_or_there_twice(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    for likes in range(1, 101):
        await store.update(made["id"], {"likes": likes})

    async def small() -> bool:
        document = await database.driver.find_one(NOTES.name, {"_id": made["id"]})
        return document is not None and len(document[HISTORY]["pending"]) < 20

    await eventually(small)
    changes = await history_of(database, NOTES, made["id"])
    assert [change.n for change in changes] == list(range(100, -1, -1))
    assert [(change.before["likes"], change.after["likes"]) for change in changes[:-1]] == [
        (n - 1, n) for n in range(100, 0, -1)
    ]


async def test_a_writer_of_many_records_starts_again_once_at_most_while_their_changes_move_out(
    database: Database,
) -> None:
    store, group, attempts = database.store(NOTES), unique("group"), Counter[int]()
    await store.create_many([{"title": group} for _ in range(150)])
    for number in range(40):

        async def write(number: int = number) -> None:
            attempts[number] += 1
            await store.update_many({"title": group}, {"$set": {"likes": number + 1}})

        await database.transaction(write)
    assert max(attempts.values()) <= 2
    (row, *_) = await store.find({"title": group})

    async def moved() -> bool:
        return await database.store(CHANGES).count({"_id": {"$regex": f"^{NOTES.name}/{row['id']}/"}}) >= 16

    await eventually(moved)
    assert [change.n for change in await history_of(database, NOTES, row["id"])] == [*range(40, -1, -1)]


async def test_changes_of_many_records_move_out_too(database: Database) -> None:
    store, title = database.store(NOTES), unique("crowd")
    made = await store.create({"title": title})
    for likes in range(1, 100):
        await store.update_many({"title": title}, {"$set": {"likes": likes}})
    document = await database.driver.find_one(NOTES.name, {"_id": made["id"]})
    assert document is not None
    assert len(document[HISTORY]["pending"]) <= 64
    assert [change.n for change in await history_of(database, NOTES, made["id"])] == list(range(99, -1, -1))


async def test_moving_twice_or_halfway_changes_nothing(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    for likes in (1, 2, 3):
        await store.update(made["id"], {"likes": likes})
    before = await database.driver.find_one(NOTES.name, {"_id": made["id"]})
    expected = await history_of(database, NOTES, made["id"])
    await asyncio.gather(*(database.history.move(NOTES, made["id"]) for _ in range(3)))
    assert await history_of(database, NOTES, made["id"]) == expected
    # as if the process had been killed between the two commands of a move
    await database.driver.update_one(NOTES.name, {"_id": made["id"]}, {"$set": {HISTORY: before[HISTORY]}})  # type: ignore[index]  # it exists
    assert await history_of(database, NOTES, made["id"]) == expected
    await store.update(made["id"], {"likes": 4})
    await database.history.move(NOTES, made["id"])
    assert [change.after.get("likes") for change in await history_of(database, NOTES, made["id"])] == [4, 3, 2, 1, 0]


async def test_a_page_of_the_history_begins_and_ends_anywhere(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    for likes in range(1, 7):
        await store.update(made["id"], {"likes": likes})
        if likes == 4:
            await database.history.move(NOTES, made["id"])
    document = await database.driver.find_one(NOTES.name, {"_id": made["id"]})
    assert document is not None
    whole = await history_of(database, NOTES, made["id"])
    for skip in range(8):
        for limit in range(1, 9):
            assert await database.history.read(NOTES, document, skip, limit) == whole[skip : skip + limit]


async def test_a_record_of_before_has_the_history_that_is_known(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    await database.driver.update_one(NOTES.name, {"_id": made["id"]}, {"$unset": {HISTORY: ""}})
    await store.update(made["id"], {"title": "b"})
    changes = await history_of(database, NOTES, made["id"])
    assert [change.after["title"] for change in changes] == ["b", "a"]


async def test_wiping_a_collection_wipes_its_history(database: Database) -> None:
    spare = Collection(name="probe_spare", title="ProbeSpare", fields={"name": text()})
    made = await database.store(spare).create({"name": "a"})
    await database.store(spare).update(made["id"], {"name": "b"})
    await database.history.move(spare, made["id"])
    kept = {"_id": {"$regex": "^probe_spare/"}}
    assert await database.driver.count(CHANGES.name, kept) == 2
    await database.wipe(spare)
    assert await database.driver.count(CHANGES.name, kept) == 0


VALUES: dict[str, list[Any]] = {
    "name": ["a", "$b", "c" * 200, "{}"],
    "rank": [None, 0, 1, -5],
    "weight": [None, 0.5, 1e300],
    "active": [True, False, None],
    "price": [Decimal128("0.00"), Decimal128("1.10"), None],
    "due": ["2026-11-20", None],
    "model": [ObjectId("65f0c0ffee65f0c0ffee65f0"), None],
    "tags": [[], ["x"], ["x", "$y"], ["z"]],
    "parts": [None, [], [{"sku": "a", "count": Decimal128("1")}], [{"sku": "$b", "count": Decimal128("2")}]],
    "notes": [None, {"a": {"b": [1, None]}}, ["$x"], "text", {"$gt": 1}],
}


@pytest.mark.parametrize("seed", range(8))
async def test_replayed_forward_the_history_gives_every_version(database: Database, seed: int) -> None:
    chance = random.Random(seed)

    def some() -> dict[str, Any]:
        return {name: chance.choice(VALUES[name]) for name in chance.sample(list(VALUES), chance.randint(1, 5))}

    store = database.store(WIDGETS, ANNA)
    made = await store.create({"name": "first", **some()})
    versions = [made]
    for _ in range(chance.randint(5, 40)):
        kind = chance.randrange(6)
        if kind == 0:
            await store.update_many({"_id": made["id"]}, {"$set": some()})
        elif kind == 1:
            await store.update(
                made["id"],
                some(),
                operators={"$push": {"tags": "p"}, "$inc": {"rank": 1}}
                if versions[-1]["rank"] is not None
                else {"$addToSet": {"tags": "q"}},
            )
        elif kind == 2:
            await store.update_where({"_id": made["id"]}, some())
        else:
            await store.update(made["id"], some(), version=versions[-1]["version"])
        versions.append(await store.get(made["id"]))
        if chance.random() < 0.1:
            await database.history.move(WIDGETS, made["id"])
    state: dict[str, Any] = dict.fromkeys(WIDGETS.recorded)
    replayed = {}
    for change in reversed(await history_of(database, WIDGETS, made["id"])):
        assert {name: state[name] for name in change.before} == change.before
        state |= change.after
        replayed[change.version] = dict(state)
    expected = {row["version"]: {name: row[name] for name in WIDGETS.recorded} for row in versions}
    assert replayed == expected
