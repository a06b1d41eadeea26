"""Pickers: whoever may send a form that refers to a collection chooses among its records, and sees nothing else."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from handlers.catalogue.pickers import Pickers
from handlers.data.collection import Collection
from plugins.testing import Client, People, expect, unique
from tests.support.catalogue import CATALOGUE, chosen_collections
from tests.support.office import VIEWS, Office
from tests.support.resources import creator
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=60)
OPTIONS = "/api/v1/meta/options"
PICKED = [one for one in chosen_collections() if one.name in Pickers(CATALOGUE).collections]
HARDEST = "department_and_below"  # shows three of five colleagues, of two departments
SCOPED = [one for one in PICKED if one.scoped and creator(one)]
COMPANY_WIDE = [one for one in PICKED if not one.scoped]
CUSTOMERS = "/api/v1/crm/customers"


def each(collections: list[Collection]) -> pytest.MarkDecorator:
    """Run the test for each of them."""
    return pytest.mark.parametrize("collection", collections, ids=lambda one: one.name)


async def options(client: Client, collection: str, query: str = "page_size=200") -> list[dict[str, Any]]:
    """All that a picker offers, page by page."""
    found = expect(await client.get(f"{OPTIONS}/{collection}?{query}"))
    items: list[dict[str, Any]] = found["items"]
    while cursor := found["next_cursor"]:
        found = expect(await client.get(f"{OPTIONS}/{collection}?{query}&cursor={cursor}"))
        items += found["items"]
    return items


@pytest.fixture
def customer(admin: Client) -> Any:
    """Makes a customer with a name that nobody else has."""

    async def make(**values: Any) -> dict[str, Any]:
        made: dict[str, Any] = expect(await admin.post(CUSTOMERS, {"name": unique("picked"), **values}))
        return made

    return make


@each(SCOPED)
async def test_a_picker_offers_the_rows_of_the_scope(collection: Collection, office: Office) -> None:
    await check_offered(collection, HARDEST, office)


async def check_offered(collection: Collection, view: str, office: Office) -> None:
    rows = {str(id): name for name, id in (await office.rows(collection)).items()}
    viewer = await office.look(view)
    offered = {str(option["id"]) for option in await options(viewer.client, collection.name)}
    assert {rows[id] for id in offered & rows.keys()} == VIEWS[view].sees


@each([one for one in PICKED if creator(one)])
async def test_an_option_has_four_fields_and_no_more(collection: Collection, maker: Maker, admin: Client) -> None:
    made = await maker.record(collection.name)
    found = await options(admin, collection.name, f"ids={made['id']}")
    assert [option["id"] for option in found] == [made["id"]]
    assert found[0].keys() == {"id", "name", "code", "disabled"}
    assert found[0]["name"]


@each([one for one in COMPANY_WIDE if creator(one)])
async def test_of_a_company_wide_collection_everything_is_offered(
    collection: Collection, maker: Maker, office: Office
) -> None:
    made = await maker.record(collection.name)
    viewer = await office.look("self")
    assert made["id"] in {option["id"] for option in await options(viewer.client, collection.name)}


async def test_pickers_are_refused_to_users_who_can_write_no_record_with_them(nobody: Client) -> None:
    codes = {one.name: (await nobody.get(f"{OPTIONS}/{one.name}")).code for one in PICKED}
    everybody = {
        one.name for one in PICKED if any(route.access == "signed-in" for route in Pickers(CATALOGUE).writers(one))
    }
    assert codes == {name: 0 if name in everybody else 40300 for name in codes}


async def test_one_permission_to_write_is_enough(people: People, customer: Any) -> None:
    seller = await people.person(["crm:contact:create"])
    own = expect(
        await (await people.person(["crm:contact:create", "crm:customer:create"])).get(f"{OPTIONS}/crm_customers")
    )
    assert own["items"] == []
    assert await options(seller, "crm_customers") == []
    expect(await seller.get(f"{OPTIONS}/inventory_products"), 40300)


async def test_a_collection_that_no_form_refers_to_is_not_there(admin: Client) -> None:
    for name in ("nothing", "crm_nothing", "core_operation_logs", "notification_messages", "%20"):
        expect(await admin.get(f"{OPTIONS}/{name}"), 40400)


async def test_people_and_departments_are_found_by_their_aliases(admin: Client, people: People) -> None:
    person, department = await people.account(real_name=unique("person")), await people.department()
    found = (await options(admin, "users", f"ids={person['id']}"))[0]
    assert found == {"id": person["id"], "name": person["real_name"], "code": person["username"], "disabled": False}
    assert [one["id"] for one in await options(admin, "departments", f"ids={department}")] == [department]


async def test_what_is_disabled_is_marked(admin: Client, people: People) -> None:
    person = await people.account(status="disabled")
    assert [one["disabled"] for one in await options(admin, "users", f"ids={person['id']}")] == [True]


async def test_what_was_deleted_is_not_offered(admin: Client, customer: Any) -> None:
    made = await customer()
    expect(await admin.delete(f"{CUSTOMERS}/{made['id']}"))
    assert await options(admin, "crm_customers", f"ids={made['id']}") == []


async def test_ids_are_answered_in_their_order(admin: Client, customer: Any) -> None:
    ids = [(await customer())["id"] for _ in range(3)]
    wanted = [ids[2], ids[0], ids[1], ids[2]]
    assert [one["id"] for one in await options(admin, "crm_customers", f"ids={','.join(wanted)}")] == wanted[:3]


async def test_pages_follow_each_other(admin: Client, customer: Any) -> None:
    word = unique("page")
    made = {(await customer(name=f"{word} {number}"))["id"] for number in range(5)}
    first = expect(await admin.get(f"{OPTIONS}/crm_customers?q={word}&page_size=2"))
    assert len(first["items"]) == 2
    found = await options(admin, "crm_customers", f"q={word}&page_size=2")
    assert [one["name"] for one in found] == [f"{word} {number}" for number in range(5)]
    assert {one["id"] for one in found} == made


async def test_a_search_finds_names_and_codes(admin: Client, customer: Any) -> None:
    code = unique("C-QC-")
    made = await customer(name=f"启宠 启程 {code}", code=code)
    for q in ("qichong", "启程", "C-QC"):
        assert made["id"] in {one["id"] for one in await options(admin, "crm_customers", f"q={quote(q)}&page_size=200")}


async def test_a_search_does_not_find_what_is_not_shown(admin: Client, customer: Any) -> None:
    phone = "0571-7" + unique("")[-6:].encode().hex()[:7]
    made = await customer(phone=phone)
    assert expect(await admin.get(f"{CUSTOMERS}?q={phone}"))["total"] == 1
    assert made["id"] not in {one["id"] for one in await options(admin, "crm_customers", f"q={phone}")}


async def test_where_lists_have_no_search_a_beginning_is_found(admin: Client, maker: Maker) -> None:
    title = unique("Menu")
    body = {"type": "menu", "code": unique("menu"), "title": title}
    made = expect(await admin.post("/api/v1/system/menus", body))
    assert [one["id"] for one in await options(admin, "rbac_menus", f"q={title.lower()}")] == [made["id"]]
    assert await options(admin, "rbac_menus", f"q={title[1:]}") == []
    assert await options(admin, "rbac_menus", "q=.*") == []


async def test_bad_queries_are_refused_with_the_parameter(admin: Client) -> None:
    queries = (
        "page_size=0",
        "page_size=201",
        "page_size=x",
        f"q={'a' * 101}",
        "cursor=x",
        "ids=x",
        "ids=",
        f"ids={','.join(map(str, range(201)))}",
        "colour=red",
    )
    for query in queries:
        data = expect(await admin.get(f"{OPTIONS}/users?{query}"), 40001)
        named = {error["field"].partition("[")[0].partition(".")[0] for error in data["errors"]}
        assert named == {query.partition("=")[0]}
