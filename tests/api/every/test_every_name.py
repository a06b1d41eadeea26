"""Beside every reference of a response stands the name of the record, as it is called now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from handlers.data.collection import Collection, named
from handlers.data.references.record_names import name_of as name_in
from handlers.route import Route
from handlers.schema.fields import Field, Sibling, fields_in, name_beside
from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE, chosen_collections
from tests.support.resources import creator, endpoint, list_of
from tests.support.valid_requests import Maker, path_with

pytestmark = pytest.mark.gen_test(timeout=60)
REFERRED = named(CATALOGUE.collections.values())
# ids that name no record of one collection, and why
WITHOUT_NAMES: Mapping[str, str] = {
    "resource_id": "of many kinds: a record of its `biz_type`, or what a path names",
    "shipment_id": "of two kinds: a delivery or a receipt; `order_line` names what it moved",
    "wecom_id": "of a department of WeCom",
    "document_id": "of many kinds: a receipt, a delivery, a transfer or a stock count; `document_number` names it",
    "request_id": "names a request in the logs",
    "session_id": "a session has no name",
    "device_id": "what a telephone calls itself",
    "wecom_user_id": "of an account of WeCom",
}


def objects(route: Route) -> Iterator[tuple[str, Field]]:
    """Every object in the response of a route, with its path."""
    return ((path, field) for path, field in fields_in(route.returns) if field.kind == "object")


def test_every_id_in_a_response_has_its_name_beside_it() -> None:
    nameless = {}
    for route in CATALOGUE.routes:
        for path, shape in objects(route):
            named_here = {sibling.beside for sibling in shape.siblings}
            ids = {name for name in shape.response_fields if name.endswith(("_id", "_ids"))}
            nameless[route.name, path] = ids - named_here - WITHOUT_NAMES.keys()
    assert {at: ids for at, ids in nameless.items() if ids} == {}


def test_ids_without_names_are_in_some_response() -> None:
    shown = {name for route in CATALOGUE.routes for _, shape in objects(route) for name in shape.response_fields}
    assert WITHOUT_NAMES.keys() <= shown


def test_every_named_reference_is_to_records_that_have_names() -> None:
    targets = {one.target for route in CATALOGUE.routes for _, shape in objects(route) for one in shape.siblings}
    assert [target for target in targets if not (REFERRED[target].label_field or REFERRED[target].code_field)] == []


def test_a_name_is_called_like_its_reference() -> None:
    one = {field: name_beside(field, False) for field in ("owner_id", "leader_user_id", "submitted_by")}
    assert [*one.values()] == ["owner_name", "leader_user_name", "submitted_by_name"]
    several = {field: name_beside(field, True) for field in ("place_ids", "collaborators", "copied")}
    assert [*several.values()] == ["place_names", "collaborator_names", "copied_names"]


COLLECTIONS = [
    one for one in chosen_collections() if creator(one) and (endpoint(one, "GET") or list_of(one)) and one.read.siblings
]


async def shown(client: Client, collection: Collection, id: Any) -> list[dict[str, Any]]:
    """The record as its own route and its list show it."""
    views = []
    if (at := endpoint(collection, "GET")) is not None:
        views.append(expect(await client.get(path_with(at, str(id)))))
    if (listing := list_of(collection)) is not None:
        listed = expect(await client.get(f"{listing.path}?page_size=200&sort=-id" if listing.paged else listing.path))
        views += [row for row in _flat(listed["items"] if listing.paged else listed) if row["id"] == id]
    return views


def _flat(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _flat(node.get("children") or [])


class Referred:
    """The records that one record refers to, as they are stored."""

    def __init__(self, tradewind: Running) -> None:
        self.database = tradewind.service.database

    async def names(self, sibling: Sibling, value: Any) -> Any:
        """What the records are called, read from the database."""
        if value is None:
            return None
        if not sibling.many:
            return await self._name(sibling, value)
        by = sibling.reference.named_by
        return [await self._name(sibling, one[by] if by else one) for one in value]

    async def _name(self, sibling: Sibling, id: Any) -> str | None:
        target = REFERRED[sibling.target]
        row = await self.database.driver.find_by_id(target.name, target.parse_id(id))
        return name_in(target, row) if row else None

    async def rename(self, sibling: Sibling, id: Any) -> None:
        """Call the record something else, as its own store would."""
        target = REFERRED[sibling.target]
        other = 987 if target.fields[target.label_field].kind == "integer" else unique("renamed")
        await self.database.store(target).update(target.parse_id(id), {target.label_field: other})

    async def delete(self, sibling: Sibling, id: Any) -> None:
        """Mark the record as deleted, as its store does where nothing restricts it."""
        target = REFERRED[sibling.target]
        key = target.parse_id(id)
        await self.database.driver.update_one(target.name, {"_id": key}, {"$set": {"deleted": True}})
        self.database.tell(target.name, key)


async def check(collection: Collection, views: list[dict[str, Any]], referred: Referred) -> None:
    """Every name in every view is what the database says."""
    assert views
    for view in views:
        for sibling in collection.read.siblings:
            if sibling.beside in view and not (sibling.own and view[sibling.beside] is None):
                assert view[sibling.name] == await referred.names(sibling, view[sibling.beside]), sibling.name


@pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda one: one.name)
async def test_names_are_what_records_are_called_now(
    collection: Collection, maker: Maker, admin: Client, tradewind: Running
) -> None:
    referred = Referred(tradewind)
    route = creator(collection)
    assert route is not None
    id = expect(await (await maker.exercise(route)).send())["id"]
    views = await shown(admin, collection, id)
    await check(collection, views, referred)
    seen: set[tuple[str, Any]] = set()
    for sibling in collection.read.siblings:
        value = views[0].get(sibling.beside)
        # the administrator of all tests keeps the name
        if value is None or sibling.many or value == 1 or (REFERRED[sibling.target].name, value) in seen:
            continue
        seen.add((REFERRED[sibling.target].name, value))
        await referred.rename(sibling, value)
        await check(collection, await shown(admin, collection, id), referred)
        await referred.delete(sibling, value)
        after = await shown(admin, collection, id)
        await check(collection, after, referred)
        # a list may show few fields of its records
        assert all(view[sibling.name] for view in after if sibling.beside in view)
