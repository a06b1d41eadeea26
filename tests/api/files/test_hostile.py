"""Hostile uploads and keys: a clear 4xx in the envelope, and nothing is stored."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from handlers.access.signatures import Signatures
from plugins.testing import Reply, eventually, expect
from tests.api.files.places import MEBIBYTE, Place, on_both
from tests.api.files.samples import BOUNDARY, PDF, PNG, RAR, archive, drawing, form, image, send
from tests.declarations.files.test_names import HOSTILE
from tests.support.raw_http import connected, request

pytestmark = pytest.mark.gen_test(timeout=30)
UPLOAD = "/api/upload"


@asynccontextmanager
async def nothing_kept(here: Place) -> AsyncIterator[None]:
    """Whatever happens in the block leaves neither a record nor a byte; a refusal may still be cleaning up."""
    before = await here.list_stored()
    yield

    async def gone() -> bool:
        return await here.list_stored() == before

    await eventually(gone)


def refused(reply: Reply, code: int) -> Reply:
    expect(reply, code)
    assert reply.status == code // 100
    assert reply.json["msg"]
    return reply


# -- names and keys

# a header ends at a line break, surrogates cannot be sent, and folders of a drive are taken off (below)
SENDABLE = {what: name for what, name in HOSTILE.items() if not {"\r", "\ud800"} & set(name) and name[1:2] != ":"}


@pytest.mark.parametrize("name", SENDABLE.values(), ids=SENDABLE)
async def test_a_hostile_name_is_refused(local: Place, name: str) -> None:
    async with nothing_kept(local):
        refused(await send(local.admin, b"text", name), 40001)


async def test_the_folders_that_old_browsers_send_are_removed(local: Place) -> None:
    assert expect(await send(local.admin, b"text", "C:\\Windows\\win.ini"))["fileName"] == "win.ini"


KEYS = (
    "..%2F..%2Fetc%2Fpasswd",
    "%2Fetc%2Fpasswd",
    "%252e%252e%252fetc%252fpasswd",
    "..%5C..%5Cwin.ini",
    "private%2Faa%2Fkey",
    "20261120-0123456789abcdef0123456789abcdef.pdf%2F..",
    "20261120-0123456789abcdef0123456789abcdef",
    "NUL",
    "x" * 400,
    "%E2%80%AE",
    "20261120-0123456789abcdef0123456789abcdef.pdf%20",
    "%F0%9F%98%80",
    "*",
    "arriving",
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("path", ["/api/file/dl?object_key=", "/api/file/sign?object_key=", "/api/files/public/"])
async def test_a_hostile_key_leads_nowhere(local: Place, path: str, key: str) -> None:
    refused(await local.admin.get(path + key), 40400)


@on_both
@pytest.mark.parametrize("key", ["a%00.png", "%00"])
async def test_a_key_with_nul_is_refused(here: Place, key: str) -> None:
    refused(await here.admin.get(f"/api/file/dl?object_key={key}"), 40001)
    refused(await here.admin.get(f"/api/files/public/{key}"), 40000)


@on_both
async def test_a_path_beside_the_public_files_leads_nowhere(here: Place) -> None:
    for path in (
        "/api/files/public/",
        "/api/files/public/../private/x",
        "/api/files/private/x",
        "/api/files/public/a/b",
    ):
        refused(await here.admin.get(path), 40400)


# -- content


def bomb() -> bytes:
    """A PNG of 1.6 gigapixels in 200 kB: what a ZIP bomb is among images."""
    size, side = b"", 40_000
    for kind, data in (
        (b"IHDR", side.to_bytes(4, "big") * 2 + b"\x01\0\0\0\0"),
        (b"IDAT", zlib.compress(bytes((side // 8 + 1) * side))),
        (b"IEND", b""),
    ):
        size += len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + size


CONTENT = {
    "HTML as an image": ("a.png", b"<!DOCTYPE html><script>alert(1)</script>"),
    "HTML as itself": ("a.html", b"<html></html>"),
    "HTML behind a byte order mark": ("a.txt", b"\xef\xbb\xbf\n <script>alert(1)</script>"),
    "XHTML": ("a.xml", b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>"),
    "PHP": ("a.jpg", b"<?php system($_GET['c']); ?>"),
    "a program": ("a.pdf", b"MZ\x90\0" + bytes(200)),
    "a program for Linux": ("a", b"\x7fELF\x02\x01\x01" + bytes(200)),
    "an SVG with a script": ("a.svg", drawing("<script>alert(1)</script>")),
    "an SVG with a handler as an image": ("a.png", drawing(root='onload="alert(1)"')),
    "an SVG with an entity": ("a.svg", b'<!DOCTYPE svg [<!ENTITY a "b">]>' + drawing("&a;")),
    "an image and a page": ("a.png", PNG + b"<script>alert(1)</script>"),
    "an image and a script": ("a.gif", image("GIF") + b"*/=1;alert(1);"),
    "an image and an archive": ("a.png", PNG + archive("evil.jar")),
    "a photo and an archive": ("a.jpg", image("JPEG") + archive("evil.jar")),
    "a document and an archive": ("a.pdf", PDF + archive("evil.jar")),
    "a photo and a document": ("a.jpg", image("JPEG") + PDF),
    "a script that begins as an image": ("a.gif", b"GIF89a/*" + bytes(20) + b"*/=1;alert(1);"),
    "an archive as an image": ("a.png", archive("a.txt")),
    "a document as an image": ("a.jpg", PDF),
    "text as a document": ("a.pdf", b"no document"),
    "text as a film": ("a.mp4", b"no film"),
    "half an image": ("a.png", image("PNG", (300, 300))[:100]),
    "a bomb as an image": ("a.png", bomb()),
    "random bytes": ("a.dat", bytes(range(256)) * 10),
}


@pytest.mark.parametrize("visibility", ["private", "public"])
@pytest.mark.parametrize(("name", "content"), CONTENT.values(), ids=CONTENT)
async def test_content_that_is_not_what_it_seems_is_refused(
    local: Place, name: str, content: bytes, visibility: str
) -> None:
    async with nothing_kept(local):
        refused(await send(local.admin, content, name, visibility), 41500)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"text"), ("a.zip", archive("a")), ("a.rar", RAR + b"x"), ("a.csv", b"a,b")],
    ids=["text", "zip", "rar", "csv"],
)
async def test_the_public_bucket_accepts_fewer_types(local: Place, name: str, content: bytes) -> None:
    async with nothing_kept(local):
        refused(await send(local.admin, content, name, "public"), 41500)


async def test_a_declared_type_is_not_trusted(local: Place) -> None:
    raw, headers = form(("file", "a", b"no image"), media="image/png")
    async with nothing_kept(local):
        refused(await local.admin.post(UPLOAD, raw=raw, headers=headers), 41500)


@on_both
async def test_a_type_of_the_other_bucket_is_refused_when_the_bucket_comes_last(here: Place) -> None:
    raw, headers = form(("file", "a.rar", RAR + bytes(6 * MEBIBYTE)), ("visibility", None, b"public"))
    async with nothing_kept(here):
        refused(await here.admin.post(UPLOAD, raw=raw, headers=headers), 41500)


# -- forms

FORMS = {
    "no file": ([("visibility", None, b"private")], 40001, "file"),
    "an empty file": ([("file", "a.txt", b"")], 40001, "file"),
    "a file without a name": ([("file", None, b"text")], 40001, "file"),
    "two files": ([("file", "a.txt", b"one"), ("file", "b.txt", b"two")], 40001, "file"),
    "an unknown field": ([("file", "a.txt", b"one"), ("path", None, b"/etc")], 40001, "path"),
    "a bucket that is none": ([("file", "a.txt", b"one"), ("visibility", None, b"secret")], 40001, "visibility"),
    "a bucket in capitals": ([("visibility", None, b"PUBLIC"), ("file", "a.txt", b"one")], 40001, "visibility"),
    "a bucket without end": ([("file", "a.txt", b"one"), ("visibility", None, b"p" * 100_000)], 40001, "visibility"),
    "two buckets": ([("visibility", None, b"public"), ("visibility", None, b"private")], 40001, "visibility"),
    "a bucket as a file": ([("visibility", "a.txt", b"text")], 40001, "visibility"),
    "ten thousand parts": ([(f"part-{number}", None, b"x") for number in range(10_000)], 40001, "part-0"),
    "ten thousand files": ([("file", "a.txt", b"x")] * 10_000, 40001, "file"),
}


@pytest.mark.parametrize(("fields", "code", "field"), FORMS.values(), ids=FORMS)
async def test_an_invalid_form_is_refused_with_the_field(
    local: Place, fields: list[tuple[str, str | None, bytes]], code: int, field: str
) -> None:
    raw, headers = form(*fields)
    async with nothing_kept(local):
        reply = refused(await local.admin.post(UPLOAD, raw=raw, headers=headers), code)
    assert reply.fields == {field}


TYPES = {
    "no boundary": ("multipart/form-data", 40000),
    "an empty boundary": ("multipart/form-data; boundary=", 40000),
    "another boundary": ("multipart/form-data; boundary=other", 40000),
    "a boundary that is too long": (f"multipart/form-data; boundary={'x' * 100}", 40000),
    "JSON": ("application/json", 41500),
    "nothing": ("", 41500),
    "another form": ("application/x-www-form-urlencoded", 41500),
}


@pytest.mark.parametrize(("media", "code"), TYPES.values(), ids=TYPES)
async def test_a_body_that_is_no_form_is_refused(local: Place, media: str, code: int) -> None:
    raw, _ = form(("file", "a.txt", b"text"))
    async with nothing_kept(local):
        reply = refused(await local.admin.post(UPLOAD, raw=raw, headers={"Content-Type": media}), code)
    assert code != 41500 or "multipart/form-data" in reply.json["msg"]


@on_both
async def test_a_form_without_its_end_is_refused(here: Place) -> None:
    raw, headers = form(("file", "a.rar", RAR + bytes(2 * MEBIBYTE)), end=b"")
    async with nothing_kept(here):
        refused(await here.admin.post(UPLOAD, raw=raw, headers=headers), 40000)


# -- sizes


@on_both
async def test_a_file_over_the_limit_is_41300(here: Place) -> None:
    content = RAR + bytes(12 * MEBIBYTE)
    async with nothing_kept(here):
        refused(await send(here.admin, content, "a.rar"), 41300)


async def test_a_file_of_exactly_the_limit_is_accepted(here: Place) -> None:
    expect(await send(here.admin, RAR + bytes(12 * MEBIBYTE - len(RAR)), "a.rar"))


async def test_a_length_far_over_the_limit_is_refused_before_it_is_sent(here: Place) -> None:
    async with nothing_kept(here), connected(here.url) as wire:
        await wire.send(head(here, "Content-Length: 99999999999"))
        await wire.send(form(("file", "a.txt", b"text"))[0])
        refused(await wire.reply(), 41300)
        assert await wire.closed()


async def test_chunks_over_the_limit_are_refused_as_they_come(here: Place) -> None:
    async with nothing_kept(here), connected(here.url) as wire:
        await wire.send(
            head(here, "Transfer-Encoding: chunked") + chunk(form(("file", "a.rar", RAR))[0][: -len(BOUNDARY) - 8])
        )
        for _ in range(13):
            await wire.send(chunk(bytes(MEBIBYTE)))
        await wire.send(b"0\r\n\r\n")
        refused(await wire.reply(), 41300)


async def test_an_endless_epilogue_is_refused(here: Place) -> None:
    async with nothing_kept(here), connected(here.url) as wire:
        await wire.send(head(here, "Transfer-Encoding: chunked") + chunk(form(("file", "a.txt", b"text"))[0]))
        for _ in range(13):
            await wire.send(chunk(bytes(MEBIBYTE)))
        await wire.send(b"0\r\n\r\n")
        refused(await wire.reply(), 41300)


@on_both
async def test_a_body_shorter_than_it_says_leaves_nothing(here: Place) -> None:
    raw, _ = form(("file", "a.rar", RAR + bytes(3 * MEBIBYTE)))
    async with nothing_kept(here), connected(here.url) as wire:
        await wire.send(head(here, f"Content-Length: {len(raw) + 1000}") + raw)

        async def arriving() -> bool:
            return any("arriving" in one for one in await here.list_stored())

        await eventually(arriving)


async def test_bytes_after_the_announced_length_are_not_part_of_the_body(here: Place) -> None:
    raw, _ = form(("file", "a.txt", b"text"))
    async with connected(here.url) as wire:
        await wire.send(head(here, f"Content-Length: {len(raw)}") + raw + b"\x00garbage\r\n\r\n")
        assert expect(await wire.reply())["size"] == 4
        refused(await wire.reply(), 40000)


def head(here: Place, *more: str) -> bytes:
    form_type = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    return request(f"POST {UPLOAD}", f"Authorization: Bearer {here.admin.token}", form_type, *more)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


# -- signed addresses


@pytest.mark.parametrize(
    ("change", "headers", "body"),
    [
        (("size=4", "size=5"), {}, b"texts"),
        (("text%2Fplain", "text%2Fhtml"), {"Content-Type": "text/html"}, b"text"),
        (("expires=1", "expires=2"), {}, b"text"),
        (("", ""), {"Content-Type": "text/html"}, b"text"),
        (("", ""), {}, b"longer text"),
        (("", ""), {}, b"t"),
    ],
)
async def test_an_upload_that_was_not_signed_is_refused(
    local: Place, change: tuple[str, str], headers: dict[str, str], body: bytes
) -> None:
    signed = expect(await local.admin.get("/api/upload/sts?file_name=a.txt&content_type=text/plain&size=4"))
    async with nothing_kept(local):
        url = signed["uploadUrl"].replace(*change)
        refused(await local.anonymous.put(url, raw=body, headers={**signed["headers"], **headers}), 40300)
    assert (await local.anonymous.put(signed["uploadUrl"], raw=b"text", headers=signed["headers"])).code == 0


async def test_a_signed_address_expires(local: Place) -> None:
    signed = expect(await local.admin.get("/api/upload/sts?file_name=a.txt&content_type=text/plain&size=4"))
    bound = {"object_key": signed["objectKey"], "content_type": "text/plain", "size": 4}
    signatures = local.running.service.part(Signatures)
    for seconds, code in ((0, 40300), (60, 0)):
        late = f"/api/upload/direct?{signatures.make_query('files:put', bound, seconds)}"
        assert (await local.anonymous.put(late, raw=b"text", headers=signed["headers"])).code == code


async def test_a_signed_address_accepts_one_file(local: Place) -> None:
    signed = expect(await local.admin.get("/api/upload/sts?file_name=a.txt&content_type=text/plain&size=4"))
    expect(await local.anonymous.put(signed["uploadUrl"], raw=b"text", headers=signed["headers"]))
    async with nothing_kept(local):
        refused(await local.anonymous.put(signed["uploadUrl"], raw=b"evil", headers=signed["headers"]), 40901)
    assert (await local.admin.get(f"/api/file/dl?object_key={signed['objectKey']}")).body == b"text"


async def test_a_refused_upload_to_an_address_may_be_tried_again(local: Place) -> None:
    query = f"file_name=a.png&content_type=image/png&size={len(PNG)}"
    signed = expect(await local.admin.get(f"/api/upload/sts?{query}"))
    async with nothing_kept(local):
        evil = b"<script>alert(1)</script>".ljust(len(PNG))
        refused(await local.anonymous.put(signed["uploadUrl"], raw=evil, headers=signed["headers"]), 41500)
    expect(await local.anonymous.put(signed["uploadUrl"], raw=PNG, headers=signed["headers"]))
