"""`Store`: stamps, versions, soft delete, unique keys, references, data scope."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from bson import ObjectId

from handlers.access.actor import Actor
from handlers.data.database import Database
from handlers.data.store import Store
from handlers.data.transitions import try_transition
from handlers.data.visible.scope import Scope
from handlers.data.visible.visibility import decisive_fields
from handlers.schema.errors import ApiError
from handlers.tables.records import TABLE_IMPORTS
from plugins.testing import unique
from tests.support.probe import WIDGETS
from tests.support.records import CHILDREN, COUNTERS_LOG, NOTES

pytestmark = pytest.mark.gen_test

ANNA = Actor(user_id=101, department_id=11)
BORIS = Actor(user_id=102, department_id=12)


def code_of(error: pytest.ExceptionInfo[ApiError]) -> int:
    return error.value.kind.code


def as_seen_by(database: Database, actor: Actor, scope: Scope) -> Store:
    return database.store(WIDGETS, actor, scope)


async def test_a_new_record_has_its_creator_and_creation_time(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a"})
    assert (made["version"], made["creator_id"], made["creator_department_id"], made["updater_id"]) == (1, 101, 11, 101)
    assert made["created_at"] == made["updated_at"]


async def test_a_record_reads_back_as_it_was_made(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a"})
    assert await database.store(WIDGETS).get(made["id"]) == made


async def test_partial_reads_of_a_record_apply_the_same_scope(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a", "rank": 1})
    fields = ("name", *decisive_fields(WIDGETS))
    own = await as_seen_by(database, ANNA, Scope(creator_id=101)).get(made["id"], fields=fields)
    assert (own["name"], own["rank"]) == ("a", None)
    with pytest.raises(ApiError) as error:
        await as_seen_by(database, BORIS, Scope(creator_id=102)).get(made["id"], fields=fields)
    assert code_of(error) == 40400


async def test_a_change_raises_the_version_and_names_its_author(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a"})
    later = made["created_at"] + timedelta(seconds=1)
    changed = await database.store(WIDGETS, BORIS, now=later).update(made["id"], {"rank": 1}, version=1)
    assert (changed["version"], changed["creator_id"], changed["updater_id"]) == (2, 101, 102)
    assert (changed["created_at"], changed["updated_at"]) == (made["created_at"], later)


async def test_a_field_that_nobody_declares_is_stored_by_no_write(database: Database) -> None:
    store, name = database.store(NOTES), unique("note")
    made = await store.create({"title": name})
    writes = {
        "create": lambda: store.create({"title": name, "colour": "red"}),
        "create_many": lambda: store.create_many([{"title": name, "colour": "red"}]),
        "update": lambda: store.update(made["id"], {"colour": "red"}),
        "operators": lambda: store.update(made["id"], {}, operators={"$push": {"colour.lines": "red"}}),
        "update_each": lambda: store.update_each([(made, {"colour": "red"})]),
        "update_many": lambda: store.update_many({"_id": made["id"]}, {"$set": {"colour": "red"}}),
        "unversioned update_many": lambda: store.update_many(
            {"_id": made["id"]}, {"$set": {"colour": "red"}}, unversioned=True
        ),
        "update_where": lambda: store.update_where({"_id": made["id"]}, {"colour": "red"}),
        "update_unversioned": lambda: store.update_unversioned({"_id": made["id"]}, {"$set": {"colour": "red"}}),
    }
    for write in writes.values():
        with pytest.raises(ValueError, match="probe_notes has no field colour: declare it"):
            await write()
    [stored] = await database.driver.find(NOTES.name, {"title": name})
    assert (stored["version"], "colour" in stored) == (1, False)


async def test_a_stale_version_changes_nothing(database: Database) -> None:
    store = database.store(WIDGETS)
    made = await store.create({"name": "a"})
    await store.update(made["id"], {"rank": 1})
    with pytest.raises(ApiError) as error:
        await store.update(made["id"], {"rank": 2}, version=1)
    assert code_of(error) == 40902
    assert (await store.get(made["id"]))["rank"] == 1


async def test_of_ten_changes_to_one_version_one_is_made(database: Database) -> None:
    store = database.store(WIDGETS)
    made = await store.create({"name": "a"})
    tried = [store.update(made["id"], {"rank": n}, version=1) for n in range(10)]
    ended = await asyncio.gather(*tried, return_exceptions=True)
    assert sorted(end.kind.code if isinstance(end, ApiError) else 0 for end in ended) == [0, *[40902] * 9]
    assert (await store.get(made["id"]))["version"] == 2


async def test_a_deleted_record_is_gone_from_every_door(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": unique("gone")})
    await store.delete(made["id"])
    same = {"title": made["title"]}
    query = {"page": 1, "page_size": 20, "with_total": True}
    assert await store.find(same) == []
    assert await store.find_one(same) is None
    assert await store.count(same) == 0
    assert await store.aggregate([{"$match": same}]) == []
    assert [row async for row in store.stream({}, same)] == []
    assert (await store.page(query, same)).total == 0
    assert await store.update_many(same, {"$inc": {"likes": 1}}) == 0
    assert await store.update_where(same, {"likes": 1}) is None
    for attempt in (store.get(made["id"]), store.update(made["id"], {"likes": 1}), store.delete(made["id"])):
        with pytest.raises(ApiError) as error:
            await attempt
        assert code_of(error) == 40400


async def test_a_taken_key_is_named(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")
    await store.create({"title": "a", "code": code})
    with pytest.raises(ApiError) as error:
        await store.create({"title": "b", "code": code})
    assert code_of(error) == 40900
    assert error.value.data == {"field": "code"}


async def test_a_change_to_a_taken_key_is_refused(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")
    await store.create({"title": "a", "code": code})
    other = await store.create({"title": "b"})
    with pytest.raises(ApiError) as error:
        await store.update(other["id"], {"code": code})
    assert code_of(error) == 40900


async def test_the_key_of_a_deleted_record_is_free_again(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")
    for _ in range(3):
        made = await store.create({"title": "a", "code": code})
        await store.delete(made["id"])
    await store.create({"title": "a", "code": code})


async def test_of_ten_records_with_one_key_one_is_made(database: Database) -> None:
    store, code = database.store(NOTES), unique("code")
    ended = await asyncio.gather(
        *(store.create({"title": "a", "code": code}) for _ in range(10)), return_exceptions=True
    )
    assert sorted(end.kind.code if isinstance(end, ApiError) else 0 for end in ended) == [0, *[40900] * 9]


async def test_a_change_waits_for_no_condition_that_does_not_hold(database: Database) -> None:
    store = database.store(NOTES)
    made = await store.create({"title": "a"})
    with pytest.raises(ApiError) as error:
        await store.update(made["id"], {"title": "b"}, where={"likes": {"$gte": 1}})
    assert code_of(error) == 40901
    assert (await store.get(made["id"]))["title"] == "a"


async def test_a_reference_to_nothing_is_refused(database: Database) -> None:
    with pytest.raises(ApiError) as error:
        await database.store(CHILDREN).create({"name": "a", "note_id": ObjectId()})
    assert code_of(error) == 40001


async def test_a_reference_to_a_deleted_record_is_refused(database: Database) -> None:
    note = await database.store(NOTES).create({"title": "a"})
    await database.store(CHILDREN).create({"name": "a", "note_id": note["id"]})
    await database.store(NOTES).delete(note["id"])
    with pytest.raises(ApiError) as error:
        await database.store(CHILDREN).create({"name": "b", "note_id": note["id"]})
    assert code_of(error) == 40001


async def test_a_reference_that_is_copied_from_another_record_is_not_looked_up(database: Database) -> None:
    note = await database.store(NOTES).create({"title": "a"})
    child = await database.store(CHILDREN).create({"name": "a", "note_id": note["id"]})
    await database.store(NOTES).delete(note["id"])
    copied = {"name": "b", "note_id": child["note_id"]}
    assert (await database.store(CHILDREN).create(copied, copied=("note_id",)))["note_id"] == note["id"]


async def test_whole_number_identifiers_are_given_once_each(database: Database) -> None:
    store = database.store(CHILDREN)
    made = await asyncio.gather(*(store.create({"name": "a"}) for _ in range(30)))
    ids = sorted(record["id"] for record in made)
    assert ids == list(range(ids[0], ids[0] + 30))


@pytest.mark.parametrize(
    "id", ["", "x", "1x", "-1", "1.0", "9" * 40, "٣", {"$gt": 0}, None, "507f1f77bcf86cd799439011"]
)
async def test_what_can_be_no_identifier_is_a_record_that_is_not_there(database: Database, id: Any) -> None:
    with pytest.raises(ApiError) as error:
        await database.store(CHILDREN).get(id)
    assert code_of(error) == 40400


SCOPES = {
    "everything": (Scope(everything=True), {"anna's", "boris'", "nobody's"}),
    "one department": (Scope(department_ids=frozenset({11})), {"anna's"}),
    "two departments": (Scope(department_ids=frozenset({11, 12})), {"anna's", "boris'"}),
    "own rows": (Scope(creator_id=102, user_id=102), {"boris'"}),
    "a department and own rows": (Scope(department_ids=frozenset({11}), creator_id=102), {"anna's", "boris'"}),
    "nothing": (Scope(user_id=101), set()),
}


@pytest.mark.parametrize(("scope", "names"), SCOPES.values(), ids=SCOPES)
async def test_a_scope_shows_its_rows_at_every_door(database: Database, scope: Scope, names: set[str]) -> None:
    batch = {"batch": unique("scope")}
    for actor, name in ((ANNA, "anna's"), (BORIS, "boris'"), (Actor(user_id=103), "nobody's")):
        await database.store(WIDGETS, actor).create({"name": name, **batch})
    store = as_seen_by(database, ANNA, scope)
    query = {"page": 1, "page_size": 20, "with_total": True}
    page = await store.page(query, batch)
    assert {row["name"] for row in page.items} == names
    assert page.total == len(names)
    assert {row["name"] for row in await store.find(batch)} == names
    assert {row["name"] async for row in store.stream({}, batch)} == names
    assert {row["name"] for row in await store.aggregate([{"$match": batch}])} == names
    assert await store.count(batch) == len(names)
    assert await store.update_many(batch, {"$set": {"rank": 1}}) == len(names)


async def test_a_record_outside_the_scope_is_not_there(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a"})
    store = as_seen_by(database, BORIS, Scope(creator_id=102))
    for attempt in (store.get(made["id"]), store.update(made["id"], {"rank": 1}, version=9), store.delete(made["id"])):
        with pytest.raises(ApiError) as error:
            await attempt
        assert code_of(error) == 40400
    assert (await database.store(WIDGETS).get(made["id"]))["version"] == 1


async def test_no_filter_widens_the_scope(database: Database) -> None:
    made = await database.store(WIDGETS, ANNA).create({"name": "a"})
    store = as_seen_by(database, BORIS, Scope(creator_id=102))
    wide: dict[str, Any] = {"$or": [{"creator_id": 101}, {"deleted": True}, {"_id": made["id"]}], "creator_id": 101}
    assert await store.find(wide) == []
    assert await store.update_many(wide, {"$set": {"rank": 1}}) == 0


async def test_a_row_that_was_handed_over_is_seen_besides_the_scope(database: Database) -> None:
    made = await database.store(CHILDREN, ANNA).create({"name": "a", "shared_with": [102]})
    scope = Scope(creator_id=102, user_id=102)
    assert (await database.store(CHILDREN, BORIS, scope).get(made["id"]))["name"] == "a"


async def test_a_list_follows_what_is_handed_over_and_taken_back(database: Database) -> None:
    made = await database.store(CHILDREN, ANNA).create({"name": "a"})
    boris = database.store(CHILDREN, Actor(user_id=103, department_id=13), Scope(creator_id=103, user_id=103))

    async def seen() -> list[Any]:
        page = await boris.page({"page": 1, "page_size": 20, "with_total": True})
        assert page.total == len(page.items)
        return [item["id"] for item in page.items]

    lists = [await seen()]
    for people in ([103], []):
        await database.store(CHILDREN, ANNA).update(made["id"], {"shared_with": people})
        lists += [await seen(), await seen()]
    assert lists == [[], [made["id"]], [made["id"]], [], []]


async def test_an_empty_scope_hides_even_shared_records(database: Database) -> None:
    made = await database.store(CHILDREN, ANNA).create({"name": "a", "shared_with": [102]})
    with pytest.raises(ApiError) as error:
        await database.store(CHILDREN, BORIS, Scope(user_id=102)).get(made["id"])
    assert code_of(error) == 40400


async def test_a_reference_reaches_no_further_than_the_scope(database: Database) -> None:
    note = await database.store(NOTES, ANNA).create({"title": "seen by all: notes have no scope"})
    made = await database.store(CHILDREN, BORIS, Scope(user_id=102)).create({"name": "a", "note_id": note["id"]})
    assert made["note_id"] == note["id"]


async def test_many_changes_at_once_raise_each_version(database: Database) -> None:
    store, title = database.store(NOTES), unique("many")
    for _ in range(3):
        await store.create({"title": title})
    assert await store.update_many({"title": title}, {"$inc": {"likes": 2}}) == 3
    assert [(row["version"], row["likes"]) for row in await store.find({"title": title})] == [(2, 2)] * 3


async def test_the_records_of_a_technical_collection_are_plain(database: Database) -> None:
    store = database.store(COUNTERS_LOG)
    assert await store.upsert("a", {"at": 1}) == {"id": "a", "at": 1}
    assert await store.upsert("a", {"at": 2}) == {"id": "a", "at": 2}
    assert await store.remove({"_id": "a"}) == 1
    assert await store.find() == []


async def test_a_transition_that_the_state_does_not_allow_changes_nothing(database: Database) -> None:
    store = database.store(TABLE_IMPORTS)
    made = await store.create({"collection": "notes", "headers": []})
    here = {"_id": made["id"]}
    assert await try_transition(store, here, "finish") is None
    running = await try_transition(store, here, "run", total=3)
    assert running is not None
    assert (running["status"], running["total"], running["version"]) == ("running", 3, made["version"])
    assert await try_transition(store, here, "run") is None
    assert (await store.get(made["id"]))["status"] == "running"
