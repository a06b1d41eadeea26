"""Dictionaries over HTTP: read by everybody, edited by administrators, declared by plugins."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from plugins.boot.runtime import Running
from plugins.system.declared_dictionaries import synchronise
from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test
AT = "/api/v1/system/dictionaries"
ENGLISH = {"Accept-Language": "en"}
DECLARED = "crm_customer_level"


async def made(admin: Client, *values: str) -> dict[str, Any]:
    """A dictionary of the administrator's own with these items."""
    body = {"type": unique("own"), "name": "尺寸", "items": [{"value": value, "label": value} for value in values]}
    record: dict[str, Any] = expect(await admin.post(AT, body))
    return record


async def declared(client: Client, **options: Any) -> dict[str, Any]:
    """The dictionary that crm declares, as the client sees it."""
    (record,) = expect(await client.get(f"{AT}?types={DECLARED}", **options))["items"]
    return dict(record)


def labels(record: dict[str, Any]) -> dict[str, str]:
    return {item["value"]: item["label"] for item in record["items"]}


async def test_a_declared_dictionary_is_there_in_the_callers_language(admin: Client) -> None:
    assert labels(await declared(admin)) == {"A": "重点", "B": "普通", "C": "次要"}
    assert labels(await declared(admin, headers=ENGLISH)) == {"A": "Key", "B": "Regular", "C": "Minor"}


async def test_somebody_who_is_logged_in_reads_dictionaries_without_any_permission(people: People) -> None:
    person = await people.person()
    record = await declared(person)
    assert expect(await person.get(f"{AT}/{record['id']}"))["type"] == DECLARED
    assert expect(await person.get(f"{AT}/{record['id']}/items"))["total"] == 3


async def test_nobody_reads_them_without_a_log_in(anonymous: Client) -> None:
    expect(await anonymous.get(AT), 40100)


async def test_writing_needs_the_permission(people: People, admin: Client) -> None:
    person = await people.person()
    record = await made(admin)
    expect(await person.post(AT, {"type": unique("own"), "name": "x"}), 40300)
    expect(await person.post(f"{AT}/{record['id']}/items", {"value": "x", "label": "x"}), 40300)


async def test_several_types_come_at_once_whatever_the_page_size(admin: Client) -> None:
    types = [(await made(admin))["type"] for _ in range(3)]
    page = expect(await admin.get(f"{AT}?types={','.join(types)}&page_size=2"))
    assert sorted(record["type"] for record in page["items"]) == sorted(types)
    assert page["next_cursor"] is None


async def test_a_client_that_has_the_same_dictionaries_gets_304_without_a_body(admin: Client) -> None:
    first = await admin.get(f"{AT}?types={DECLARED}")
    again = await admin.get(f"{AT}?types={DECLARED}", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]


@pytest.mark.parametrize(("known", "status"), [("{tag}", 304), ('"other", {tag}', 304), ("*", 304), ('"other"', 200)])
async def test_if_none_match_is_a_list_of_tags_or_a_star(admin: Client, known: str, status: int) -> None:
    tag = (await admin.get(f"{AT}?types={DECLARED}")).headers["ETag"]
    again = await admin.get(f"{AT}?types={DECLARED}", headers={"If-None-Match": known.format(tag=tag)})
    assert again.status == status


async def test_the_etag_changes_with_an_item_and_with_the_language(admin: Client) -> None:
    record = await made(admin, "S")
    before = {"If-None-Match": (await admin.get(f"{AT}/{record['id']}")).headers["ETag"]}
    assert (await admin.get(f"{AT}/{record['id']}", headers={**before, **ENGLISH})).status == 200
    expect(await admin.post(f"{AT}/{record['id']}/items", {"value": "M", "label": "M"}))
    assert (await admin.get(f"{AT}/{record['id']}", headers=before)).status == 200


