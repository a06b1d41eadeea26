"""What every collection promises about its rows: who sees them, and what writing and deleting them does.

Collections are exercised through the routes that name them; a new plugin is covered the moment it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from handlers.access.actor import Actor
from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.data.store import Store
from handlers.data.visible.scope import Scope
from handlers.route import Route
from handlers.schema.errors import ApiError, ValidationFailed
from plugins.boot.runtime import Running
from plugins.rbac.api import Directory, Policy
from plugins.testing import expect
from tests.support.catalogue import (
    CATALOGUE,
    chosen_collections,
    chosen_routes,
    declared_scope,
    handled_alike,
    reached_alike,
    stand_ins,
)
from tests.support.office import VIEWS, Office
from tests.support.resources import OF_A_RECORD, creator, endpoint, list_of, listed
from tests.support.valid_requests import Exercise, Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=30)
FAULTS_AT_ONCE = 8  # of a body 20 faults are named, missing fields among them
COLLECTIONS = chosen_collections()
SCOPED = [collection for collection in COLLECTIONS if collection.scoped and creator(collection)]
BODIES = [body for one in COLLECTIONS for body in (one.create, one.update)]
HARDEST = "department_and_below"  # shows three of the five, of two departments
NO_ROLE = "no enabled role"


def each(name: str, values: Iterable[Any], label: Callable[[Any], str] = lambda one: one.name) -> pytest.MarkDecorator:
    """Run the test for each of the values."""
    return pytest.mark.parametrize(name, list(values), ids=label)


# -- data scope


_OF_EACH_SCOPE = stand_ins(filter(list_of, SCOPED), declared_scope)
# below the views, as the viewer gets other roles for each
SEEN = [
    pytest.param(one, view, id=f"{one.name}-{view}")
    for view in VIEWS
    for one in (filter(list_of, SCOPED) if view == HARDEST else _OF_EACH_SCOPE)
]


@pytest.mark.parametrize(("collection", "view"), SEEN)
async def test_a_list_and_its_total_are_the_rows_of_the_scope(
    collection: Collection, view: str, office: Office
) -> None:
    await check_list(collection, view, office)


async def check_list(collection: Collection, view: str, office: Office) -> None:
    rows = await office.rows(collection)
    viewer = await office.look(view)
    ids, total = await listed(viewer.client, collection)
    assert {name for name, id in rows.items() if id in ids} == VIEWS[view].sees
    assert total == len(ids) == len(set(ids))
    assert view == "all" or len(ids) == len(VIEWS[view].sees)


@each("collection", (one for one in SCOPED if endpoint(one, "GET")))
async def test_a_record_outside_the_scope_cannot_be_read(collection: Collection, office: Office) -> None:
    await check_read(collection, HARDEST, office)


async def check_read(collection: Collection, view: str, office: Office) -> None:
    at = endpoint(collection, "GET")
    assert at is not None
    viewer = await office.look(view)
    for name, id in (await office.rows(collection)).items():
        expect(await viewer.client.get(path_with(at, str(id))), 0 if name in VIEWS[view].sees else 40400)


@each("collection", (one for one in SCOPED if endpoint(one, "PATCH")))
async def test_a_record_outside_the_scope_cannot_be_changed(collection: Collection, office: Office) -> None:
    await check_change(collection, HARDEST, office)


async def check_change(collection: Collection, view: str, office: Office) -> None:
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


@each("collection", (one for one in SCOPED if endpoint(one, "DELETE")))
async def test_a_record_outside_the_scope_cannot_be_deleted(collection: Collection, office: Office) -> None:
    await check_delete(collection, HARDEST, office)


async def check_delete(collection: Collection, view: str, office: Office) -> None:
    at = endpoint(collection, "DELETE")
    assert at is not None
    viewer = await office.look(view)
    for name, id in (await office.rows(collection)).items():
        before = _with_count(await office.stored(collection, id))
        if name not in VIEWS[view].sees:
            expect(await viewer.client.delete(path_with(at, str(id))), 40400)
            assert _with_count(await office.stored(collection, id)) == before
        elif not office.is_viewer(collection, name):
            expect(await viewer.client.delete(path_with(at, str(id))))
            assert not await office.live(collection, id)


def _with_count(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the number of its changes in place of them: older ones move to the archive at any moment."""
    return {**document, "_history": (document.get("_history") or {}).get("n")}


Eyes = Mapping[str, tuple[Actor, Scope]]


