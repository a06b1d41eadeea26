"""What the sweep removes (files that nothing was attached to within 24 hours), and what it never removes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.api import anything, array, choice, mapping, obj, text, utc_now
from plugins.boot.runtime import Running
from plugins.files.objects import Files
from plugins.files.records import OBJECTS
from plugins.files.sweeping import _find_paths, sweep
from plugins.testing import Client, eventually, expect, unique
from tests.api.files.places import Place, on_both, place
from tests.api.files.samples import PNG, attach, customer, note, upload

pytestmark = pytest.mark.gen_test(timeout=30)


async def age(running: Running, key: str, hours: float = 25) -> None:
    """Make a file this old."""
    values = {"$set": {"created_at": utc_now() - timedelta(hours=hours)}}
    await running.service.database.driver.update_one(OBJECTS.name, {"_id": key}, values)


async def swept(running: Running, key: str, hours: float = 25) -> bool:
    """Whether a sweep removes this file, when it is so old."""
    await age(running, key, hours)
    files = running.service.part(Files)
    await sweep(running.service, files)
    record = await files.records.find_one({"_id": key})
    found = [await files.storage.stat(bucket, key) for bucket in ("public", "private")]
    assert (record is None) == (found == [None, None])
    return record is None


@on_both
async def test_an_unattached_file_is_swept(here: Place) -> None:
    stored = await note(here.admin)
    assert await swept(here.running, stored["objectKey"])
    expect(await here.admin.get(f"/api/file/dl?object_key={stored['objectKey']}"), 40400)


@on_both
async def test_of_sweeps_at_the_same_time_each_counts_what_it_removed(
    here: Place, caplog: pytest.LogCaptureFixture
) -> None:
    files = here.running.service.part(Files)
    await sweep(here.running.service, files)
    stored = [await note(here.admin) for _ in range(10)]
    for file in stored:
        await age(here.running, file["objectKey"])
    with caplog.at_level("INFO", "tradewind.files"):
        await asyncio.gather(*(sweep(here.running.service, files) for _ in range(3)))
    counts = [vars(line)["removed"] for line in caplog.records if line.getMessage() == "files swept"]
    assert sum(counts) == len(stored)  # one that comes late finds nothing, and says nothing


@on_both
async def test_a_public_file_that_no_record_names_is_swept(here: Place) -> None:
    stored = await upload(here.admin, PNG, "a.png", "public")
    assert await swept(here.running, stored["objectKey"])


async def test_an_unattached_file_is_kept_for_a_day(here: Place) -> None:
    assert not await swept(here.running, (await note(here.admin))["objectKey"], hours=23.9)


async def test_an_attached_file_is_kept_even_after_the_attachment_is_deleted(here: Place) -> None:
    stored = await note(here.admin)
    attachment = expect(await attach(here.admin, await customer(here.admin), stored))
    assert not await swept(here.running, stored["objectKey"])
    expect(await here.admin.delete(f"/api/attachments/{attachment['id']}"))
    assert not await swept(here.running, stored["objectKey"])


@on_both
async def test_an_unused_signed_address_is_swept(here: Place) -> None:
    signed = expect(await here.admin.get(f"/api/upload/sts?file_name=a.png&content_type=image/png&size={len(PNG)}"))
    assert await swept(here.running, signed["objectKey"])


@on_both
async def test_an_unnamed_file_uploaded_to_a_signed_address_is_swept(here: Place) -> None:
    signed = expect(await here.admin.get(f"/api/upload/sts?file_name=a.png&content_type=image/png&size={len(PNG)}"))
    client, path = here.address(signed["uploadUrl"])
    await client.put(path, raw=PNG, headers=signed["headers"])
    assert await swept(here.running, signed["objectKey"])


@on_both
async def test_an_interrupted_sweep_is_completed(here: Place) -> None:
    stored = await note(here.admin)
    leaving = {"$set": {"state": "leaving"}}
    await here.running.service.database.driver.update_one(OBJECTS.name, {"_id": stored["objectKey"]}, leaving)
    expect(await here.admin.get(f"/api/file/dl?object_key={stored['objectKey']}"), 40400)
    expect(await attach(here.admin, await customer(here.admin), stored), 40400)
    assert await swept(here.running, stored["objectKey"])


# -- files that a record names without an attachment

Use = Callable[[Client, str], Awaitable[None]]


async def as_an_avatar(admin: Client, url: str) -> None:
    expect(await admin.patch("/api/v1/auth/profile", {"avatar": url}))


async def as_a_cover(admin: Client, url: str) -> None:
    expect(await admin.post("/api/v1/cms/manage/articles", {"title": unique("article"), "cover": url}))


async def in_an_article(admin: Client, url: str) -> None:
    body = {"title": unique("article"), "content": f'<p><img src="{url}"></p>'}
    expect(await admin.post("/api/v1/cms/manage/articles", body))


async def only_in_an_old_revision(admin: Client, url: str) -> None:
    at = "/api/v1/cms/manage/articles"
    made = expect(await admin.post(at, {"title": unique("article"), "content": f'<p><img src="{url}"></p>'}))
    expect(await admin.patch(f"{at}/{made['id']}", {"version": made["version"], "content": "<p>without</p>"}))


async def in_a_remark(admin: Client, url: str) -> None:
    expect(await admin.post("/api/v1/crm/customers", {"name": "x", "remark": f"see {url}, please"}))


@pytest.mark.parametrize("use", [as_an_avatar, as_a_cover, in_an_article, only_in_an_old_revision, in_a_remark])
async def test_a_public_file_that_a_record_names_is_kept(use: Use, tradewind: Running, admin: Client) -> None:
    stored = await upload(admin, PNG, "a.png", "public")
    await use(admin, stored["url"])
    assert not await swept(tradewind, stored["objectKey"])


@on_both
async def test_a_file_uploaded_straight_to_s3_is_checked_before_it_is_kept(here: Place) -> None:
    evil = b"<html><script>alert(1)</script>".ljust(len(PNG))
    for content, kept in ((PNG, True), (evil, False)):
        query = f"file_name=a.png&content_type=image/png&size={len(PNG)}&visibility=public"
        signed = expect(await here.admin.get(f"/api/upload/sts?{query}"))
        client, path = here.address(signed["uploadUrl"])
        await client.put(path, raw=content, headers=signed["headers"])
        await in_a_remark(here.admin, signed["url"])
        assert await swept(here.running, signed["objectKey"]) != kept


def test_every_field_that_can_contain_a_key_is_searched() -> None:
    fields = {
        "address": text(),
        "short": text(max_length=10),
        "kind": choice("a", "b"),
        "tags": array(text()),
        "contact": obj(None, {"page": text()}),
        "rows": array(obj(None, {"image": text(), "more": anything()})),
        "layout": anything(),
        "labels": mapping(text()),
    }
    assert _find_paths(fields) == (["address", "tags", "contact.page", "rows.image"], ["rows.more", "layout", "labels"])


# -- when


@pytest.fixture(scope="module")
def quick(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A separate server that sweeps often."""
    block = place(mongodb_uri, tmp_path_factory.mktemp("quick"), sweep_seconds=0.3)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_the_sweep_runs_by_itself(quick: Place) -> None:
    young = await note(quick.admin)
    before = await quick.list_stored()
    await age(quick.running, (await note(quick.admin))["objectKey"])

    async def gone() -> bool:
        return await quick.list_stored() == before

    await eventually(gone, seconds=15)
    assert (await quick.admin.get(f"/api/file/dl?object_key={young['objectKey']}")).status == 200


async def test_a_data_reset_removes_the_files_too(quick: Place) -> None:
    await note(quick.admin)
    await upload(quick.admin, PNG, "a.png", "public")
    body: dict[str, Any] = {"modules": ["files"], "confirm": "RESET"}
    expect(await quick.admin.post("/api/v1/system/data-reset", body))
    assert await quick.list_stored() == set()
    assert (await note(quick.admin))["size"] > 0
