"""Names are sorted as people look for them, in every list that sorts by names."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from handlers.data.lists.normalizing import sort_key
from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=60)
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
    assert declared == {(one.name, name) for one in CATALOGUE.collections.values() for name in one.stored_orders}


PAIRS = [
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
]


def test_a_name_comes_before_another() -> None:
    assert [pair for pair in PAIRS if not sort_key(pair[0]) < sort_key(pair[1])] == []


@given(st.lists(st.text(max_size=130), max_size=20))
def test_the_order_is_total_and_tells_names_apart(names: list[str]) -> None:
    for name in names:
        assert len(sort_key(name)) <= 201
        short = " ".join(name[:100].split())
        assert sort_key(name).endswith(f"\x01{short}")


async def test_customers_are_listed_in_the_order_of_their_names(admin: Client) -> None:
    tag = unique("order")
    for name in random.sample(ORDERED, len(ORDERED)):
        expect(await admin.post("/api/v1/crm/customers", {"name": name, "tags": [tag]}))
    for sort, expected in (("name", in_order(ORDERED)), ("-name", in_order(ORDERED)[::-1])):
        path = f"/api/v1/crm/customers?tags={tag}&sort={sort}&page_size=5"
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
