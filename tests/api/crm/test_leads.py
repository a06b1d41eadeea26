"""Leads: their status, and conversion."""

import asyncio

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import CONTACTS, CUSTOMERS, LEADS, OPPORTUNITIES, Record, customer
from tests.support.dictionary_entries import Entries

pytestmark = pytest.mark.gen_test(timeout=20)


async def lead(client: Client, **fields: object) -> Record:
    made: Record = expect(await client.post(LEADS, {"name": "刘洋", "company": unique("company"), **fields}))
    return made


async def test_conversion_makes_a_customer_a_contact_and_an_opportunity(admin: Client) -> None:
    made = await lead(admin, phone="13900000000", source="website")
    converted = expect(await admin.post(f"{LEADS}/{made['id']}/convert", {}))
    assert converted["lead"]["status"] == "converted"
    assert converted["customer"]["name"] == made["company"]
    assert (converted["contact"]["name"], converted["contact"]["is_primary"]) == ("刘洋", True)
    assert converted["opportunity"]["customer_id"] == converted["customer"]["id"]
    assert converted["lead"]["opportunity_id"] == converted["opportunity"]["id"]


async def test_conversion_may_use_an_existing_customer_and_no_opportunity(admin: Client) -> None:
    made, there = await lead(admin), await customer(admin)
    body = {"customer_id": there["id"], "opportunity": None}
    converted = expect(await admin.post(f"{LEADS}/{made['id']}/convert", body))
    assert (converted["customer"]["id"], converted["opportunity"]) == (there["id"], None)


async def test_an_existing_customer_keeps_its_primary_contact(admin: Client) -> None:
    made, there = await lead(admin), await customer(admin)
    first = expect(await admin.post(CONTACTS, {"customer_id": there["id"], "name": "王芳", "is_primary": True}))
    expect(await admin.post(f"{LEADS}/{made['id']}/convert", {"customer_id": there["id"]}))
    primary = expect(await admin.get(f"{CONTACTS}?customer_id={there['id']}&is_primary=true"))["items"]
    assert [one["id"] for one in primary] == [first["id"]]


async def test_a_conversion_that_fails_leaves_nothing_behind(admin: Client) -> None:
    made = await lead(admin)
    body = {"customer_id": "f" * 24}
    expect(await admin.post(f"{LEADS}/{made['id']}/convert", body), 40001)
    assert expect(await admin.get(f"{LEADS}/{made['id']}")) == made


async def test_of_concurrent_conversions_one_succeeds(admin: Client) -> None:
    made = await lead(admin)
    replies = await asyncio.gather(*(admin.post(f"{LEADS}/{made['id']}/convert", {}) for _ in range(10)))
    assert sorted(reply.code for reply in replies) == [0] + [40901] * 9
    assert expect(await admin.get(f"{CUSTOMERS}?q={made['company']}"))["total"] == 1
    for path in (CONTACTS, OPPORTUNITIES):
        of = next(reply.data["customer"]["id"] for reply in replies if reply.code == 0)
        assert expect(await admin.get(f"{path}?customer_id={of}"))["total"] == 1


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [("new", "contacted", 0), ("new", "qualified", 0), ("qualified", "contacted", 40901), ("new", "converted", 40001)],
)
async def test_the_status_follows_the_state_machine(before: str, after: str, code: int, admin: Client) -> None:
    made = await lead(admin, status=before)
    expect(await admin.patch(f"{LEADS}/{made['id']}", {"version": made["version"], "status": after}), code)


async def test_only_conversion_sets_the_converted_status(admin: Client) -> None:
    expect(await admin.post(LEADS, {"name": "刘洋", "status": "converted"}), 40001)


async def test_a_customer_made_of_a_lead_has_no_source_that_its_dictionary_lacks(
    admin: Client, entries: Entries
) -> None:
    source = await entries.add("crm_lead_source")
    for given, taken in (("advertising", "advertising"), (source, None)):
        made = await lead(admin, source=given)
        converted = expect(await admin.post(f"{LEADS}/{made['id']}/convert", {"opportunity": {}}))
        assert converted["customer"]["source"] == taken
        assert converted["opportunity"]["source"] == given
