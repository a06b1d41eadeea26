"""The explanation of a person's own access: what the real request says, and nothing about what they do not see."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
OWN = "/api/v1/auth/explain"
CUSTOMERS = "/api/v1/crm/customers"
READ = "crm:customer:read"


async def own(person: Client, method: str, path: str, **more: Any) -> dict[str, Any]:
    """What a person is told about a request of theirs, in English."""
    query = urlencode({"method": method, "path": path, **more})
    told: dict[str, Any] = expect(await person.get(f"{OWN}?{query}", headers={"Accept-Language": "en"}))
    return told


async def test_everybody_may_ask_why_they_are_refused(people: People) -> None:
    person = await people.person()
    told = await own(person, "GET", f"{CUSTOMERS}/export")
    assert (told["allowed"], told["code"], told["user"]["id"]) == (False, 40300, person.user["userId"])
    assert told["route"]["permission"] == expect_refusal(await person.get(f"{CUSTOMERS}/export"))
    assert [need["menu"]["code"] for need in told["missing"]] == ["crm:customer:export"]


def expect_refusal(reply: Any) -> str:
    expect(reply, 40300)
    permission: str = reply.data["permission"]
    return permission


async def test_roles_with_a_permission_are_named_only_to_those_who_can_list_roles(people: People) -> None:
    holder = await people.role([READ])
    person, chief = await people.person(), await people.person(["system:role:list"])
    (need,) = (await own(person, "GET", f"{CUSTOMERS}/{{id}}"))["missing"]
    assert need["roles"] == []
    (need,) = (await own(chief, "GET", f"{CUSTOMERS}/{{id}}"))["missing"]
    assert holder in [role["id"] for role in need["roles"]]


async def test_a_record_in_sight_is_explained_by_what_shows_it(people: People) -> None:
    person = await people.person([READ, "crm:customer:create"])
    made = expect(await person.post(CUSTOMERS, {"name": unique("Customer")}))["id"]
    told = await own(person, "GET", f"{CUSTOMERS}/{made}")
    assert (told["allowed"], told["record"]["visible"]) == (True, True)
    assert told["record"]["why"] == "The record is within the data scope: their own rows"


@pytest.mark.parametrize("granted", [[READ], []], ids=["with the permission", "without it"])
async def test_a_hidden_record_and_a_missing_one_are_explained_alike(
    admin: Client, people: People, granted: list[str]
) -> None:
    person = await people.person(granted)
    hidden = expect(await admin.post(CUSTOMERS, {"name": unique("Customer")}))["id"]
    told = [await own(person, "GET", f"{CUSTOMERS}/{id}") for id in (hidden, "0" * 24)]
    assert told[0] == told[1]
    assert told[0]["code"] == (await person.get(f"{CUSTOMERS}/{hidden}")).code
    assert told[0]["allowed"] is False


async def test_without_the_permission_no_record_is_explained_even_in_sight(people: People) -> None:
    person = await people.person(["crm:customer:create"])
    made = expect(await person.post(CUSTOMERS, {"name": unique("Customer")}))["id"]
    assert (await own(person, "GET", f"{CUSTOMERS}/{made}"))["record"] is None


async def test_nobody_else_is_explained(people: People) -> None:
    person = await people.person()
    query = urlencode({"method": "GET", "path": CUSTOMERS, "user_id": 1})
    assert (await person.get(f"{OWN}?{query}")).fields == {"user_id"}
