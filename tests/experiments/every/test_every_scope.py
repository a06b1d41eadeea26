"""What one scope shows of lists, records and pickers in the daily tests, under all the others too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.route import Route
from plugins.boot.runtime import Running
from tests.api.every.test_every_collection import SCOPED, check_change, check_delete, check_list, check_read
from tests.api.every.test_every_list import LISTED, PAGED, check_reads, scanning
from tests.api.every.test_every_picker import SCOPED as PICKED, check_offered
from tests.support.office import FIVE_SCOPES, VIEWS, Office
from tests.support.resources import endpoint, list_of
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=60)
READS = [(one, scope) for one in LISTED for scope in (FIVE_SCOPES if one.scoped else ("all",))]


def each(name: str, values: Sequence[Any]) -> pytest.MarkDecorator:
    """Run the test for each of the values."""
    return pytest.mark.parametrize(name, values, ids=lambda one: getattr(one, "name", one))


# below the collections, so that all of them are seen before the viewer gets other roles
views, scopes = each("view", [*VIEWS]), each("view", FIVE_SCOPES)


@pytest.mark.parametrize(("collection", "scope"), READS, ids=lambda part: getattr(part, "name", part))
async def test_every_query_of_a_list_is_served_by_an_index(
    collection: Collection, scope: str, filled: Database
) -> None:
    assert await scanning(filled, collection, scope, falling=True) == []


@pytest.mark.parametrize("route", PAGED, ids=name_of)
@scopes
async def test_nothing_that_a_list_route_reads_is_scanned_whole(
    route: Route, view: str, maker: Maker, office: Office, tradewind: Running
) -> None:
    await check_reads(route, view, maker, office, tradewind)


@each("collection", [one for one in SCOPED if list_of(one)])
@views
async def test_a_list_and_its_total_are_the_rows_of_the_scope(
    collection: Collection, view: str, office: Office
) -> None:
    await check_list(collection, view, office)


@each("collection", [one for one in SCOPED if endpoint(one, "GET")])
@scopes
async def test_a_record_outside_the_scope_cannot_be_read(collection: Collection, view: str, office: Office) -> None:
    await check_read(collection, view, office)


@each("collection", [one for one in SCOPED if endpoint(one, "PATCH")])
@scopes
async def test_a_record_outside_the_scope_cannot_be_changed(collection: Collection, view: str, office: Office) -> None:
    await check_change(collection, view, office)


@each("collection", [one for one in SCOPED if endpoint(one, "DELETE")])
@scopes
async def test_a_record_outside_the_scope_cannot_be_deleted(collection: Collection, view: str, office: Office) -> None:
    await check_delete(collection, view, office)


@each("collection", PICKED)
@scopes
async def test_a_picker_offers_the_rows_of_the_scope(collection: Collection, view: str, office: Office) -> None:
    await check_offered(collection, view, office)