async def test_a_created_dictionary_has_the_contracts_shape(admin: Client) -> None:
    record = await made(admin, "S", "M")
    assert record["items"] == [
        {"value": "S", "label": "S", "color": None, "sort": 0, "status": "enabled"},
        {"value": "M", "label": "M", "color": None, "sort": 1, "status": "enabled"},
    ]
    assert record["version"] == 1


async def test_a_type_is_taken_once(admin: Client) -> None:
    assert expect(await admin.post(AT, {"type": DECLARED, "name": "x"}), 40900) == {"field": "type"}


async def test_an_item_given_twice_is_named(admin: Client) -> None:
    item = {"value": "S", "label": "S"}
    reply = await admin.post(AT, {"type": unique("own"), "name": "x", "items": [item, item]})
    assert reply.code == 40001
    assert reply.fields == {"items[1].value"}


async def test_every_item_change_raises_the_dictionarys_version(admin: Client) -> None:
    record = await made(admin, "S")
    items = f"{AT}/{record['id']}/items"
    assert expect(await admin.post(items, {"value": "M", "label": "M"}))["version"] == 2
    assert expect(await admin.patch(f"{items}/M", {"version": 2, "color": "red"}))["version"] == 3
    expect(await admin.delete(f"{items}/S"))
    after = expect(await admin.get(f"{AT}/{record['id']}"))
    assert after["version"] == 4
    assert after["items"] == [{"value": "M", "label": "M", "color": "red", "sort": 1, "status": "enabled"}]


async def test_a_stale_version_changes_no_item(admin: Client) -> None:
    record = await made(admin, "S")
    one = f"{AT}/{record['id']}/items/S"
    expect(await admin.patch(one, {"version": 1, "label": "Small"}))
    expect(await admin.patch(one, {"version": 1, "label": "Tiny"}), 40902)
    assert expect(await admin.get(one))["label"] == "Small"


async def test_the_version_must_be_given(admin: Client) -> None:
    record = await made(admin, "S")
    assert (await admin.patch(f"{AT}/{record['id']}/items/S", {"label": "x"})).fields == {"version"}


async def test_an_item_value_is_taken_once_also_by_two_at_a_time(admin: Client) -> None:
    record = await made(admin)
    items = f"{AT}/{record['id']}/items"
    replies = await asyncio.gather(*(admin.post(items, {"value": "S", "label": "S"}) for _ in range(6)))
    assert sorted(reply.code for reply in replies) == [0, *[40900] * 5]
    assert {reply.data["field"] for reply in replies if reply.code} == {"value"}


async def test_items_added_at_once_are_all_there(admin: Client) -> None:
    record = await made(admin)
    items = f"{AT}/{record['id']}/items"
    replies = await asyncio.gather(*(admin.post(items, {"value": str(i), "label": str(i)}) for i in range(6)))
    assert {reply.code for reply in replies} == {0}
    assert expect(await admin.get(items))["total"] == 6


async def test_a_value_with_a_slash_is_addressed_percent_encoded(admin: Client) -> None:
    record = await made(admin, "m/s")
    assert expect(await admin.get(f"{AT}/{record['id']}/items/m%2Fs"))["value"] == "m/s"


async def test_an_item_that_is_not_there_is_40400(admin: Client) -> None:
    record = await made(admin)
    expect(await admin.delete(f"{AT}/{record['id']}/items/none"), 40400)
    expect(await admin.patch(f"{AT}/{record['id']}/items/none", {"version": 1}), 40400)


async def test_items_come_in_pages(admin: Client) -> None:
    record = await made(admin, *"abcde")
    items = f"{AT}/{record['id']}/items"
    first = expect(await admin.get(f"{items}?page_size=2"))
    second = expect(await admin.get(f"{items}?page_size=2&cursor={first['next_cursor']}"))
    assert [item["value"] for item in [*first["items"], *second["items"]]] == list("abcd")
    assert expect(await admin.get(f"{items}?page_size=2&page=3"))["next_cursor"] is None


