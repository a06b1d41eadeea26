"""What every reference promises about deletions: what it holds stays, what it lets go is let go.

A holder is a record of the referring collection that is made to refer to another one, in the database; a new plugin is
covered the moment it is declared.
"""

from __future__ import annotations

from typing import Any

import pytest

from config.database import Document
from handlers.data.collection import Collection, named, new_id
from handlers.data.database import Database
from handlers.data.references.holders import HELD, Holder
from handlers.data.references.links import Link
from plugins.boot.runtime import Running
from plugins.rbac.messages import HOLDS
from plugins.testing import Reply, expect
from tests.support.catalogue import CATALOGUE, chosen_collections
from tests.support.openapi_checks import CONFLICT_SCHEMA, Described
from tests.support.resources import endpoint
from tests.support.valid_requests import Maker, path_with

pytestmark = pytest.mark.gen_test(timeout=30)
COLLECTIONS = CATALOGUE.collections.values()
KNOWN = named(COLLECTIONS)
HOLDERS = [
    Holder(collection, link)
    for collection in COLLECTIONS
    for link in collection.acting_links
    if link.target in KNOWN and endpoint(KNOWN[link.target], "DELETE")
]


def each(rule: str) -> pytest.MarkDecorator:
    """Run the test for each reference with this rule."""
    wanted = [one for one in HOLDERS if one.link.on_delete == rule and one.collection in chosen_collections()]
    return pytest.mark.parametrize("holder", wanted, ids=lambda one: f"{one.collection.name}.{one.link.path}")


@each("restrict")
async def test_a_held_record_is_deleted_only_without_its_holder(
    holder: Holder, maker: Maker, tradewind: Running, described: Described
) -> None:
    target, id, held_by = await referred(holder, maker, tradewind)
    refused = await delete(maker, target, id)
    assert described.faults(CONFLICT_SCHEMA, refused.json) == []
    told = expect(refused, 40901)["held_by"]
    assert [(held["collection"], held["count"]) for held in told] == [(holder.collection.name, 1)]
    assert refused.json["msg"] == sentence(holder)
    assert not (await stored(tradewind, target, id))["deleted"]
    await let_go(maker, tradewind, holder, held_by)
    expect(await delete(maker, target, id))


@each("cascade")
async def test_a_record_is_deleted_with_what_belongs_to_it(holder: Holder, maker: Maker, tradewind: Running) -> None:
    target, id, held_by = await referred(holder, maker, tradewind)
    before = await stored(tradewind, holder.collection, held_by)
    expect(await delete(maker, target, id))
    after = await stored(tradewind, holder.collection, held_by)
    assert after["deleted"]
    assert (after["version"], after["updater_id"]) == (before["version"] + 1, 1)


@each("cascade")
async def test_what_was_deleted_with_a_record_is_restored_with_it(
    holder: Holder, maker: Maker, tradewind: Running
) -> None:
    target, id, held_by = await referred(holder, maker, tradewind)
    expect(await delete(maker, target, id))
    route = endpoint(target, "DELETE")
    assert route is not None
    expect(await maker.admin.post(f"{path_with(route, str(id))}/restore"))
    assert not (await stored(tradewind, holder.collection, held_by))["deleted"]
    expect(await delete(maker, target, id))  # lists of other tests cannot do with what `made` leaves out


@each("clear")
async def test_a_record_takes_its_references_with_it(holder: Holder, maker: Maker, tradewind: Running) -> None:
    target, id, held_by = await referred(holder, maker, tradewind)
    before = await stored(tradewind, holder.collection, held_by)
    expect(await delete(maker, target, id))
    after = await stored(tradewind, holder.collection, held_by)
    assert (holder.link.ids([after]), after["deleted"]) == (set(), False)
    assert (after["version"], after["updater_id"]) == (before["version"] + 1, 1)


async def test_the_holders_of_a_record_are_found_without_reading_the_others(tradewind: Running) -> None:
    plans = {
        (holder.collection.name, holder.link.path): await tradewind.service.database.driver.command(
            {
                "explain": {"find": holder.collection.name, "filter": holder.referring([new_id(), new_id()])},
                "verbosity": "queryPlanner",
            }
        )
        for holder in HOLDERS
    }
    assert [at for at, plan in plans.items() if "COLLSCAN" in str(plan["queryPlanner"])] == []


def test_the_route_that_deletes_declares_what_holds_a_record() -> None:
    for holder in HOLDERS:
        route = endpoint(KNOWN[holder.link.target], "DELETE")
        assert route is not None
        if holder.link.on_delete == "restrict":
            assert (holder.link.held or HELD) in [refusal.message for refusal in route.refusals]


async def referred(holder: Holder, maker: Maker, running: Running) -> tuple[Collection, Any, Any]:
    """A collection, a record of it as the API names it, and the `_id` of a holder that alone refers to that record."""
    target = KNOWN[holder.link.target]
    id = (await maker.record(target.name))["id"]
    database, collection = running.service.database, holder.collection
    held_by = await made(maker, database, collection)
    document = await database.driver.find_one(collection.name, {"_id": held_by})
    assert document is not None
    refer(document, holder.link, target.parse_id(id))
    changes = {name: document[name] for name in {holder.link.path.split(".")[0]}}
    await database.driver.update_one(collection.name, {"_id": held_by}, {"$set": changes})
    database.tell(collection.name, held_by)
    if (collection.name, holder.link.path) == ("crm_payments", "contract_id"):
        # its deletion takes it off what the contract has received
        received = {"received_amount": document["amount"]}
        await database.driver.update_one(target.name, {"_id": target.parse_id(id)}, {"$set": received})
    return target, id, held_by


async def made(maker: Maker, database: Database, collection: Collection) -> Any:
    if maker.creator(collection.name) is not None:
        return collection.parse_id((await maker.record(collection.name))["id"])
    document = {"_id": new_id(), "deleted": False, "version": 1, **collection.defaults}
    await database.driver.insert(collection.name, [document])
    return document["_id"]


def refer(document: Document, link: Link, id: Any) -> None:
    """Make the document refer to `id` by this link."""
    *above, last = link.path.split(".")
    place: Any = document
    for name in above:
        if isinstance(place, list):
            place = place[0]
        place[name] = place.get(name) or {}
        place = place[name]
    if isinstance(place, list):
        place = place[0]
    place[last] = [id] if link.is_list else id


def sentence(holder: Holder) -> str:
    for held in CATALOGUE.holdings:  # of people, who hand over first
        if (held.collection.name, held.field) == (holder.collection.name, holder.link.path):
            return HOLDS.zh.format(holdings=f"{held.name.zh} 1")
    noun = holder.collection.noun.zh or holder.collection.title
    return (holder.link.held or HELD.filled(holders=f"{noun} 1")).zh


async def delete(maker: Maker, target: Collection, id: Any) -> Reply:
    route = endpoint(target, "DELETE")
    assert route is not None
    return await maker.admin.delete(path_with(route, str(id)))


async def let_go(maker: Maker, running: Running, holder: Holder, held_by: Any) -> None:
    """Delete the holder, by the API where there is a way."""
    if maker.creator(holder.collection.name) is not None and endpoint(holder.collection, "DELETE") is not None:
        expect(await delete(maker, holder.collection, held_by))
        return
    driver = running.service.database.driver
    await driver.update_one(holder.collection.name, {"_id": held_by}, {"$set": {"deleted": True}})


async def stored(running: Running, collection: Collection, id: Any) -> Document:
    found = await running.service.database.driver.find_one(collection.name, {"_id": collection.parse_id(id)})
    assert found is not None
    return found
