"""Attachments: their shape, the records that they belong to, and what stays when they are deleted."""

from typing import Any

import pytest

from plugins.files.records import ATTACHMENT
from plugins.testing import Client, expect
from tests.api.files.places import Place, on_both
from tests.api.files.samples import PNG, attach, customer, note, upload
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/attachments"
NO_ID = "f" * 24


def of(record: dict[str, Any], more: str = "") -> str:
    return f"{AT}?biz_type=CUSTOMER&resource_id={record['id']}{more}"


async def test_an_attachment_has_its_documented_fields(here: Place) -> None:
    record, stored = await customer(here.admin), await note(here.admin, "attached")
    attachment = expect(await attach(here.admin, record, stored))
    assert list(attachment) == list(ATTACHMENT.fields or {})
    assert attachment == {
        "id": attachment["id"],
        "biz_type": "CUSTOMER",
        "resource_id": record["id"],
        "file_name": "note.txt",
        "object_key": stored["objectKey"],
        "url": None,
        "visibility": "private",
        "size": 8,
        "content_type": "text/plain",
        "uploader": {"id": 1, "name": here.admin.user["realName"]},
        "created_at": attachment["created_at"],
    }
    assert expect(await here.admin.get(of(record)))["items"] == [attachment]


@on_both
async def test_a_public_file_is_attached_by_its_link(here: Place) -> None:
    record, stored = await customer(here.admin), await upload(here.admin, PNG, "a.png", "public")
    body = {
        "biz_type": "CUSTOMER",
        "resource_id": record["id"],
        "url": stored["url"],
        "file_name": "标志.png",
        "visibility": "public",
    }
    attachment = expect(await here.admin.post(AT, body))
    assert (attachment["url"], attachment["object_key"]) == (stored["url"], stored["objectKey"])
    assert attachment["file_name"] == "标志.png"


@on_both
async def test_a_file_uploaded_to_a_signed_address_is_attached(here: Place) -> None:
    address = expect(await here.admin.get(f"/api/upload/sts?file_name=a.png&content_type=image/png&size={len(PNG)}"))
    client, path = here.address(address["uploadUrl"])
    record = await customer(here.admin)
    expect(await attach(here.admin, record, address), 40400)
    assert (await client.put(path, raw=PNG, headers=address["headers"])).status == 200
    assert expect(await attach(here.admin, record, address))["size"] == len(PNG)


async def test_a_deleted_attachment_is_off_the_list_and_its_file_stays(here: Place) -> None:
    record, stored = await customer(here.admin), await note(here.admin)
    attachment = expect(await attach(here.admin, record, stored))
    expect(await here.admin.delete(f"{AT}/{attachment['id']}"))
    page = expect(await here.admin.get(of(record)))
    assert (page["items"], page["total"]) == ([], 0)
    assert (await here.admin.get(f"/api/file/dl?object_key={stored['objectKey']}")).status == 200
    expect(await here.admin.delete(f"{AT}/{attachment['id']}"), 40400)


async def test_the_list_is_a_page_of_just_this_record(local: Place) -> None:
    record, other = await customer(local.admin), await customer(local.admin)
    made = [expect(await attach(local.admin, record, await note(local.admin)))["id"] for _ in range(3)]
    expect(await attach(local.admin, other, await note(local.admin)))
    first = expect(await local.admin.get(of(record, "&page_size=2")))
    rest = expect(await local.admin.get(of(record, f"&page_size=2&cursor={first['next_cursor']}")))
    assert [row["id"] for row in first["items"] + rest["items"]] == made[::-1]
    assert (first["total"], rest["next_cursor"]) == (3, None)
    assert [row["id"] for row in expect(await local.admin.get(of(record, "&sort=id")))["items"]] == made


async def test_every_registered_business_type_takes_attachments(admin: Client) -> None:
    stored = await note(admin)
    for biz_type in CATALOGUE.biz_types:
        body = {"biz_type": biz_type, "resource_id": NO_ID, "object_key": stored["objectKey"]}
        expect(await admin.post(AT, body), 40400)


@pytest.mark.parametrize("biz_type", CATALOGUE.biz_types)
async def test_records_of_every_business_type_can_be_seen_by_a_permission(biz_type: str) -> None:
    collection = CATALOGUE.biz_types[biz_type]
    assert [route for route in CATALOGUE.routes if route.method == "GET" and route.collection == collection.name]


BAD = {
    "a type that nobody registered": ({"biz_type": "PLANET"}, 40001, "biz_type"),
    "an operator for a type": ({"biz_type": {"$ne": ""}}, 40001, "biz_type"),
    "a record that is none": ({"resource_id": "../1"}, 40400, ""),
    "a record that is not there": ({"resource_id": NO_ID}, 40400, ""),
    "an operator for a record": ({"resource_id": {"$gt": ""}}, 40001, "resource_id"),
    "no file": ({"object_key": None}, 40001, "object_key"),
    "a file that is not there": ({"object_key": "20261120-0123456789abcdef0123456789abcdef.pdf"}, 40400, ""),
    "a key that is a path": ({"object_key": "../../etc/passwd"}, 40400, ""),
    "a link to elsewhere": ({"object_key": None, "url": "https://example.com/a.png"}, 40400, ""),
    "a link to elsewhere with our key": ({"url": "https://example.com/{key}"}, 40400, ""),
    "the other bucket": ({"visibility": "public"}, 40001, "visibility"),
    "a name with a way up": ({"file_name": "../a.txt"}, 40001, "file_name"),
    "a name with NUL": ({"file_name": "a\x00.txt"}, 40001, "file_name"),
    "a field of the service": ({"size": 1, "uploader": {"id": 2}}, 40001, "uploader"),
}


@pytest.mark.parametrize(("change", "code", "field"), BAD.values(), ids=BAD)
async def test_an_invalid_attachment_is_refused(local: Place, change: dict, code: int, field: str) -> None:
    record, stored = await customer(local.admin), await note(local.admin)
    body = {"biz_type": "CUSTOMER", "resource_id": record["id"], "object_key": stored["objectKey"], **change}
    if "url" in body:
        body["url"] = body["url"].format(key=stored["objectKey"])
    reply = await local.admin.post(AT, body)
    expect(reply, code)
    assert not field or field in reply.fields
    assert expect(await local.admin.get(of(record)))["total"] == 0


async def test_a_list_without_its_record_names_what_is_missing(local: Place) -> None:
    reply = await local.admin.get(AT)
    expect(reply, 40001)
    assert reply.fields == {"biz_type", "resource_id"}


async def test_the_list_reads_an_index(local: Place) -> None:
    store = local.running.service.database.store(local.running.catalogue.collections["files_attachments"])
    plan = await local.running.service.database.driver.command(
        {
            "explain": {
                "find": store.collection.name,
                "filter": {"$and": [{"deleted": False}, {"biz_type": "CUSTOMER", "resource_id": NO_ID}]},
                "sort": {"created_at": -1, "_id": -1},
            },
            "verbosity": "queryPlanner",
        }
    )
    assert "IXSCAN" in str(plan["queryPlanner"]["winningPlan"])
    assert "COLLSCAN" not in str(plan["queryPlanner"]["winningPlan"])
