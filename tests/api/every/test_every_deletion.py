"""A deletion with `?version=` deletes what the client read, and nothing that somebody changed meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from handlers.route import Route
from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE
from tests.support.office import Office
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=30)
CUSTOMERS = "/api/v1/crm/customers"
DELETIONS = [
    route
    for route in CATALOGUE.routes
    if route.method == "DELETE" and route.path.endswith("/{id}") and route.collection in CATALOGUE.collections
]


@pytest.mark.parametrize("route", DELETIONS, ids=name_of)
async def test_a_stale_version_deletes_nothing(route: Route, maker: Maker, office: Office) -> None:
    collection, exercise = CATALOGUE.collections[route.collection], await maker.exercise(route)
    id, version = exercise.record["id"], exercise.record["version"]
    before = await office.stored(collection, id)
    stale = replace(exercise, path=f"{exercise.path}?version={version + 1}")
    expect(await stale.send(), 40902)
    assert await office.stored(collection, id) == before
    expect(await replace(exercise, path=f"{exercise.path}?version={version}").send(), exercise.code)


async def test_of_a_change_and_a_deletion_at_once_only_one_happens(admin: Client) -> None:
    for _ in range(5):
        made = expect(await admin.post(CUSTOMERS, {"name": unique("c")}))
        at, version = f"{CUSTOMERS}/{made['id']}", made["version"]
        changed, deleted = await asyncio.gather(
            admin.patch(at, {"version": version, "remark": "kept"}), admin.delete(f"{at}?version={version}")
        )
        assert (changed.code, deleted.code) in {(0, 40902), (40400, 0)}


async def test_a_version_that_is_none_is_named(admin: Client) -> None:
    at = f"{CUSTOMERS}/{expect(await admin.post(CUSTOMERS, {'name': unique('c')}))['id']}"
    for version in ("0", "x", ""):
        refused = await admin.delete(f"{at}?version={version}")
        assert (refused.code, refused.fields) == (40001, {"version"})


async def test_an_item_of_a_dictionary_is_deleted_at_the_version_that_was_read(admin: Client) -> None:
    at = "/api/v1/system/dictionaries"
    body = {"type": unique("kind").lower().replace("-", "_"), "name": "x", "items": [{"value": "a", "label": "a"}]}
    made = expect(await admin.post(at, body))
    expect(await admin.delete(f"{at}/{made['id']}/items/a?version={made['version'] + 1}"), 40902)
    expect(await admin.delete(f"{at}/{made['id']}/items/a?version={made['version']}"))
