"""Uploads through the service, to a disk and to S3."""

import hashlib
import os
from typing import Any

import pytest

from plugins.testing import Client, eventually, expect, unique
from tests.api.files.places import MEBIBYTE, Place, on_both
from tests.api.files.samples import DOCX, PDF, PNG, RAR, form, note, send, upload
from tests.support.raw_http import connected, request

pytestmark = pytest.mark.gen_test(timeout=30)


async def downloaded(here: Place, client: Client, key: str) -> bytes:
    reply = await client.get(f"/api/file/dl?object_key={key}")
    assert reply.status == 200, reply.body
    return reply.body


@on_both
async def test_a_private_upload_returns_a_key_and_no_link(here: Place) -> None:
    stored = await upload(here.admin, PDF, "合同.pdf")
    assert stored == {
        "visibility": "private",
        "url": None,
        "objectKey": stored["objectKey"],
        "fileName": "合同.pdf",
        "size": len(PDF),
        "contentType": "application/pdf",
        "sha256": hashlib.sha256(PDF).hexdigest(),
    }
    assert await downloaded(here, here.admin, stored["objectKey"]) == PDF


@on_both
async def test_a_public_upload_returns_a_link_that_anybody_can_read(here: Place) -> None:
    stored = await upload(here.admin, PNG, "logo.png", "public")
    client, path = here.address(stored["url"])
    reply = await client.get(path)
    assert (reply.status, reply.body, reply.headers["Content-Type"]) == (200, PNG, "image/png")
    assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_a_bucket_that_is_not_named_is_the_private_one(here: Place) -> None:
    raw, headers = form(("file", "a.txt", b"text"))
    assert expect(await here.admin.post("/api/upload", raw=raw, headers=headers))["visibility"] == "private"


@on_both
@pytest.mark.parametrize("size", [10, 6 * MEBIBYTE])
async def test_the_bucket_may_be_given_after_the_file(here: Place, size: int) -> None:
    content = PDF + b"\n" * size
    raw, headers = form(("file", "a.pdf", content), ("visibility", None, b"public"))
    stored = expect(await here.admin.post("/api/upload", raw=raw, headers=headers))
    client, path = here.address(stored["url"])
    reply = await client.get(path)
    assert (stored["visibility"], reply.body) == ("public", content)
    assert reply.headers["Content-Disposition"].startswith("attachment; ")


