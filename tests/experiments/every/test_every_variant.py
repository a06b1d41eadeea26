"""Every order of every list, every date of every query, every format of every table: one of a kind in the daily tests."""

from __future__ import annotations

import pytest

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.route import Route
from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.api.every.test_every_cursor import PAGED, check_list, check_walks, orders_of, sorted_by
from tests.api.every.test_every_date import IN_QUERIES, check_reads, dated
from tests.api.every.test_every_table import (
    CODED,
    KINDS,
    RETURNING,
    check_counts,
    check_round_trip,
    name_of as collection_of,
)
from tests.support.catalogue import CATALOGUE
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=120)
SORTED = [one for one in CATALOGUE.collections.values() if one.sortable]


@pytest.mark.parametrize("collection", SORTED, ids=lambda one: one.name)
async def test_a_walk_by_cursor_meets_every_record_once_in_every_order(
    collection: Collection, strange: Database
) -> None:
    await check_walks(strange.store(collection), orders_of(collection))


@pytest.mark.parametrize("route", PAGED, ids=name_of)
async def test_the_cursors_of_every_list_lead_through_it_in_every_order(
    route: Route, maker: Maker, tradewind: Running
) -> None:
    await check_list(route, [sign + name for name in sorted_by(route) for sign in ("", "-")], maker, tradewind)


@pytest.mark.parametrize("route", IN_QUERIES, ids=name_of)
async def test_no_date_at_the_bounds_breaks_a_read(route: Route, maker: Maker) -> None:
    await check_reads(route, dated(route), maker)


@pytest.mark.parametrize("route", RETURNING, ids=collection_of)
async def test_what_is_exported_in_every_format_and_imported_when_empty_is_the_same(
    route: Route, chief: Client, elsewhere: Running
) -> None:
    await check_round_trip(route, KINDS, chief, elsewhere)


@pytest.mark.parametrize("route", CODED, ids=collection_of)
@pytest.mark.parametrize("at_once", [1, 50])
async def test_a_dry_run_counts_a_row_whose_code_comes_twice_as_the_import_does(
    route: Route, at_once: int, chief: Client, elsewhere: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check_counts(route, at_once, chief, elsewhere, monkeypatch)
