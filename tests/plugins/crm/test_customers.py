"""Customers over HTTP: what a client relies on."""

import pytest

from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test
CUSTOMERS = "/api/v1/crm/customers"
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
