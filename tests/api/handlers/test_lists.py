"""Lists: order, pages, cursors, filters, against a model in Python over random rows with nulls and ties (CONTRACT 1)."""

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from bson import Decimal128, ObjectId
from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.support.probe import WIDGETS, WIDGETS_AT
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test
examples = settings(max_examples=60, deadline=None)

MISSING = object()  # the field is not in the document at all: a record older than the field
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODELS = [ObjectId("0" * 24), ObjectId("a" * 24)]
VALUES: dict[str, list[Any]] = {
    "name": ["a", "b", "B", "晨光", "é", "\x7f"],
    "kind": [None, MISSING, "large", "small"],
    "rank": [None, MISSING, -(2**53) + 1, -1, 0, 2, 2**53 - 1],
    "weight": [None, MISSING, -0.5, 0.0, 0.1, 1e300],
    "active": [None, MISSING, False, True],
    "price": [None, MISSING, Decimal("-0.01"), Decimal("0.00"), Decimal("10.50"), Decimal("9.00")],
    "stock": [None, MISSING, Decimal("0.0001"), Decimal("3")],
    "due": [None, MISSING, "2026-11-20", "2026-02-28"],
    "seen_at": [None, MISSING, NOON, NOON + timedelta(milliseconds=1)],
    "model": [None, MISSING, *MODELS],
    "tags": [[], ["x"], ["x", "y"]],
    "created_at": [NOON, NOON + timedelta(milliseconds=1), NOON - timedelta(days=1)],
    "updated_at": [NOON, NOON + timedelta(milliseconds=1)],
    "deleted": [False, False, False, True],
}
SORTABLE = [
    "id",
    "name",
    "kind",
    "rank",
    "weight",
    "active",
    "price",
    "stock",
    "due",
    "seen_at",
    "model",
    "created_at",
    "updated_at",
]
rows = st.lists(st.fixed_dictionaries({name: st.sampled_from(pool) for name, pool in VALUES.items()}), max_size=14)
Row = dict[str, Any]


def documents(given: list[Row], batch: str) -> list[Row]:
    """The rows as they are stored."""
    audit = {"batch": batch, "version": 1, "creator_id": 1, "creator_department_id": None, "updater_id": 1}
    return [
        {
            "_id": ObjectId(),
            **audit,
            **{k: Decimal128(v) if isinstance(v, Decimal) else v for k, v in row.items() if v is not MISSING},
        }
        for row in given
    ]


def plain(value: Any) -> Any:
    return value.to_decimal() if isinstance(value, Decimal128) else value


def in_order(stored: list[Row], sort: str) -> list[str]:
    """The identifiers of the live rows as MongoDB orders them: nulls are least, ties go by `_id`."""
    keys = [(part.removeprefix("-"), part.startswith("-")) for part in sort.split(",")]
    keys.append(("id", keys[-1][1]))
    live = [row for row in stored if not row["deleted"]]
    for name, descending in reversed(keys):
        field = "_id" if name == "id" else name

        def key(row: Row, field: str = field) -> tuple[bool, Any]:
            value = plain(row.get(field))
            return (value is not None, 0 if value is None else value)

        live.sort(key=key, reverse=descending)
    return [str(row["_id"]) for row in live]


async def stored_rows(running: Running, given: list[Row]) -> tuple[str, list[Row]]:
    """Store rows of a batch of their own."""
    batch = unique("batch")
    stored = documents(given, batch)
    await running.service.database.driver.insert(WIDGETS.name, stored)
    return batch, stored


async def listed(client: Client, **query: Any) -> Any:
    return expect(await client.get(f"{WIDGETS_AT}?{urlencode(query)}"))


async def page_walk(client: Client, **query: Any) -> list[str]:
    ids: list[str] = []
    for page in itertools.count(1):
        response = await listed(client, page=page, **query)
        ids += [row["id"] for row in response["items"]]
        if response["next_cursor"] is None:
            return ids
    raise AssertionError


