"""Customers over HTTP."""

import itertools
from collections import Counter
from typing import Any

import pytest

from plugins.crm import customers
from plugins.testing import Client, People, Reply, expect, unique

pytestmark = pytest.mark.gen_test
CUSTOMERS, OPPORTUNITIES = "/api/v1/crm/customers", "/api/v1/crm/opportunities"
EVERYTHING = [
    f"crm:customer:{action}"
    for action in ("list", "read", "create", "update", "delete", "claim", "release", "transfer")
]


async def test_a_customer_is_created_and_read_back(admin: Client) -> None:
    created = expect(await admin.post(CUSTOMERS, {"name": "晨光科技", "code": unique("C")}))
    assert expect(await admin.get(f"{CUSTOMERS}/{created['id']}")) == created


async def test_sales_see_only_their_own_customers(people: People) -> None:
    first = await people.person(EVERYTHING)
    second = await people.person(EVERYTHING)
    mine = expect(await first.post(CUSTOMERS, {"name": "mine"}))
    assert [row["id"] for row in expect(await first.get(CUSTOMERS))["items"]] == [mine["id"]]
    assert expect(await second.get(CUSTOMERS))["total"] == 0
    expect(await second.get(f"{CUSTOMERS}/{mine['id']}"), 40400)


async def test_a_person_with_a_scope_of_other_departments_owns_what_they_create(admin: Client, people: People) -> None:
    elsewhere = expect(await admin.post("/api/v1/system/departments", {"name": unique("elsewhere")}))["id"]
    person = await people.person(EVERYTHING, "custom", departments=[elsewhere])
    assert expect(await person.post(CUSTOMERS, {"name": "made"}))["owner_id"] == person.user["userId"]


async def test_a_deletion_fails_when_a_record_of_the_customer_is_created_meanwhile(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = expect(await admin.post(CUSTOMERS, {"name": "stays"}))
    get_editable, body = customers.get_editable, {"customer_id": made["id"], "name": "made", "amount": "1"}
    replies: list[Reply] = []

    async def create_meanwhile(*given: Any) -> Any:
        found = await get_editable(*given)  # the transaction of the deletion has its snapshot now
        if not replies:
            replies.append(await admin.post(OPPORTUNITIES, body))
        return found

    monkeypatch.setattr(customers, "get_editable", create_meanwhile)
    expect(await admin.delete(f"{CUSTOMERS}/{made['id']}"), 40901)
    assert expect(await admin.get(f"{OPPORTUNITIES}/{expect(replies[0])['id']}"))["customer_id"] == made["id"]


async def test_cursor_pages_show_unchanged_rows_once_while_others_come_and_go(people: People) -> None:
    mine = await people.person(EVERYTHING)
    made = [expect(await mine.post(CUSTOMERS, {"name": f"n{number:02}"}))["id"] for number in range(24)]
    seen, cursor, going = Counter[str](), "", set(made[::4])
    for number in itertools.count():
        page = expect(await mine.get(f"{CUSTOMERS}?sort=name&page_size=5{cursor and f'&cursor={cursor}'}"))
        seen.update(row["id"] for row in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
        # before and after the current page
        expect(await mine.post(CUSTOMERS, {"name": f"n{number * 7 % 24:02} new"}))
        expect(await mine.delete(f"{CUSTOMERS}/{made[4 * (number * 2 % 6)]}")) if number < 3 else None
    assert {id: seen[id] for id in made if id not in going} == dict.fromkeys(set(made) - going, 1)