@pytest.fixture(scope="module")
def eyes(io_loop: IOLoop, office: Office, tradewind: Running) -> Eyes:
    """How the service sees each viewer: the person, and the data scope that follows from the roles."""

    async def found() -> Eyes:
        eyes = {view: await eye_of(tradewind, (await office.look(view)).id) for view in VIEWS}
        at = f"/api/v1/system/roles/{office.roles['all']}"
        viewer, role = await office.look("all"), expect(await office.maker.admin.get(at))
        disabled = expect(await office.maker.admin.patch(at, {"version": role["version"], "status": "disabled"}))
        eyes[NO_ROLE] = await eye_of(tradewind, viewer.id)
        expect(await office.maker.admin.patch(at, {"version": disabled["version"], "status": "enabled"}))
        return eyes

    made: Eyes = io_loop.run_sync(found)
    return made


async def eye_of(running: Running, user_id: int) -> tuple[Actor, Scope]:
    directory = running.service.part(Directory)
    user = await directory.user(user_id)
    assert user is not None
    actor = await directory.actor(user, "")
    return actor, await running.service.part(Policy).scope_of(actor)


@each("collection", stand_ins(SCOPED, declared_scope))
async def test_every_door_of_the_store_shows_the_rows_of_the_scope(
    collection: Collection, office: Office, eyes: Eyes, tradewind: Running
) -> None:
    rows = {collection.parse_id(id): name for name, id in (await office.rows(collection)).items()}
    ours = {"_id": {"$in": list(rows)}}
    for view, eye in eyes.items():
        store = tradewind.service.database.store(collection, *eye)
        doors = {
            "find": [row["id"] for row in await store.find(ours)],
            "stream": [row["id"] async for row in store.stream({}, ours)],
            "page": [row["id"] for row in (await store.page(PAGE, ours)).items],
            "aggregate": [row["_id"] for row in await store.aggregate([{"$match": ours}])],
            "find_one": [id for id in rows if await store.find_one({"_id": id})],
            "get, update, delete": [id for id in rows if not await unreachable(store, id)],
        }
        sees = VIEWS[view].sees if view in VIEWS else set()
        assert {door: {rows[id] for id in ids} for door, ids in doors.items()} == dict.fromkeys(doors, sees), view
        assert await store.count(ours) == (await store.page(PAGE, ours)).total == len(sees), view
        assert view in VIEWS or (await store.find(), await store.count()) == ([], 0)


PAGE = {"page": 1, "page_size": 20, "with_total": True}


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


# -- the routes of a record


# it returns another record of the same collection
MAKES_ANOTHER = {"POST /api/v1/hrm/employees/{id}/rehire"}


def changes_its_record(route: Route) -> bool:
    """Whether the route writes the record that it names: it is at its path, or returns it."""
    if name_of(route) in MAKES_ANOTHER:
        return False
    return route.writes and (route.path.endswith("}") or route.returns is CATALOGUE.collections[route.collection].read)


def takes_version(route: Route) -> bool:
    return "version" in ((route.body and route.body.fields) or {}) or "version" in route.query


OF_RECORDS = [
    route
    for route in chosen_routes()
    if route in OF_A_RECORD
    and (CATALOGUE.collections[route.collection].scoped or takes_version(route) or changes_its_record(route))
]


def answered_alike(route: Route) -> Hashable:
    return reached_alike(route), takes_version(route), changes_its_record(route)


@each("route", stand_ins(OF_RECORDS, answered_alike), name_of)
async def test_a_record_is_reached_within_the_scope_and_written_at_its_version(
    route: Route, office: Office, maker: Maker
) -> None:
    collection, exercise = CATALOGUE.collections[route.collection], await maker.exercise(route)
    if collection.scoped:
        await check_unreachable(exercise, collection, office)
    if takes_version(route):
        exercise = await check_stale(exercise, collection, office)
    if changes_its_record(route):
        before = await office.stored(collection, exercise.record["id"])
        expect(await exercise.send(), exercise.code)
        after = await office.stored(collection, exercise.record["id"])
        assert after["version"] == before["version"] + 1


async def check_unreachable(exercise: Exercise, collection: Collection, office: Office) -> None:
    """A record outside the scope is 40400, and stays as it is."""
    route, body = exercise.route, exercise.body
    if isinstance(body, dict) and route.body is not None:  # what it refers to is not in sight either
        body = {name: value for name, value in body.items() if (route.body.fields or {})[name].required}
    foreign = (await office.rows(collection))["sibling"]
    before = await office.stored(collection, foreign)
    viewer = await office.look(HARDEST)
    expect(await viewer.client.call(route.method, path_with(route, str(foreign)), body), 40400)
    assert await office.stored(collection, foreign) == before


