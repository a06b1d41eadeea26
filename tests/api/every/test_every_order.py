"""Names are sorted as people look for them, by an index, in every list that sorts by names."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tornado.ioloop import IOLoop

from config.database import open_driver
from config.settings import Settings
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.folding import sort_key
from handlers.data.listing import sort_keys
from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE
from tests.support.query_plans import PAGE_ROWS, fill, find_command, rows_read

pytestmark = pytest.mark.gen_test(timeout=60)
SORTED = [(one, name) for one in CATALOGUE.collections.values() for name in one.stored_orders]
_CUSTOMERS = CATALOGUE.collections["crm_customers"]  # a company has many
_BY_INDEX = _CUSTOMERS.sortable.keys() - {"updated_at"}  # which would cost every update
INDEXED = [*SORTED, *((_CUSTOMERS, name) for name in sorted(_BY_INDEX) if (_CUSTOMERS, name) not in SORTED)]
# people's order: by what is read, whatever the case, the accents and the width; Chinese by its syllables
ORDERED = [
    "007",
    "3M",
    "ａｃｍｅ",
    "Ähre",
    "安徽",
    "ánna",
    "Anna B",
    "Apple",
    "Bäcker",
    "BACKUP",
    "白云",
    "北京",
    "晨光",
    "陈记",
    "Chen Ltd",
    "重庆x",
    "Éclair",
    "école",
    "Kelly’s",
    "Łódź",
    "Müller",
    "Muller 2",
    "Ørsted",
    "上海",
    "straße",
    "Zoë",
]
NAMES = ("name", "title", "real_name", "company", "customer_name")


def in_order(names: list[str]) -> list[str]:
    return sorted(names, key=sort_key)


def test_every_name_that_can_be_sorted_by_is_sorted_so() -> None:
    records = [one for one in CATALOGUE.collections.values() if not one.plain]
    declared = {(one.name, name) for one in records for name in one.sortable if name in NAMES}
    assert declared == {(one.name, name) for one, name in SORTED}


@pytest.mark.parametrize(
    ("smaller", "greater"),
    [
        ("anna", "Bob"),
        ("Anna", "bob"),
        ("Émile", "Eva"),
        ("Eva", "Évariste"),
        ("ａｂｃ", "abd"),
        ("Zoe", "Zoë"),
        ("安", "Anna"),
        ("西安", "先"),
        ("重庆", "重要"),
        ("北京", "南京"),
        ("Chen", "晨"),
        ("item", "item 2"),
        ("O'Brien", "Obst"),
    ],
)
def test_a_name_comes_before_another(smaller: str, greater: str) -> None:
    assert sort_key(smaller) < sort_key(greater)


@given(st.lists(st.text(max_size=130), max_size=20))
def test_the_order_is_total_and_tells_names_apart(names: list[str]) -> None:
    for name in names:
        assert len(sort_key(name)) <= 201
        short = " ".join(name[:100].split())
        assert sort_key(name).endswith(f"\x01{short}")


@pytest.fixture(scope="module")
def named(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Database]:
    """A database of its own, with thousands of rows in every collection that is sorted by names."""
    settings = Settings(_env_file=None, demo=True)  # type: ignore[call-arg]
    driver = open_driver(settings.mongodb_driver, mongodb_uri, unique("orders"), 60_000)
    database = Database(driver, CATALOGUE.collections.values())

    async def prepare() -> None:
        await database.prepare()
        for collection in {one.name: one for one, _ in SORTED}.values():
            await fill(database, collection)

    async def discard() -> None:
        await driver.command({"dropDatabase": 1})
        await driver.close()

    try:
        io_loop.run_sync(prepare)
        yield database
    finally:
        io_loop.run_sync(discard)


@pytest.mark.parametrize(("collection", "name"), INDEXED, ids=lambda part: getattr(part, "name", part))
async def test_a_list_in_the_order_of_its_names_is_read_by_an_index(
    collection: Collection, name: str, named: Database
) -> None:
    store = named.store(collection)
    for order in (name, f"-{name}"):
        command = find_command(collection.name, store._visibility.filter(), sort_keys(collection, order))
        assert await rows_read(named, command) <= 2 * PAGE_ROWS, order


@pytest.mark.parametrize("size", [3, 200])
async def test_customers_are_listed_in_the_order_of_their_names(size: int, admin: Client) -> None:
    tag = unique("order")
    for name in random.sample(ORDERED, len(ORDERED)):
        expect(await admin.post("/api/v1/crm/customers", {"name": name, "tags": [tag]}))
    for sort, expected in (("name", in_order(ORDERED)), ("-name", in_order(ORDERED)[::-1])):
        path = f"/api/v1/crm/customers?tags={tag}&sort={sort}&page_size={size}"
        page = expect(await admin.get(path))
        rows = page["items"]
        while page["next_cursor"]:
            page = expect(await admin.get(f"{path}&cursor={page['next_cursor']}"))
            rows += page["items"]
        assert [row["name"] for row in rows] == expected
    assert in_order(ORDERED) == ORDERED


async def test_a_new_name_has_a_new_place(admin: Client) -> None:
    tag = unique("order")
    made = [expect(await admin.post("/api/v1/crm/customers", {"name": name, "tags": [tag]})) for name in "ab"]
    expect(await admin.patch(f"/api/v1/crm/customers/{made[0]['id']}", {"version": 1, "name": "Ç"}))
    rows = expect(await admin.get(f"/api/v1/crm/customers?tags={tag}&sort=name"))["items"]
    assert [row["name"] for row in rows] == ["b", "Ç"]
    assert not any("order" in name and name.startswith("name") for name in rows[0])
