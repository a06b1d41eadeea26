"""Every collection with names of persons, or of firms, finds and sorts them by the reading of a surname."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from handlers.data.collection import Collection
from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.crm.tables import CUSTOMERS
from tests.support.catalogue import chosen_collections
from tests.support.resources import creator, list_of
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=60)
PERSONS = {"姓名", "联系人"}
NAMED = [(one, name) for one in chosen_collections() for name in one.searchable if one.fields[name].person]
# as people say them, and how the same characters are read elsewhere
SURNAMES: Mapping[str, tuple[str, str]] = {
    "曾美玲": ("zengmeiling", "cengmeiling"),
    "解晓静": ("xiexiaojing", "jiexiaojing"),
    "单文斌": ("shanwen", "danwenbin"),
    "仇建华": ("qiujian", "chou"),
    "查雨桐": ("zhayu", "chayutong"),
    "區樂": ("oule", "qule"),
}


def test_every_name_of_a_person_is_declared_as_such() -> None:
    labelled = {
        (one.name, name)
        for one in chosen_collections()
        for name in one.searchable
        if one.fields[name].label.zh in PERSONS
    }
    assert labelled == {(one.name, name) for one, name in NAMED}


@pytest.mark.parametrize(("collection", "field"), NAMED, ids=lambda one: getattr(one, "name", one))
async def test_a_person_is_found_by_both_readings_and_sorted_by_the_surname(
    collection: Collection, field: str, chief: Client, elsewhere: Running
) -> None:
    tag = unique("surname")
    maker = Maker(chief, HAND_MADE, elsewhere.catalogue)
    made_by, listing = creator(collection), list_of(collection)
    assert made_by is not None
    assert listing is not None
    for name in SURNAMES:
        exercise = await maker.exercise(made_by)
        expect(await replace(exercise, body={**exercise.body, field: f"{name}{tag}"}).send())
    at = f"{listing.path}?page_size=100&q={tag}"
    for name, readings in SURNAMES.items():
        for reading in readings:
            found = expect(await chief.get(f"{at}%20{reading}"))["items"]
            assert [one[field] for one in found] == [f"{name}{tag}"], reading
    if field in collection.stored_orders:
        rows = expect(await chief.get(f"{at}&sort={field}"))["items"]
        assert [one[field][0] for one in rows] == list("區仇单解曾查")


async def test_a_family_firm_is_found_by_both_readings_and_sorted_by_the_surname(chief: Client) -> None:
    tag = unique("firm")
    for name in ("查氏茶业", "上海曾氏", "曾氏纺织", "单位食堂", "单氏五金", "陈记"):
        expect(await chief.post(CUSTOMERS, {"name": name, "tags": [tag]}))
    at = f"{CUSTOMERS}?tags={tag}&sort=name"
    rows = expect(await chief.get(at))["items"]
    assert [one["name"] for one in rows] == ["陈记", "单位食堂", "单氏五金", "上海曾氏", "曾氏纺织", "查氏茶业"]
    for reading, found in {"shzs": 1, "zengshi": 2, "cengshi": 2, "danshi": 1, "shanshi": 1, "danwei": 1}.items():
        assert expect(await chief.get(f"{at}&q={reading}"))["total"] == found, reading
