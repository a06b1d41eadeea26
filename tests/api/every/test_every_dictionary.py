"""Every field that is bound to a dictionary takes its enabled values, and no others, wherever a client sends it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handlers.catalogue.dictionaries import NOT_LISTED, Dictionaries, Entry
from handlers.route import Route
from handlers.schema.fields import Field, array, fields_in, obj, text
from handlers.schema.json_schema import json_schema
from handlers.schema.messages import Message
from plugins.testing import Client, Reply, expect, unique
from tests.support.catalogue import CATALOGUE, chosen_routes
from tests.support.dictionary_entries import AT, Entries, dictionary
from tests.support.valid_requests import Exercise, Maker

pytestmark = pytest.mark.gen_test(timeout=40)


def bound(shape: Field | None) -> list[tuple[str, Field]]:
    return [(path, field) for path, field in fields_in(shape) if field.dictionary] if shape else []


SENT = [(route, path, field) for route in CATALOGUE.routes for path, field in bound(route.body)]
BODIES = [pytest.param(*one, id=f"{one[0].method} {one[0].path} {one[1]}") for one in SENT if one[0] in chosen_routes()]
NOT_SENT = {"approval_action", "notification_kind"}  # the path, and the event, say them
UNIT_OF_A_PRODUCT = "lines[].unit"  # of the dictionary, and of the product
STORED = {field.dictionary for one in CATALOGUE.collections.values() for _, field in bound(one.read)}
PRODUCTS, CUSTOMERS, LEADS = "/api/v1/inventory/products", "/api/v1/crm/customers", "/api/v1/crm/leads"


def with_value(body: Any, path: str, value: str) -> Any:
    """The body with a value at a path such as `lines[].category`."""
    name, _, rest = path.partition(".")
    if not rest and not name.endswith("[]"):
        return {**body, name: value}
    if name.endswith("[]"):
        items = body.get(name[:-2]) or [{"description": "one"}]
        changed = [with_value(items[0], rest, value) if rest else value, *items[1:]]
        return {**body, name[:-2]: changed}
    return {**body, name: with_value(body.get(name) or {}, rest, value)}


async def disable(admin: Client, type: str | None, value: str) -> None:
    record = await dictionary(admin, type)
    at = f"{AT}/{record['id']}/items/{value}"
    expect(await admin.patch(at, {"version": record["version"], "status": "disabled"}))


async def exercised(maker: Maker, route: Route) -> Exercise:
    exercise = await maker.exercise(route)
    assert isinstance(exercise.body, dict)
    return exercise


def test_clients_can_send_a_value_of_every_dictionary_that_records_are_bound_to() -> None:
    assert {field.dictionary for _, _, field in SENT} == STORED - NOT_SENT


@pytest.mark.parametrize(("route", "path", "field"), BODIES)
async def test_a_value_that_is_not_in_the_dictionary_is_refused_and_an_added_one_taken(
    route: Route, path: str, field: Field, maker: Maker, admin: Client, entries: Entries
) -> None:
    exercise = await exercised(maker, route)
    place = path.replace("[]", "[0]")
    for wrong in ("no-such-value", ""):
        reply = await replace(exercise, body=with_value(exercise.body, path, wrong)).send()
        expect(reply, 40001)
        assert place in reply.fields
    value = await entries.add(field.dictionary)
    taken = await replace(exercise, body=with_value(exercise.body, path, value)).send()
    if path == UNIT_OF_A_PRODUCT and taken.code:
        assert [one["field"] for one in taken.data["errors"] if one["rule"] != NOT_LISTED] == [place]
    else:
        expect(taken)
    again = await exercised(maker, route)
    await disable(admin, field.dictionary, value)
    reply = await replace(again, body=with_value(again.body, path, value)).send()
    expect(reply, 40001)
    assert (place, NOT_LISTED) in [(one["field"], one["rule"]) for one in reply.data["errors"]]


def test_values_within_lines_and_lists_are_held_to_their_dictionaries_and_stay_where_they_stand() -> None:
    kind = text(dictionary="kind")
    shape = obj(None, {"lines": array(obj(None, {"kind": kind, "note": text()})), "kinds": array(kind), "other": kind})
    listed = Dictionaries({"kind": {"a": Entry(Message("甲", "A")), "b": Entry(Message("乙", "B"), enabled=False)}})
    body = {"lines": [{"kind": "a"}, {"kind": "b"}, {"kind": "c", "note": "c"}], "kinds": ["a", "b", None], "other": 7}
    wrong = [(one.field, one.rule) for one in listed.faults(shape, body, None)]
    assert wrong == [(place, NOT_LISTED) for place in ("lines[1].kind", "lines[2].kind", "kinds[1]")]
    standing = {"lines": [{"kind": "c"}, {"kind": "b"}], "kinds": None, "other": "c"}
    assert [one.field for one in listed.faults(shape, body, standing)] == ["kinds[1]"]


async def test_what_was_disabled_stays_where_it_stands_and_nowhere_else(admin: Client, entries: Entries) -> None:
    value = await entries.add("crm_customer_level")
    there, other = [
        expect(await admin.post(CUSTOMERS, {"name": unique("c"), "level": level})) for level in (value, "A")
    ]
    await disable(admin, "crm_customer_level", value)

    async def change(record: dict[str, Any], **values: Any) -> Reply:
        version = expect(await admin.get(f"{CUSTOMERS}/{record['id']}"))["version"]
        return await admin.patch(f"{CUSTOMERS}/{record['id']}", {"version": version, **values})

    assert expect(await change(there, level=value, remark="kept"))["level"] == value
    assert expect(await change(there, remark="again"))["level"] == value
    refused = await change(other, level=value, phone="1" * 60)
    expect(refused, 40001)
    assert refused.fields == {"level", "phone"}
    expect(await change(there, level="B"))
    expect(await change(there, level=value), 40001)


async def test_an_item_in_use_is_not_deleted_and_the_refusal_names_it(admin: Client, entries: Entries) -> None:
    value = await entries.add("inventory_unit")
    made = expect(await admin.post(PRODUCTS, {"sku": unique("SKU"), "name": "x", "unit": value}))
    record = await dictionary(admin, "inventory_unit")
    kept = [item for item in record["items"] if item["value"] != value]
    emptied = await admin.patch(f"{AT}/{record['id']}", {"version": record["version"], "items": kept})
    for refused in (await admin.delete(f"{AT}/{record['id']}/items/{value}"), emptied):
        expect(refused, 40901)
        assert value in refused.json["msg"]
    assert await dictionary(admin, "inventory_unit") == record
    expect(await admin.delete(f"{PRODUCTS}/{made['id']}"))
    expect(await admin.delete(f"{AT}/{record['id']}/items/{value}"))


async def test_a_dictionary_of_which_everything_is_disabled_takes_no_value_and_no_harm(admin: Client) -> None:
    record = await dictionary(admin, "crm_follow_up_method")
    at = f"{AT}/{record['id']}"
    shut = [{**item, "status": "disabled"} for item in record["items"]]
    closed = expect(await admin.patch(at, {"version": record["version"], "items": shut}))
    customer = expect(await admin.post(CUSTOMERS, {"name": unique("c")}))["id"]
    body = {"customer_id": customer, "content": "x"}
    try:
        expect(await admin.post("/api/v1/crm/follow-ups", {**body, "method": "visit"}), 40001)
        expect(await admin.post("/api/v1/crm/follow-ups", body))
    finally:
        expect(await admin.patch(at, {"version": closed["version"], "items": record["items"]}))
    expect(await admin.post("/api/v1/crm/follow-ups", {**body, "method": "visit"}))


async def test_constants_and_the_description_have_what_administrators_added(
    admin: Client, anonymous: Client, entries: Entries
) -> None:
    for path, at in (("/api/v1/meta/constants", ("data", "dictionaries")), ("/api/openapi.json", ("x-dictionaries",))):
        before = await anonymous.get(path)
        unchanged = await anonymous.get(path, headers={"If-None-Match": before.headers["ETag"]})
        assert (unchanged.status, unchanged.body) == (304, b"")
        value = await entries.add("crm_lead_source")
        after = await anonymous.get(path, headers={"If-None-Match": before.headers["ETag"], "Accept-Language": "en"})
        assert after.status == 200
        await disable(admin, "crm_lead_source", value)
        last = await anonymous.get(path, headers={"Accept-Language": "en"})
        for reply, disabled in ((after, False), (last, True)):
            listed = reply.json
            for name in at:
                listed = listed[name]
            item = {"value": value, "label": f"label of {value}", "color": "", "disabled": disabled}
            assert item in listed["crm_lead_source"]


def test_the_description_says_which_fields_are_bound() -> None:
    assert json_schema(CATALOGUE.collections["crm_leads"].create, "input")["properties"]["source"]["x-dictionary"] == (
        "crm_lead_source"
    )


async def test_dashboards_have_labels_in_the_readers_language_and_codes(admin: Client, entries: Entries) -> None:
    value = await entries.add("crm_lead_source")
    expect(await admin.post(LEADS, {"name": unique("lead"), "source": value}))
    at = "/api/dashboard/lead-source-distribution"
    slices = {one["code"]: one for one in expect(await admin.get(at, headers={"Accept-Language": "en"}))["items"]}
    assert (slices[value]["name"], slices[value]["value"]) == (f"label of {value}", 1)
    expect(await admin.post(LEADS, {"name": unique("lead"), "source": "website"}))
    for language, label in (("en", "Website"), ("zh", "官网")):
        found = expect(await admin.get(at, headers={"Accept-Language": language}))["items"]
        assert [one["name"] for one in found if one["code"] == "website"] == [label]