async def cursor_walk(client: Client, **query: Any) -> list[str]:
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        response = await listed(client, **cursor, **query)
        ids += [row["id"] for row in response["items"]]
        if response["next_cursor"] is None:
            return ids
        cursor = {"cursor": response["next_cursor"]}


@pytest.mark.parametrize("field", SORTABLE)
@given(rows=rows, descending=st.booleans(), size=st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_by_cursor_or_by_page_a_list_is_in_the_order_of_its_field(
    io_loop: IOLoop, probed: Running, probe_admin: Client, field: str, rows: list[Row], descending: bool, size: int
) -> None:
    sort = f"-{field}" if descending else field
    io_loop.run_sync(lambda: both_walks_are_in_order(probed, probe_admin, rows, sort, size))


@given(
    rows=rows,
    parts=st.lists(
        st.tuples(st.sampled_from(SORTABLE), st.booleans()), min_size=2, max_size=3, unique_by=lambda p: p[0]
    ),
    size=st.integers(1, 5),
)
@examples
def test_by_cursor_or_by_page_a_list_is_in_the_order_of_several_fields(
    io_loop: IOLoop, probed: Running, probe_admin: Client, rows: list[Row], parts: list[tuple[str, bool]], size: int
) -> None:
    sort = ",".join(f"-{name}" if descending else name for name, descending in parts)
    io_loop.run_sync(lambda: both_walks_are_in_order(probed, probe_admin, rows, sort, size))


async def both_walks_are_in_order(running: Running, client: Client, given: list[Row], sort: str, size: int) -> None:
    batch, stored = await stored_rows(running, given)
    wanted = in_order(stored, sort)
    query = {"batch": batch, "sort": sort, "page_size": size}
    assert await page_walk(client, **query) == wanted
    assert await cursor_walk(client, **query, with_total="false") == wanted


def filters() -> Iterator[st.SearchStrategy[dict[str, str]]]:
    """Strategies that each make one filter."""
    yield st.sampled_from(
        [{"rank": "2"}, {"rank": "-1,0"}, {"kind": "small"}, {"kind": "large,small"}, {"active": "false"}]
    )
    yield st.sampled_from(
        [{"price_from": "0"}, {"price_to": "9"}, {"price_from": "9.00", "price_to": "10.5"}, {"stock_to": "1"}]
    )
    yield st.sampled_from(
        [{"due_from": "2026-03-01"}, {"due_to": "2026-11-20"}, {"weight_from": "0"}, {"weight_to": "0.1"}]
    )
    yield st.sampled_from(
        [{"seen_at_from": "2026-11-20T20:00:00.001+08:00"}, {"created_at_to": "2026-11-20T12:00:00Z"}]
    )
    yield st.sampled_from([{"model": "a" * 24}, {"tags": "y"}, {"creator_id": "1"}, {"creator_id": "2,3"}])


def at_least(name: str, bound: Any) -> Callable[[Row], bool]:
    return lambda row: plain(row.get(name)) is not None and plain(row[name]) >= bound


def at_most(name: str, bound: Any) -> Callable[[Row], bool]:
    return lambda row: plain(row.get(name)) is not None and plain(row[name]) <= bound


MEANING: dict[tuple[str, str], Callable[[Row], bool]] = {
    ("rank", "2"): lambda row: row.get("rank") == 2,
    ("rank", "-1,0"): lambda row: row.get("rank") in (-1, 0),
    ("kind", "small"): lambda row: row.get("kind") == "small",
    ("kind", "large,small"): lambda row: row.get("kind") is not None,
    ("active", "false"): lambda row: row.get("active") is False,
    ("price_from", "0"): at_least("price", 0),
    ("price_to", "9"): at_most("price", 9),
    ("price_from", "9.00"): at_least("price", 9),
    ("price_to", "10.5"): at_most("price", Decimal("10.5")),
    ("stock_to", "1"): at_most("stock", 1),
    ("due_from", "2026-03-01"): at_least("due", "2026-03-01"),
    ("due_to", "2026-11-20"): at_most("due", "2026-11-20"),
    ("weight_from", "0"): at_least("weight", 0),
    ("weight_to", "0.1"): at_most("weight", 0.1),
    ("seen_at_from", "2026-11-20T20:00:00.001+08:00"): at_least("seen_at", NOON + timedelta(milliseconds=1)),
    ("created_at_to", "2026-11-20T12:00:00Z"): at_most("created_at", NOON),
    ("model", "a" * 24): lambda row: row.get("model") == MODELS[1],
    ("tags", "y"): lambda row: "y" in row["tags"],
    ("creator_id", "1"): lambda row: True,
    ("creator_id", "2,3"): lambda row: False,
}


@given(rows=rows, chosen=st.tuples(*(st.one_of(st.just({}), strategy) for strategy in filters())))
@settings(max_examples=60, deadline=None)
def test_filters_together_show_what_all_of_them_mean(
    io_loop: IOLoop, probed: Running, probe_admin: Client, rows: list[Row], chosen: tuple[dict[str, str], ...]
) -> None:
    query = {name: value for part in chosen for name, value in part.items()}

    async def check() -> None:
        batch, stored = await stored_rows(probed, rows)
        response = await listed(probe_admin, batch=batch, page_size=200, **query)
        live = [row for row in stored if not row["deleted"]]
        wanted = {str(row["_id"]) for row in live if all(MEANING[item](row) for item in query.items())}
        assert {row["id"] for row in response["items"]} == wanted
        assert response["total"] == len(wanted)

    io_loop.run_sync(check)


async def some_rows(running: Running, count: int) -> str:
    """A batch of `count` rows that are named by their number."""
    defaults = {name: pool[0] for name, pool in VALUES.items()}
    batch, _ = await stored_rows(running, [{**defaults, "name": f"{n:05}"} for n in range(count)])
    return batch


async def test_a_page_says_where_it_is_and_how_much_there_is(probed: Running, probe_admin: Client) -> None:
    batch = await some_rows(probed, 5)
    response = await listed(probe_admin, batch=batch, page=2, page_size=2)
    assert set(response) == {"items", "total", "page", "page_size", "next_cursor", "sums"}
    assert (len(response["items"]), response["total"], response["page"], response["page_size"]) == (2, 5, 2, 2)
    assert response["next_cursor"]


async def test_amounts_of_all_pages_are_added_up_as_the_list_is_filtered(probed: Running, probe_admin: Client) -> None:
    given = [{"price": Decimal("10.50"), "rank": 1}, {"price": Decimal("-0.01"), "rank": 1}, {"rank": 1}]
    left_out = [{"price": Decimal("7.00"), "rank": 1, "deleted": True}, {"price": Decimal("7.00"), "rank": 2}]
    defaults = {name: pool[0] for name, pool in VALUES.items()}
    batch, _ = await stored_rows(probed, [{**defaults, **row} for row in [*given, *left_out]])
    response = await listed(probe_admin, batch=batch, rank=1, sum="price", page_size=1)
    assert (response["total"], response["sums"]) == (3, {"price": "10.49"})
    assert (await listed(probe_admin, batch=unique("none"), sum="price"))["sums"] == {"price": "0.00"}
    assert (await listed(probe_admin, batch=batch))["sums"] is None
    (fault,) = refused(await probe_admin.get(f"{WIDGETS_AT}?sum=stock"), 40001)["errors"]
    assert fault["field"].startswith("sum")


async def test_no_more_amounts_are_added_up_than_pages_are_counted(
    probed: Running, probe_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = await some_rows(probed, 3)
    monkeypatch.setattr("handlers.data.lists.paging.MAX_DEPTH", 2)
    assert (await listed(probe_admin, batch=batch, sum="price"))["sums"] is None


async def test_a_page_holds_twenty_rows_unless_asked_otherwise(probed: Running, probe_admin: Client) -> None:
    response = await listed(probe_admin, batch=await some_rows(probed, 21))
    assert (len(response["items"]), response["page"], response["page_size"], response["total"]) == (20, 1, 20, 21)


async def test_a_page_that_is_just_full_is_the_last_one(probed: Running, probe_admin: Client) -> None:
    response = await listed(probe_admin, batch=await some_rows(probed, 4), page_size=4)
    assert (len(response["items"]), response["next_cursor"]) == (4, None)


async def test_a_page_behind_the_end_is_empty(probed: Running, probe_admin: Client) -> None:
    response = await listed(probe_admin, batch=await some_rows(probed, 2), page=5)
    assert (response["items"], response["total"], response["next_cursor"]) == ([], 2, None)


async def test_without_the_count_the_total_is_null(probed: Running, probe_admin: Client) -> None:
    response = await listed(probe_admin, batch=await some_rows(probed, 3), with_total="false")
    assert (len(response["items"]), response["total"]) == (3, None)


async def test_the_total_is_that_of_the_whole_list_on_every_page_of_a_cursor(
    probed: Running, probe_admin: Client
) -> None:
    query = {"batch": await some_rows(probed, 5), "page_size": 2}
    first = await listed(probe_admin, **query)
    second = await listed(probe_admin, **query, cursor=first["next_cursor"])
    assert (first["total"], second["total"]) == (5, 5)


async def test_the_newest_come_first_unless_asked_otherwise(probe_admin: Client) -> None:
    batch = unique("batch")
    names = [expect(await probe_admin.post(WIDGETS_AT, {"name": n, "batch": batch}))["name"] for n in "abc"]
    assert [row["name"] for row in (await listed(probe_admin, batch=batch))["items"]] == names[::-1]


async def test_a_cursor_goes_on_behind_a_row_that_was_deleted(probed: Running, probe_admin: Client) -> None:
    query = {"batch": await some_rows(probed, 4), "page_size": 2, "sort": "name"}
    first = await listed(probe_admin, **query)
    expect(await probe_admin.delete(f"{WIDGETS_AT}/{first['items'][1]['id']}"))
    second = await listed(probe_admin, **query, cursor=first["next_cursor"])
    assert [row["name"] for row in second["items"]] == ["00002", "00003"]


async def test_rows_that_come_during_a_walk_repeat_none(probed: Running, probe_admin: Client) -> None:
    query = {"batch": await some_rows(probed, 4), "page_size": 2, "sort": "name"}
    first = await listed(probe_admin, **query)
    expect(await probe_admin.post(WIDGETS_AT, {"name": "0", "batch": query["batch"]}))
    second = await listed(probe_admin, **query, cursor=first["next_cursor"])
    assert [row["name"] for row in second["items"]] == ["00002", "00003"]


async def test_a_cursor_is_for_the_order_that_it_was_made_in(probed: Running, probe_admin: Client) -> None:
    batch = await some_rows(probed, 4)
    cursor = (await listed(probe_admin, batch=batch, page_size=2, sort="name"))["next_cursor"]
    for sort in ("-name", "rank", "name,rank"):
        reply = await probe_admin.get(f"{WIDGETS_AT}?{urlencode({'batch': batch, 'sort': sort, 'cursor': cursor})}")
        refused(reply, 40001)
        assert reply.fields == {"cursor"}


@pytest.mark.gen_test(timeout=30)
async def test_beyond_ten_thousand_rows_a_cursor_goes_on(probed: Running, probe_admin: Client) -> None:
    query = {"batch": await some_rows(probed, 10_001), "page_size": 200, "sort": "name", "with_total": "false"}
    deepest = await listed(probe_admin, **query, page=50)
    assert deepest["items"][-1]["name"] == "09999"
    last = await listed(probe_admin, **query, cursor=deepest["next_cursor"])
    assert ([row["name"] for row in last["items"]], last["next_cursor"]) == (["10000"], None)