@on_both
@pytest.mark.parametrize("size", [1, 65_535, MEBIBYTE + 1, 11 * MEBIBYTE + 7])
async def test_every_byte_comes_back(here: Place, size: int) -> None:
    content = (RAR + os.urandom(size))[: max(size, len(RAR))]
    stored = await upload(here.admin, content, "data.rar")
    assert (stored["size"], stored["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert await downloaded(here, here.admin, stored["objectKey"]) == content


async def test_a_file_that_looks_like_its_own_boundary_comes_back(here: Place) -> None:
    content = b"\r\n--the-boundary-of-a-tes\r\n--the-boundary\r\n\r\n--\r\n" * 5000
    stored = await upload(here.admin, content, "a.txt")
    assert await downloaded(here, here.admin, stored["objectKey"]) == content


async def test_a_form_in_tiny_chunks_is_one_form(here: Place) -> None:
    raw, headers = form(("visibility", None, b"private"), ("file", "a.txt", b"in tiny chunks"))
    head = request(
        "POST /api/upload",
        f"Authorization: Bearer {here.admin.token}",
        f"Content-Type: {headers['Content-Type']}",
        "Transfer-Encoding: chunked",
    )
    async with connected(here.url) as wire:
        await wire.send(head)
        for at in range(len(raw)):
            await wire.send(b"1\r\n%b\r\n" % raw[at : at + 1])
        await wire.send(b"0\r\n\r\n")
        stored = expect(await wire.reply())
    assert await downloaded(here, here.admin, stored["objectKey"]) == b"in tiny chunks"


@pytest.mark.parametrize(
    ("name", "content", "media"),
    [
        ("说明.docx", DOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("table.csv", "名称,数量\n".encode(), "text/csv"),
        ("table.csv", "名称,数量\n".encode("gbk"), "text/csv"),
        ("photo.jpg", PNG, "image/png"),
        ("no-extension", PDF, "application/pdf"),
    ],
)
async def test_the_type_is_detected_by_content(here: Place, name: str, content: bytes, media: str) -> None:
    assert (await upload(here.admin, content, name))["contentType"] == media


@on_both
async def test_a_retry_with_its_key_stores_the_file_once(here: Place) -> None:
    content, key = unique("once").encode(), {"Idempotency-Key": unique("key")}
    first = expect(await send(here.admin, content, "a.txt", headers=key))
    before = await here.list_stored()
    assert expect(await send(here.admin, content, "a.txt", headers=key)) == first
    assert await here.list_stored() == before


async def test_a_key_of_another_upload_is_40903(here: Place) -> None:
    key = {"Idempotency-Key": unique("key")}
    expect(await send(here.admin, b"one", "a.txt", headers=key))
    before = await here.list_stored()
    expect(await send(here.admin, b"two", "a.txt", headers=key), 40903)
    assert await here.list_stored() == before


async def test_the_operation_log_has_the_upload(here: Place) -> None:
    request_id = unique("upload")
    stored = expect(await send(here.admin, b"logged", "logged.txt", headers={"X-Request-ID": request_id}))

    async def rows() -> list[dict[str, Any]]:
        return expect(await here.admin.get(f"/api/v1/system/operation-logs?request_id={request_id}"))["items"]

    (row,) = await eventually(rows)
    said = {"visibility": "private", "file_name": "logged.txt", "size": 6, "sha256": stored["sha256"]}
    assert row["body"] == said


async def test_an_upload_needs_a_log_in_and_nothing_else(here: Place) -> None:
    raw, headers = form(("file", "a.txt", b"text"))
    expect(await here.anonymous.post("/api/upload", raw=raw, headers=headers), 40100)
    nobody = await here.people.person()
    assert await downloaded(here, nobody, (await note(nobody, "mine"))["objectKey"]) == b"mine"


# -- signed addresses


async def signed(
    here: Place, client: Client, content: bytes, name: str, media: str, visibility: str = "private"
) -> dict:
    query = f"file_name={name}&content_type={media}&size={len(content)}&visibility={visibility}"
    return expect(await client.get(f"/api/upload/sts?{query}"))


async def put(here: Place, address: dict, content: bytes, **headers: str) -> int:
    client, path = here.address(address["uploadUrl"])
    return (await client.put(path, raw=content, headers={**address["headers"], **headers})).status


@on_both
async def test_a_signed_address_accepts_the_file_without_a_token(here: Place) -> None:
    address = await signed(here, here.admin, PDF, "a.pdf", "application/pdf")
    assert (address["method"], address["expiresIn"], address["url"]) == ("PUT", 900, None)
    assert await put(here, address, PDF) == 200
    assert await downloaded(here, here.admin, address["objectKey"]) == PDF


@on_both
async def test_the_signed_address_of_a_public_file_comes_with_its_link(here: Place) -> None:
    address = await signed(here, here.admin, PNG, "a.png", "image/png", "public")
    assert await put(here, address, PNG) == 200
    client, path = here.address(address["url"])
    assert (await client.get(path)).body == PNG


@on_both
async def test_a_file_that_was_never_uploaded_cannot_be_read(here: Place) -> None:
    address = await signed(here, here.admin, PDF, "a.pdf", "application/pdf")
    expect(await here.admin.get(f"/api/file/dl?object_key={address['objectKey']}"), 40400)
    expect(await here.admin.get(f"/api/file/sign?object_key={address['objectKey']}"), 40400)


@on_both
async def test_a_signed_address_refuses_content_other_than_announced(here: Place) -> None:
    content = b"<html><script>alert(1)</script></html>"
    address = await signed(here, here.admin, content, "a.png", "image/png")
    await put(here, address, content)  # S3 does not look; the service does before it lets anybody have it
    reply = await here.admin.get(f"/api/file/dl?object_key={address['objectKey']}")
    assert reply.code in (41500, 40400)
    expect(await here.admin.get(f"/api/file/dl?object_key={address['objectKey']}"), 40400)


REFUSED = {
    "file_name=a.html&content_type=text/html&size=5": 41500,
    "file_name=a.exe&content_type=application/x-msdownload&size=5": 41500,
    "file_name=a.png&content_type=application/pdf&size=5": 41500,
    "file_name=a.docx&content_type=application/zip&size=5&visibility=public": 41500,
    "file_name=a.pdf&content_type=application/pdf&size=99999999999": 41300,
    "file_name=a.pdf&content_type=application/pdf&size=0": 40001,
    "file_name=..%2Fa.pdf&content_type=application/pdf&size=5": 40001,
    "file_name=a.pdf&content_type=application/pdf&size=5&visibility=secret": 40001,
}


async def test_no_address_is_signed_for_a_file_that_would_be_refused(here: Place) -> None:
    before = await here.list_stored()
    replies = {query: await here.admin.get(f"/api/upload/sts?{query}") for query in REFUSED}
    assert {query: reply.code for query, reply in replies.items()} == REFUSED
    assert ".pdf" in next(iter(replies.values())).json["msg"]
    assert await here.list_stored() == before