@pytest.mark.parametrize("cursor", ["x", "-1", "1e3", "٣"])
async def test_a_cursor_that_is_none_is_named(admin: Client, cursor: str) -> None:
    record = await made(admin)
    assert (await admin.get(f"{AT}/{record['id']}/items?cursor={quote(cursor)}")).fields == {"cursor"}


async def test_english_labels_are_edited_in_english_and_chinese_ones_stay(admin: Client) -> None:
    record = await made(admin, "S")
    one = f"{AT}/{record['id']}/items/S"
    assert expect(await admin.patch(one, {"version": 1, "label": "Small"}, headers=ENGLISH))["label"] == "Small"
    assert expect(await admin.get(one))["label"] == "S"


async def test_what_an_english_administrator_creates_has_a_label_in_both_languages(admin: Client) -> None:
    body = {"type": unique("own"), "name": "Size", "items": [{"value": "S", "label": "Small"}]}
    record = expect(await admin.post(AT, body, headers=ENGLISH))
    chinese = expect(await admin.get(f"{AT}/{record['id']}"))
    assert (chinese["name"], labels(chinese)) == ("Size", {"S": "Small"})


async def test_a_declared_dictionary_cannot_be_deleted_or_renamed_in_type(admin: Client) -> None:
    record = await declared(admin)
    expect(await admin.delete(f"{AT}/{record['id']}"), 40901)
    expect(await admin.patch(f"{AT}/{record['id']}", {"version": record["version"], "type": unique("other")}), 40901)


async def test_a_declared_item_can_be_disabled_but_not_removed(admin: Client) -> None:
    record = await declared(admin)
    one = f"{AT}/{record['id']}/items/C"
    expect(await admin.delete(one), 40901)
    expect(await admin.patch(f"{AT}/{record['id']}", {"version": record["version"], "items": []}), 40901)
    changed = expect(await admin.patch(one, {"version": record["version"], "status": "disabled"}))
    assert changed["status"] == "disabled"
    expect(await admin.patch(one, {"version": changed["version"], "status": "enabled"}))


async def test_a_dictionary_of_ones_own_is_deleted_and_its_type_is_free_again(admin: Client) -> None:
    record = await made(admin)
    expect(await admin.delete(f"{AT}/{record['id']}"))
    expect(await admin.get(f"{AT}/{record['id']}"), 40400)
    expect(await admin.post(AT, {"type": record["type"], "name": "again"}))


async def test_a_patch_replaces_the_items_of_ones_own_dictionary(admin: Client) -> None:
    record = await made(admin, "S", "M")
    items = [{"value": "L", "label": "Large"}, {"value": "S", "label": "Small"}]
    after = expect(await admin.patch(f"{AT}/{record['id']}", {"version": 1, "items": items}))
    assert labels(after) == {"L": "Large", "S": "Small"}


async def test_what_an_administrator_edited_is_kept_at_the_next_start(tradewind: Running, admin: Client) -> None:
    record = await declared(admin)
    items = f"{AT}/{record['id']}/items"
    changed = expect(await admin.patch(f"{items}/B", {"version": record["version"], "label": "标准"}))
    expect(await admin.post(items, {"value": "D", "label": "休眠"}))
    await synchronise(tradewind.service.database, tradewind.catalogue)
    try:
        assert labels(await declared(admin)) == {"A": "重点", "B": "标准", "C": "次要", "D": "休眠"}
        assert labels(await declared(admin, headers=ENGLISH))["B"] == "Regular"
    finally:
        expect(await admin.delete(f"{items}/D"))
        version = (await declared(admin))["version"]
        assert version > changed["version"]
        expect(await admin.patch(f"{items}/B", {"version": version, "label": "普通"}))


async def test_a_start_without_changes_writes_nothing(tradewind: Running, admin: Client) -> None:
    await synchronise(tradewind.service.database, tradewind.catalogue)
    before = await declared(admin)
    await synchronise(tradewind.service.database, tradewind.catalogue)
    assert (await declared(admin))["version"] == before["version"]