async def check_stale(exercise: Exercise, collection: Collection, office: Office) -> Exercise:
    """The version that was read is 40902 after a change, and nothing is written; the request at the version now."""
    key = collection.parse_id(exercise.record["id"])
    # somebody else was faster
    before = await office.database.driver.update_one(collection.name, {"_id": key}, {"$inc": {"version": 1}})
    assert before is not None
    stale = await at_version(exercise, before["version"] - 1).send()
    assert expect(stale, 40902) == {"version": before["version"], "changed": None}
    assert await office.stored(collection, exercise.record["id"]) == before
    return at_version(exercise, before["version"])


def at_version(exercise: Exercise, version: int) -> Exercise:
    if exercise.route.body is None:
        return replace(exercise, path=f"{exercise.path}?version={version}")
    return replace(exercise, body={**(exercise.body or {}), "version": version})


# -- deletion, keys, stamps


DELETED = [one for one in COLLECTIONS if creator(one) and list_of(one) and endpoint(one, "DELETE")]


def deleted_alike(collection: Collection) -> Hashable:
    ways = endpoint(collection, "DELETE"), list_of(collection)
    return tuple(handled_alike(route) for route in ways if route is not None)


@each("collection", stand_ins(DELETED, deleted_alike))
async def test_a_deleted_record_is_gone(collection: Collection, maker: Maker) -> None:
    record = await maker.record(collection.name)
    found = {method: endpoint(collection, method) for method in ("GET", "PATCH", "DELETE")}
    paths = {method: path_with(route, str(record["id"])) for method, route in found.items() if route is not None}
    before, total_before = await listed(maker.admin, collection)
    assert record["id"] in before
    expect(await maker.admin.delete(paths["DELETE"]))
    after, total_after = await listed(maker.admin, collection)
    assert (set(before) - set(after), total_after) == ({record["id"]}, total_before - 1)
    for method, path in paths.items():
        body = {"version": record["version"] + 1} if method == "PATCH" else None
        expect(await maker.admin.call(method, path, body), 40400)


UNIQUE = [
    (collection, index)
    for collection in COLLECTIONS
    for index in collection.indexes
    if index.unique and set(index.keys) & set(collection.writable) and creator(collection)
]
KEPT = {"core_custom_fields"}  # records still have values under the name, so it is restored instead


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
    if at is not None and collection.name not in KEPT:
        expect(await maker.admin.delete(path_with(at, str(made["id"]))))
        expect(await maker.admin.post(second.path, twin))


def test_what_the_service_stamps_cannot_be_given() -> None:
    taken = {}
    for route in (one for one in chosen_routes() if one.body in BODIES):
        collection = next(one for one in COLLECTIONS if route.body in (one.create, one.update))
        stamped = {"id", "_id", "deleted", "deleted_at", "shared_with", *collection.audit_fields, *collection.internal}
        read_only = {name for name, child in collection.fields.items() if child.read_only}
        forged = (stamped | read_only) - {*((route.body and route.body.fields) or ())}
        taken[route.name] = forged - unknown(route, sorted(forged))
    assert {name: fields for name, fields in taken.items() if fields} == {}


def unknown(route: Route, names: list[str]) -> set[str]:
    """Those of the names that the body has no fields for."""
    assert route.check_body is not None
    found: set[str] = set()
    for at in range(0, len(names), FAULTS_AT_ONCE):
        with pytest.raises(ValidationFailed) as refused:
            route.check_body(dict.fromkeys(names[at : at + FAULTS_AT_ONCE], 1))
        found |= {fault.field for fault in refused.value.errors if fault.rule == "unknown"}
    return found


# -- indexes


async def test_a_record_is_looked_up_by_its_unique_key_without_reading_the_others(tradewind: Running) -> None:
    scanned = [
        (collection.name, index.keys[0])
        for collection in COLLECTIONS
        for index in collection.indexes
        if index.unique and len(index.keys) == 1 and index.keys[0] in collection.all_fields
        if collection.all_fields[index.keys[0]].kind == "text"
        if not await is_looked_up(tradewind, collection, index.keys[0])
    ]
    assert scanned == []


async def is_looked_up(running: Running, collection: Collection, key: str) -> bool:
    """Whether MongoDB thinks of the unique index for a few values of its key."""
    index = next(spec for spec in collection.index_specs if spec.unique and spec.keys[0][0] == key)
    wanted = running.service.database.store(collection)._visibility.filter({key: {"$in": ["x", "y"]}})
    explain = {"explain": {"find": collection.name, "filter": wanted}, "verbosity": "queryPlanner"}
    plans = await running.service.database.driver.command(explain)
    # won or not: with as few records as a test has, any plan may win
    return index.name in str(plans["queryPlanner"])
