"""Every resource that `crud` serves has a history, and what is deleted comes back; a new plugin is covered too."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.route import Route
from handlers.schema.fields import name_beside
from plugins.testing import Client, People, expect
from tests.support.catalogue import CATALOGUE, chosen_routes, reached_alike, stand_ins
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=30)
ROUTES = {name_of(route): route for route in CATALOGUE.routes}


def every(ending: str) -> pytest.MarkDecorator:
    """Run the test for every route of a record whose path ends so."""
    found = [route for route in chosen_routes() if route.path.endswith(f"/{{id}}/{ending}")]
    return pytest.mark.parametrize("route", stand_ins(found, reached_alike), ids=name_of)


def record_path(route: Route) -> str:
    return route.path.rpartition("/")[0]


async def history_of(client: Client, path: str) -> list[dict[str, Any]]:
    page = expect(await client.get(f"{path}/history?page_size=200"))
    assert page["total"] == len(page["items"])
    rows: list[dict[str, Any]] = page["items"]
    return rows


def replayed(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a record after all changes, made one after the other, from the oldest."""
    state: dict[str, Any] = {}
    for entry in reversed(history):
        for change in entry["changes"]:
            assert state.get(change["field"]) == change["before"]
            state[change["field"]] = change["after"]
    return state


def test_whatever_crud_reads_has_a_history_and_what_it_deletes_can_come_back() -> None:
    read = {route.path for route in CATALOGUE.routes if route.path.endswith("/{id}/history")}
    assert len(read) >= 30
    assert len([path for path in ROUTES if path.endswith("/{id}/restore")]) >= 25


@every("history")
async def test_the_history_of_a_new_record_is_its_creation_and_gives_the_record_to_who_sees_it(
    route: Route, maker: Maker, people: People
) -> None:
    exercise, collection = await maker.exercise(route), CATALOGUE.collections[route.collection]
    path = exercise.path.removesuffix("/history")
    record, reply = expect(await exercise.client.get(path)), await exercise.client.get(f"{path}/history?page_size=200")
    assert b"assword" not in reply.body
    history = expect(reply)["items"]
    assert expect(reply)["total"] == len(history)
    assert history[-1]["action"] == "create"
    assert history[-1]["user_id"] == record.get("creator_id", history[-1]["user_id"])
    assert all(entry["user_name"] for entry in history)
    state = replayed(history)
    for name in collection.recorded:
        if name in record and record[name] is not None and name in state:
            assert state[name] == record[name], name
    named = {change["field"]: change["after_name"] for entry in reversed(history) for change in entry["changes"]}
    for name in collection.references.keys() & {name for name in named if record.get(name) is not None}:
        if isinstance(record.get(name_beside(name)), str):
            assert named[name] == record[name_beside(name)], name
    assert set(state) <= set(collection.read.response_fields)
    if collection.scoped:
        stranger = await people.person([route.access], scope="self")
        expect(await stranger.get(path), 40400)
        expect(await stranger.get(exercise.path), 40400)


CHANGED = [
    route
    for route in chosen_routes()
    if route.method == "PATCH" and f"GET {route.path}/history" in ROUTES and route.path.endswith("/{id}")
]


@pytest.mark.parametrize("route", CHANGED, ids=name_of)
async def test_replayed_after_a_change_the_history_gives_the_record(route: Route, maker: Maker) -> None:
    exercise = await maker.exercise(route)
    before = expect(await exercise.client.get(exercise.path))
    reply = await exercise.send({"X-Request-ID": "the-change"})
    changed = expect(reply)
    changes, *_ = history = await history_of(exercise.client, exercise.path)
    assert (changes["action"], changes["request_id"], changes["version"]) == (
        "update",
        "the-change",
        changed["version"],
    )
    state, recorded = replayed(history), CATALOGUE.collections[route.collection].recorded
    shown = [name for name in recorded if name in changed]
    # what the response computes is stored nowhere
    stored = [name for name in shown if name in state]
    assert {name: state[name] for name in stored} == {name: changed[name] for name in stored}
    different = {name for name in shown if changed[name] != before.get(name)}
    assert {change["field"] for change in changes["changes"]} == different & {*recorded}


@every("restore")
async def test_a_permitted_user_deletes_and_restores_a_record_and_its_history_shows_both(
    route: Route, maker: Maker, people: People
) -> None:
    exercise = await maker.exercise(route)
    path, client = exercise.path.removesuffix("/restore"), exercise.client
    listed = ROUTES.get(f"GET {record_path(route).rpartition('/')[0]}")
    readable = f"GET {record_path(route)}" in ROUTES
    with_history = readable and f"GET {record_path(route)}/history" in ROUTES
    reader = await reader_of(people, route)
    expect(await reader.post(exercise.path), 40300)
    if listed is not None and "deleted" in listed.query:
        rows = expect(await client.get(f"{listed.path}?deleted=true&page_size=200&sort=-id"))["items"]
        assert exercise.record["id"] in [row["id"] for row in rows]
        rows = expect(await client.get(f"{listed.path}?page_size=200&sort=-id"))["items"]
        assert exercise.record["id"] not in [row["id"] for row in rows]
        expect(await reader.get(f"{listed.path}?deleted=true"), 40300)
    if readable:
        expect(await client.get(path), 40400)
    if with_history:
        expect(await reader.get(f"{path}/history"), 40400)
        assert (await history_of(client, path))[0]["action"] == "delete"
    restored = expect(await exercise.send())
    assert restored["id"] == exercise.record["id"]
    expect(await exercise.send(), 40400)
    if readable:
        expect(await client.get(path))
    if with_history:
        assert [entry["action"] for entry in (await history_of(client, path))[:2]] == ["restore", "delete"]


async def reader_of(people: People, route: Route) -> Client:
    """Somebody who may do everything with the records but restore them."""
    resource = route.access.rpartition(":")[0]
    return await people.person([f"{resource}:list", f"{resource}:read", f"{resource}:delete"], scope="all")
