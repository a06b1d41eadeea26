"""A list that shows less of a record than there is neither finds nor sorts by what it does not show."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from handlers.data.collection import Collection
from handlers.data.store import Store
from handlers.route import Route
from plugins.testing import Client, People, expect, unique
from tests.support.catalogue import chosen_routes
from tests.support.valid_requests import Maker, name_of

pytestmark = pytest.mark.gen_test(timeout=40)
PAGED = [route for route in chosen_routes() if route.paged]
PEOPLE = "/api/v1/approvals/people"
# what a list shows under another name
SHOWN_AS = {f"GET {PEOPLE}": {"name": {"real_name", "username"}}}
Asked = list[tuple[Collection, Any]]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The collections of which pages are read, and the fields that these show."""
    asked: Asked = []
    page = Store.page

    async def noted(store: Store, *given: Any, **options: Any) -> Any:
        asked.append((store.collection, options.get("shown")))
        return await page(store, *given, **options)

    monkeypatch.setattr(Store, "page", noted)
    return asked


def shown_by(route: Route) -> set[str]:
    """The fields of a row, under their own names."""
    other = SHOWN_AS.get(route.name, {})
    return {name for field in route.returns.fields or () for name in other.get(field, {field})}


@pytest.mark.parametrize("route", [one for one in PAGED if {"q", "sort"} & set(one.query)], ids=name_of)
async def test_a_list_looks_only_into_what_it_shows(route: Route, maker: Maker, pages: Asked) -> None:
    exercise = await maker.exercise(route)
    pages.clear()
    expect(await exercise.send(), exercise.code)
    for collection, shown in pages[-1:]:
        searched, sorted_by = set(collection.searchable), set(collection.sortable)
        if shown is not None:
            searched, sorted_by = searched & set(shown), sorted_by & {"id", *shown}
        if "q" in route.query:
            assert searched <= shown_by(route)
        if "sort" in route.query:
            assert sorted_by <= shown_by(route)


@pytest.mark.parametrize("field", ["mobile", "email", "username"])
async def test_colleagues_are_not_found_by_what_is_not_shown_of_them(field: str, people: People) -> None:
    me = await people.person(["approval:task:list"])
    secret = unique("s").replace("-", "") + ("@secret.example" if field == "email" else "")
    value = "13" + str(abs(hash(secret)))[:9] if field == "mobile" else secret
    name = unique("姓名")
    account = await people.account(real_name=name, **{field: value})
    for part in (value, value[:6]):
        assert account["id"] not in await found(me, part)
    assert await found(me, name) == [account["id"]]


async def test_colleagues_are_found_by_their_names_however_they_are_written(people: People) -> None:
    me = await people.person(["approval:task:list"])
    account = await people.account(real_name="晨光小雪", username=unique("nobody"))
    for query in ("晨光", "chenguang", "cgxx", "  小 晨光 ", "CHENGUANG xiao", "晨光。"):
        assert account["id"] in await found(me, query), query


async def test_no_word_of_a_search_finds_a_colleague_by_what_is_not_shown_of_them(people: People) -> None:
    me = await people.person(["approval:task:list"])
    name, secret = unique("Müller"), unique("s")
    account = await people.account(real_name=name, username=secret, mobile="13811112222", email=f"{secret}@e.example")
    for other in (secret, "13811112222", "3811112", "example"):
        assert account["id"] not in await found(me, f"{name} {other}"), other
    assert await found(me, name.replace("ü", "u").upper()) == [account["id"]]


async def test_somebody_who_has_no_name_is_found_by_the_user_name_that_is_shown(people: People) -> None:
    me = await people.person(["approval:task:list"])
    username = unique("clerk")
    account = await people.account(real_name="", username=username, email="hidden@e.example")
    assert await found(me, username.upper()) == [account["id"]]
    assert account["id"] not in await found(me, "hidden")


async def found(client: Client, q: str) -> list[int]:
    """The ids of the colleagues that a search finds."""
    return [row["id"] for row in expect(await client.get(f"{PEOPLE}?q={quote(q)}&page_size=200"))["items"]]


async def test_colleagues_are_not_sorted_by_what_is_not_shown_of_them(people: People) -> None:
    me = await people.person(["approval:task:list"])
    for name in ("last_login_at", "username", "status", "created_at"):
        reply = await me.get(f"{PEOPLE}?sort=-{name}")
        expect(reply, 40001)
        assert reply.fields == {"sort"}
