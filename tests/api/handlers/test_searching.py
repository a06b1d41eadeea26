"""The search in all lists: it finds what the lists find, for whoever may list and read the records."""

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest

from handlers.catalogue import searching
from handlers.catalogue.searching import Searches
from handlers.data.collection import Collection
from handlers.data.store import Store
from plugins.testing import Client, People, expect, unique
from tests.support.catalogue import CATALOGUE, chosen_collections
from tests.support.resources import creator
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/meta/search"
CUSTOMERS, CONTACTS = "/api/v1/crm/customers", "/api/v1/crm/contacts"
MAY_SEE = ("crm:customer:list", "crm:customer:read", "crm:customer:create")
FOUND = {
    one.collection.name: one for one in Searches(CATALOGUE).sources.values() if one.collection in chosen_collections()
}


async def found(client: Client, q: str, **query: Any) -> list[dict[str, Any]]:
    """What the search finds."""
    hits: list[dict[str, Any]] = expect(await client.get(f"{AT}?{urlencode({'q': q, **query})}"))
    return hits


async def customer(client: Client, **values: Any) -> dict[str, Any]:
    """A new customer."""
    made: dict[str, Any] = expect(await client.post(CUSTOMERS, {"name": unique("晨光"), **values}))
    return made


@pytest.mark.parametrize(
    "collection", [one.collection for one in FOUND.values() if creator(one.collection)], ids=lambda one: one.name
)
async def test_a_record_of_every_searched_list_is_found_and_read_at_its_path(
    collection: Collection, maker: Maker, admin: Client
) -> None:
    route, kind = creator(collection), FOUND[collection.name].kind
    assert route is not None
    exercise = await maker.exercise(route, only_required=True)
    for name in {*collection.searchable} & {*exercise.body}:
        if exercise.body[name] == collection.fields[name].example:  # which more records have than a page holds
            exercise.body[name] = unique(exercise.body[name])
    made = expect(await exercise.send())
    values = (str(made[name]) for name in collection.searchable if isinstance(made.get(name), str))
    q = max(filter(None, values), key=len, default="")[-60:]
    if not q:
        pytest.skip("no searched field is required")
    hits = {hit["id"]: hit for hit in await found(admin, q, kinds=kind, page_size=50)}
    assert {hit["kind"] for hit in hits.values()} == {kind}
    assert expect(await admin.get(hits[made["id"]]["path"]))["id"] == made["id"]


async def test_people_find_only_what_they_may_list_and_read_in_their_data_scope(people: People) -> None:
    me, other = await people.person(MAY_SEE), await people.person(MAY_SEE)
    lister = await people.person(("crm:customer:list",), scope="all")
    name = unique("永兴")
    mine = await customer(me, name=name)
    assert [hit["id"] for hit in await found(me, name)] == [mine["id"]]
    assert await found(other, name) == []
    assert await found(lister, name) == []


async def test_a_hit_has_a_second_text_and_the_state_in_the_language_of_the_caller(admin: Client) -> None:
    made = expect(await admin.post("/api/v1/crm/leads", {"name": unique("周敏"), "company": "宏达五金厂"}))
    hit = (await found(admin, made["name"]))[0]
    assert (hit["kind"], hit["kind_name"], hit["name"]) == ("crm_leads", "线索", made["name"])
    states = {one.name: one for one in CATALOGUE.state_machines}["crm_lead"].states[made["status"]]
    assert hit["hint"] == f"宏达五金厂 · {states.zh}"
    reply = await admin.get(f"{AT}?{urlencode({'q': made['name']})}", headers={"Accept-Language": "en"})
    assert expect(reply)[0]["hint"] == f"宏达五金厂 · {states.en}"


async def test_kinds_share_the_page_and_one_leaves_the_rest_to_the_others(admin: Client) -> None:
    word = unique("share")
    for _ in range(3):
        made = await customer(admin, name=unique(word))
    expect(await admin.post(CONTACTS, {"name": word, "customer_id": made["id"]}))
    assert [hit["kind"] for hit in await found(admin, word, page_size=2)] == ["CUSTOMER", "crm_contacts"]
    assert [hit["kind"] for hit in await found(admin, word, page_size=4)] == ["CUSTOMER"] * 3 + ["crm_contacts"]


async def test_a_name_that_begins_with_the_search_comes_first(admin: Client) -> None:
    word = unique("begin")
    first = await customer(admin, name=f"{word} 贸易")
    await customer(admin, name=f"上海 {word}")
    assert (await found(admin, word))[0]["id"] == first["id"]


async def test_a_list_that_responds_too_late_is_left_out_and_named(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    word, page = unique("late"), Store.page
    made = await customer(admin, name=unique(word))
    expect(await admin.post(CONTACTS, {"name": word, "customer_id": made["id"]}))

    async def late(store: Store, *given: Any, **options: Any) -> Any:
        if store.collection.name == "crm_customers":
            await asyncio.Event().wait()
        return await page(store, *given, **options)

    monkeypatch.setattr(Store, "page", late)
    monkeypatch.setattr(searching, "_SECONDS", 1.0)
    reply = await admin.get(f"{AT}?{urlencode({'q': word, 'kinds': 'CUSTOMER,crm_contacts'})}")
    assert [hit["name"] for hit in expect(reply)] == [word]
    assert reply.headers["X-Incomplete"] == "CUSTOMER"


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "q"), ("q=", "q"), ("q=%20", "q"), (f"q={'a' * 101}", "q"), ("q=a&kinds=ROCKET", "kinds")],
)
async def test_a_search_for_nothing_too_much_or_an_unknown_kind_is_refused(
    query: str, field: str, admin: Client
) -> None:
    reply = await admin.get(f"{AT}?{query}")
    expect(reply, 40001)
    assert reply.fields == {field}


async def test_symbols_alone_find_nothing(admin: Client) -> None:
    assert await found(admin, "★%") == []
