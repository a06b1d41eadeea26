"""What may always be written at a record: every document declares it, and every state allows it."""

from __future__ import annotations

import pytest

from handlers.data.collection import Collection
from handlers.route import Route
from plugins.runtime import Running
from plugins.testing import expect
from tests.support.catalogue import CATALOGUE
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=60)
NOTES = {route.collection: route for route in CATALOGUE.routes if route.path.endswith("/{id}/notes")}
# what has a number and goes from state to state: orders, contracts, invoices, claims
DOCUMENTS = [one for one in CATALOGUE.collections.values() if one.states is not None and "number" in one.fields]


def writable(collection: Collection) -> set[str]:
    """The notes that clients may give a record when they make it."""
    names = ("reference", "remark")
    return {name for name in names if name in collection.fields and not collection.fields[name].read_only}


def noted(route: Route) -> set[str]:
    """What the route changes."""
    return {*((route.body and route.body.fields) or {})} - {"version"}


@pytest.mark.parametrize("collection", DOCUMENTS, ids=lambda one: one.name)
async def test_reference_and_remark_of_every_document_may_always_change(collection: Collection) -> None:
    assert collection.name in NOTES or not writable(collection)
    assert not writable(collection) or noted(NOTES[collection.name]) == writable(collection)


@pytest.mark.parametrize("route", NOTES.values(), ids=name_of)
async def test_notes_change_in_every_state_and_nothing_else_does(
    route: Route, maker: Maker, tradewind: Running
) -> None:
    collection = CATALOGUE.collections[route.collection]
    exercise = await maker.exercise(route)
    key, driver = collection.parse_id(exercise.record["id"]), tradewind.service.database.driver
    read = exercise.path.removesuffix("/notes")
    for state in collection.states.states if collection.states else [None]:
        if state is not None:
            await driver.update_one(collection.name, {"_id": key}, {"$set": {collection.machine.field: state}})
        before = expect(await maker.admin.get(read))
        body = {name: f"{name} while {state}" for name in noted(route)}
        changed = expect(await maker.admin.patch(exercise.path, {**body, "version": before["version"]}))
        stamps = {name: value for name, value in changed.items() if name == "version" or name.startswith("updat")}
        assert changed == {**before, **body, **stamps}
        expect(await maker.admin.patch(exercise.path, {**body, "version": before["version"]}), 40902)
