"""Warnings about possible duplicates of a customer."""

from urllib.parse import urlencode

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.crm.sales import CUSTOMERS, LEADS, customer, seller

pytestmark = pytest.mark.gen_test(timeout=20)


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ({"name": "ＡＣＭＥ－{name} co."}, ["name"]),
        ({"phone": "+86 {phone}"}, ["phone"]),
        ({"name": "acme {name}co", "phone": "{phone}"}, ["name", "phone"]),
    ],
)
async def test_spelling_does_not_hide_a_duplicate(query: dict[str, str], matches: list[str], admin: Client) -> None:
    name, phone = unique("x").replace("-", ""), f"139{int(unique('n').rpartition('-')[2], 36) % 10**8:08}"
    made = await customer(admin, name=f"Acme {name} Co", phone=f"{phone[:3]}-{phone[3:7]} {phone[7:]}")
    asked = urlencode({field: value.format(name=name, phone=phone) for field, value in query.items()})
    found = expect(await admin.get(f"{CUSTOMERS}/duplicates?{asked}"))["items"]
    assert [(row["id"], row["matches"]) for row in found] == [(made["id"], matches)]


async def test_an_invisible_duplicate_is_not_reported(admin: Client, people: People) -> None:
    name = unique("acme")
    await customer(admin, name=name)
    somebody = await seller(people)
    assert expect(await somebody.get(f"{CUSTOMERS}/duplicates?name={name}"))["total"] == 0


@pytest.mark.parametrize("by", ["page", "cursor"])
async def test_pages_of_duplicates_show_each_once_the_oldest_first(by: str, admin: Client) -> None:
    name = unique("acme")
    made = [(await customer(admin, name=name))["id"] for _ in range(3)]
    first = expect(await admin.get(f"{CUSTOMERS}/duplicates?name={name}&page_size=2"))
    following = {"page": 2, "cursor": first["next_cursor"]}[by]
    second = expect(await admin.get(f"{CUSTOMERS}/duplicates?name={name}&page_size=2&{by}={following}"))
    assert [row["id"] for page in (first, second) for row in page["items"]] == made
    assert [(page["total"], bool(page["next_cursor"])) for page in (first, second)] == [(3, True), (3, False)]


async def test_without_name_and_phone_there_are_no_duplicates(admin: Client) -> None:
    await customer(admin)
    found = expect(await admin.get(f"{CUSTOMERS}/duplicates"))
    assert (found["items"], found["total"]) == ([], 0)


async def test_a_creation_warns_of_duplicates_and_succeeds(admin: Client) -> None:
    name = unique("acme")
    first = await customer(admin, name=name)
    reply = await admin.post(CUSTOMERS, {"name": name})
    assert expect(reply)["id"] != first["id"]
    assert reply.headers["X-Possible-Duplicates"] == first["id"]
    lead = expect(await admin.post(LEADS, {"name": "刘洋", "company": name}))
    converted = await admin.post(f"{LEADS}/{lead['id']}/convert", {})
    assert expect(converted)["customer"]["name"] == name
    assert first["id"] in converted.headers["X-Possible-Duplicates"].split(",")
