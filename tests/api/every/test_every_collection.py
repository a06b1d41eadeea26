"""What every collection promises about its rows: who sees them, and what writing and deleting them does.

Collections are exercised through the routes that name them; a new plugin is covered the moment it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.data.store import Store
from handlers.route import Route
from handlers.schema.errors import ApiError
from plugins.rbac.api import Directory, Policy
from plugins.runtime import Running
from plugins.testing import expect
from tests.support.catalogue import CATALOGUE
from tests.support.office import FIVE_SCOPES, VIEWS, Office
from tests.support.resources import OF_A_RECORD, creator, deleted, endpoint, list_of, listed
from tests.support.valid_requests import Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=30)
NO_ID = "f" * 24
FAULTS_AT_ONCE = 8  # a response names 20 faults of a body, missing fields among them
COLLECTIONS = tuple(CATALOGUE.collections.values())
SCOPED = [collection for collection in COLLECTIONS if collection.scoped]
BODIES = [body for one in COLLECTIONS for body in (one.create, one.update)]


def has(*parts: Route | None) -> bool:
    """Whether all these routes exist."""
    return None not in parts


def each(name: str, values: Iterable[Any], label: Callable[[Any], str] = lambda one: one.name) -> pytest.MarkDecorator:
    """Run the test for each of the values."""
    return pytest.mark.parametrize(name, list(values), ids=label)


# below the collections, so that all of them are seen before the viewer gets other roles
views, scopes = each("view", VIEWS, str), each("view", FIVE_SCOPES, str)


# -- data scope


@each("collection", (one for one in SCOPED if has(creator(one), list_of(one))))
@views
async def test_a_list_and_its_total_are_the_rows_of_the_scope(
    collection: Collection, view: str, office: Office
) -> None:
    rows = await office.rows(collection)
    viewer = await office.look(view)
    ids, total = await listed(viewer.client, collection)
    assert {name for name, id in rows.items() if id in ids} == VIEWS[view].sees
    assert total == len(ids) == len(set(ids))
    assert view == "all" or len(ids) == len(VIEWS[view].sees)


@each("collection", (one for one in SCOPED if has(creator(one), endpoint(one, "GET"))))
@scopes
async def test_a_record_outside_the_scope_cannot_be_read(collection: Collection, view: str, office: Office) -> None:
    at = endpoint(collection, "GET")
    assert at is not None
    viewer = await office.look(view)
    for name, id in (await office.rows(collection)).items():
        expect(await viewer.client.get(path_with(at, str(id))), 0 if name in VIEWS[view].sees else 40400)


@each("collection", (one for one in SCOPED if has(creator(one), endpoint(one, "PATCH"))))
@scopes
async def test_a_record_outside_the_scope_cannot_be_changed(collection: Collection, view: str, office: Office) -> None:
    at = endpoint(collection, "PATCH")
    assert at is not None
    viewer = await office.look(view)
    for name, id in (await office.rows(collection)).items():
        before = await office.stored(collection, id)
        reply = await viewer.client.patch(path_with(at, str(id)), {"version": before["version"]})
        after = await office.stored(collection, id)
        if name in VIEWS[view].sees:
            assert expect(reply)["version"] == after["version"] == before["version"] + 1
        else:
            expect(reply, 40400)
            assert after == before


@each("collection", (one for one in SCOPED if has(creator(one), endpoint(one, "DELETE"))))
@scopes
async def test_a_record_outside_the_scope_cannot_be_deleted(collection: Collection, view: str, office: Office) -> None:
    at = endpoint(collection, "DELETE")
    assert at is not None
    viewer = await office.look(view)
    for name, id in (await office.rows(collection)).items():
        before = await office.stored(collection, id)
        if name not in VIEWS[view].sees:
            expect(await viewer.client.delete(path_with(at, str(id))), 40400)
            assert await office.stored(collection, id) == before
        elif not office.is_viewer(collection, name):
            expect(await viewer.client.delete(path_with(at, str(id))))
            assert not await office.live(collection, id)


@each("route", (one for one in OF_A_RECORD if CATALOGUE.collections[one.collection].scoped), name_of)
async def test_no_action_reaches_a_record_outside_the_scope(route: Route, office: Office, maker: Maker) -> None:
    collection = CATALOGUE.collections[route.collection]
    foreign = (await office.rows(collection))["sibling"]
    before = await office.stored(collection, foreign)
    body = (await maker.exercise(route, only_required=True)).body
    viewer = await office.look("department_and_below")
    expect(await viewer.client.call(route.method, path_with(route, str(foreign)), body), 40400)
    assert await office.stored(collection, foreign) == before


@each("collection", (one for one in SCOPED if has(creator(one))))
@views
async def test_every_door_of_the_store_shows_the_rows_of_the_scope(
    collection: Collection, view: str, office: Office, tradewind: Running
) -> None:
    rows = {collection.parse_id(id): name for name, id in (await office.rows(collection)).items()}
    store = await store_of(tradewind, collection, (await office.look(view)).id)
    ours = {"_id": {"$in": list(rows)}}
    doors = {
        "find": [row["id"] for row in await store.find(ours)],
        "stream": [row["id"] async for row in store.stream({}, ours)],
        "page": [row["id"] for row in (await store.page(PAGE, ours)).items],
        "aggregate": [row["_id"] for row in await store.aggregate([{"$match": ours}])],
        "find_one": [id for id in rows if await store.find_one({"_id": id})],
        "get, update, delete": [id for id in rows if not await unreachable(store, id)],
    }
    assert {door: {rows[id] for id in ids} for door, ids in doors.items()} == dict.fromkeys(doors, VIEWS[view].sees)
    assert await store.count(ours) == (await store.page(PAGE, ours)).total == len(VIEWS[view].sees)


@each("collection", (one for one in SCOPED if has(creator(one))))
async def test_without_an_enabled_role_there_are_no_rows(
    collection: Collection, office: Office, maker: Maker, tradewind: Running
) -> None:
    await office.rows(collection)
    viewer = await office.look("all")
    at = f"/api/v1/system/roles/{office.roles['all']}"
    role = expect(await maker.admin.get(at))
    disabled = expect(await maker.admin.patch(at, {"version": role["version"], "status": "disabled"}))
    store = await store_of(tradewind, collection, viewer.id)
    expect(await maker.admin.patch(at, {"version": disabled["version"], "status": "enabled"}))
    assert (await store.find(), await store.count()) == ([], 0)


PAGE = {"page": 1, "page_size": 20, "with_total": True}


async def store_of(service: Running, collection: Collection, user_id: int) -> Store:
    """The collection as this person sees it now."""
    directory = service.service.part(Directory)
    user = await directory.user(user_id)
    assert user is not None
    actor = await directory.actor(user, "")
    return service.service.database.store(collection, actor, await service.service.part(Policy).scope_of(actor))


async def unreachable(store: Store, id: Any) -> bool:
    """Whether no way by `id` leads to the record; the last one deletes nothing, as it asks for the impossible."""
    codes = []
    impossible = {"version": -1}
    for work in (store.get(id), store.update(id, {}, where=impossible), store.delete(id, where=impossible)):
        try:
            await work
            codes.append(0)
        except ApiError as error:
            codes.append(error.kind.code)
    assert codes in ([40400, 40400, 40400], [0, 40901, 40901])
    return codes[0] == 40400


# -- versions, deletion, keys


def changes_its_record(route: Route) -> bool:
    """Whether the route writes the record that it names: it is at its path, or returns it."""
    return route.writes and (route.path.endswith("}") or route.returns is CATALOGUE.collections[route.collection].read)


@each("route", filter(changes_its_record, OF_A_RECORD), name_of)
async def test_a_write_raises_the_version_by_one(route: Route, maker: Maker, office: Office) -> None:
    exercise = await maker.exercise(route)
    expect(await exercise.send())
    after = await office.stored(CATALOGUE.collections[route.collection], exercise.record["id"])
    assert after["version"] == exercise.record["version"] + 1


@each("route", (one for one in OF_A_RECORD if one.body and "version" in (one.body.fields or {})), name_of)
async def test_a_stale_version_is_40902_and_changes_nothing(route: Route, maker: Maker, office: Office) -> None:
    collection = CATALOGUE.collections[route.collection]
    exercise = await maker.exercise(route)
    exercise = replace(exercise, body={**(exercise.body or {}), "version": exercise.record["version"]})
    key = collection.parse_id(exercise.record["id"])
    # somebody else was faster
    before = await office.database.driver.update_one(collection.name, {"_id": key}, {"$inc": {"version": 1}})
    expect(await exercise.send(), 40902)
    assert await office.stored(collection, key) == before


@each("collection", (one for one in COLLECTIONS if has(creator(one), endpoint(one, "GET"), endpoint(one, "DELETE"))))
async def test_a_deleted_record_cannot_be_read_changed_or_deleted(collection: Collection, maker: Maker) -> None:
    record, paths = await deleted(collection, maker)
    expect(await maker.admin.get(paths["GET"]), 40400)
    expect(await maker.admin.delete(paths["DELETE"]), 40400)
    if "PATCH" in paths:
        expect(await maker.admin.patch(paths["PATCH"], {"version": record["version"] + 1}), 40400)


@each("collection", (one for one in COLLECTIONS if has(creator(one), list_of(one), endpoint(one, "DELETE"))))
async def test_a_deleted_record_is_gone_from_the_list_and_its_total(collection: Collection, maker: Maker) -> None:
    before, total_before = await listed(maker.admin, collection)
    record = await maker.record(collection.name)
    assert record["id"] in (await listed(maker.admin, collection))[0]
    at = endpoint(collection, "DELETE")
    assert at is not None
    expect(await maker.admin.delete(path_with(at, str(record["id"]))))
    after, total_after = await listed(maker.admin, collection)
    # making the record may have made others that it refers to
    assert record["id"] not in after
    assert set(before) <= set(after)
    assert total_after - total_before == len(after) - len(before)


UNIQUE = [
    (collection, index)
    for collection in COLLECTIONS
    for index in collection.indexes
    if index.unique and set(index.keys) & set(collection.writable) and has(creator(collection))
]


@each("key", UNIQUE, lambda key: f"{key[0].name}-{'-'.join(key[1].keys)}")
async def test_a_taken_key_is_40900_and_free_again_after_a_delete(key: tuple[Collection, Index], maker: Maker) -> None:
    collection, index = key
    route, at = creator(collection), endpoint(collection, "DELETE")
    assert route is not None
    first = await maker.exercise(route)
    made = expect(await first.send())
    second = await maker.exercise(route)
    twin = {**second.body, **{name: first.body[name] for name in index.keys if name in first.body}}
    taken = expect(await maker.admin.post(second.path, twin), 40900)
    assert taken["field"] in index.keys
    if at is not None:
        expect(await maker.admin.delete(path_with(at, str(made["id"]))))
        expect(await maker.admin.post(second.path, twin))


@each("route", (one for one in CATALOGUE.routes if one.body in BODIES), name_of)
async def test_what_the_service_stamps_cannot_be_given(route: Route, maker: Maker) -> None:
    collection = maker.collection_of(route)
    assert collection
    assert route.body
    stamped = {"id", "_id", "deleted", "deleted_at", "shared_with", *collection.audit_fields, *collection.internal}
    forged = (stamped | {name for name, child in collection.fields.items() if child.read_only}) - {
        *(route.body.fields or ())
    }
    for names in batched(sorted(forged), FAULTS_AT_ONCE):
        reply = await maker.admin.call(route.method, path_with(route, NO_ID), dict.fromkeys(names, 1))
        expect(reply, 40001)
        assert set(names) <= {error["field"] for error in reply.data["errors"] if error["rule"] == "unknown"}


def batched(names: list[str], size: int) -> list[list[str]]:
    return [names[at : at + size] for at in range(0, len(names), size)]


# -- indexes


LOOKED_UP = [
    (collection, index.keys[0])
    for collection in COLLECTIONS
    for index in collection.indexes
    if index.unique and len(index.keys) == 1 and collection.all_fields[index.keys[0]].kind == "text"
]


@each("at", LOOKED_UP, lambda at: f"{at[0].name}.{at[1]}")
async def test_a_record_is_looked_up_by_its_unique_key_without_reading_the_others(
    at: tuple[Collection, str], tradewind: Running
) -> None:
    collection, key = at
    driver = tradewind.service.database.driver
    index = next(spec for spec in collection.index_specs if spec.unique and spec.keys[0][0] == key)
    wanted = tradewind.service.database.store(collection)._visibility.filter({key: {"$in": ["x", "y"]}})
    plans = await driver.command({"explain": {"find": collection.name, "filter": wanted}, "verbosity": "queryPlanner"})
    # won or not: with as few records as a test has, any plan may win
    assert index.name in str(plans["queryPlanner"])
