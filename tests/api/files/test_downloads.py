"""Downloads: whole, ranges, conditional; by token, by signature, and public (RFC 9110, RFC 6266)."""

import os
from collections.abc import Mapping
from urllib.parse import quote

import pytest

from handlers.access.signatures import Signatures
from plugins.testing import Reply, eventually, expect
from tests.api.files.places import MEBIBYTE, Place, on_both
from tests.api.files.samples import PDF, PNG, RAR, drawing, note, upload
from tests.support.raw_http import connected, request

pytestmark = pytest.mark.gen_test(timeout=30)
TEXT = b"0123456789" * 100
DL = "/api/file/dl?object_key="
ATTR_CHAR = "!#$&+-.^_`|~"  # RFC 8187


async def text(here: Place) -> str:
    """The address of a file of a thousand bytes."""
    return DL + (await upload(here.admin, TEXT, "text.txt"))["objectKey"]


async def get(here: Place, path: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return here.described.check(here.route("GET", path), await here.admin.get(path, headers=named))


RANGES = {
    "bytes=0-0": (0, 1),
    "bytes=0-": (0, 1000),
    "bytes=990-": (990, 1000),
    "bytes=-1": (999, 1000),
    "bytes=-5000": (0, 1000),
    "bytes=10-19": (10, 20),
    "bytes=990-99999999999": (990, 1000),
    "Bytes=0-0": (0, 1),
}
IGNORED = (
    "bytes=",
    "bytes=-",
    "bytes=5-4",
    "bytes=a-b",
    "items=0-1",
    "bytes=0-1,5-6",
    "bytes 0-1",
    "bytes=0-9999999999999999999999",
)


@pytest.mark.parametrize(("asked", "part"), RANGES.items(), ids=RANGES)
async def test_the_response_to_a_range_is_206(here: Place, asked: str, part: tuple[int, int]) -> None:
    reply = await get(here, await text(here), Range=asked)
    assert (reply.status, reply.body) == (206, TEXT[slice(*part)])
    assert reply.headers["Content-Range"] == f"bytes {part[0]}-{part[1] - 1}/1000"


@pytest.mark.parametrize("asked", IGNORED)
async def test_without_a_single_valid_range_the_response_is_the_whole_file(local: Place, asked: str) -> None:
    reply = await get(local, await text(local), Range=asked)
    assert (reply.status, reply.body) == (200, TEXT)


@pytest.mark.parametrize("asked", ["bytes=1000-", "bytes=5000-6000", "bytes=-0"])
async def test_a_range_behind_the_end_is_41600_with_the_size(here: Place, asked: str) -> None:
    reply = await get(here, await text(here), Range=asked)
    expect(reply, 41600)
    assert (reply.status, reply.headers["Content-Range"]) == (416, "bytes */1000")


@on_both
async def test_ranges_of_a_large_file_are_its_bytes(here: Place) -> None:
    content = RAR + os.urandom(3 * MEBIBYTE)
    path = DL + (await upload(here.admin, content, "large.rar"))["objectKey"]
    reply = await get(here, path, Range=f"bytes={MEBIBYTE - 3}-{2 * MEBIBYTE + 5}")
    assert reply.body == content[MEBIBYTE - 3 : 2 * MEBIBYTE + 6]


@on_both
async def test_the_response_for_known_content_is_304(here: Place) -> None:
    path = await text(here)
    tag = (await get(here, path)).headers["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        reply = await here.admin.get(path, headers={"If-None-Match": known})
        assert (reply.status, reply.body, reply.headers["ETag"]) == (304, b"", tag)
        assert "Content-Length" not in reply.headers
    assert (await get(here, path, If_None_Match='"other"')).status == 200


async def test_a_range_is_sent_only_of_the_content_that_the_client_knows(here: Place) -> None:
    path = await text(here)
    tag = (await get(here, path)).headers["ETag"]
    for said, status in {tag: 206, f"W/{tag}": 200, '"other"': 200, "Sat, 21 Nov 2026 00:00:00 GMT": 200}.items():
        assert (await get(here, path, Range="bytes=0-0", If_Range=said)).status == status


@on_both
async def test_a_head_request_has_the_headers_of_a_get(here: Place) -> None:
    path = await text(here)
    head, whole = await here.admin.call("HEAD", path), await here.admin.get(path)
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", "1000")
    names = ("ETag", "Content-Type", "Content-Disposition", "Accept-Ranges", "Content-Security-Policy")
    assert [head.headers[name] for name in names] == [whole.headers[name] for name in names]


async def test_the_connection_serves_the_next_request_after_a_download(here: Place) -> None:
    path = await text(here)
    asked = [f"Authorization: Bearer {here.admin.token}"]
    async with connected(here.url) as wire:
        await wire.send(
            request(f"GET {path}", *asked) + request(f"HEAD {path}", *asked) + request(f"GET {path}", *asked)
        )
        assert (await wire.reply()).body == TEXT
        assert (await wire.reply(head=True)).headers["Content-Length"] == "1000"
        assert (await wire.reply()).body == TEXT


# -- names


@pytest.mark.parametrize("name", ["合同 (最终版).txt", 'a"b.txt', "a%41;b.txt", "naïve.txt", "👩‍💻.txt"])
async def test_the_name_is_sent_in_utf_8_and_in_ascii(local: Place, name: str) -> None:
    raw_name = name.replace('"', "%22")
    stored = await upload(local.admin, b"text", raw_name)
    header = (await local.admin.get(DL + stored["objectKey"])).headers["Content-Disposition"]
    assert header.isascii()
    assert header.endswith(f"filename*=UTF-8''{quote(stored['fileName'], safe=ATTR_CHAR)}")
    assert header.count('"') == 2


# -- what browsers may do with the file

SHOWN = {
    "photo.png": (PNG, True),
    "text.txt": (b"text", True),
    "a.pdf": (PDF, False),
    "a.svg": (drawing(), False),
    "a.xml": (b"<?xml version='1.0'?><a/>", False),
    "page.txt": (b"text <script>alert(1)</script>", True),
}


@pytest.mark.parametrize(("name", "content", "inline"), [(name, *rest) for name, rest in SHOWN.items()])
async def test_only_types_that_run_nothing_are_inline(local: Place, name: str, content: bytes, inline: bool) -> None:
    reply = await local.admin.get(DL + (await upload(local.admin, content, name))["objectKey"])
    assert reply.headers["Content-Disposition"].startswith("inline" if inline else "attachment")
    assert_harmless(reply.headers)


@on_both
async def test_a_public_svg_runs_nothing_in_the_origin_of_the_service(here: Place) -> None:
    stored = await upload(here.admin, drawing('<a href="https://example.com"/>'), "logo.svg", "public")
    reply = await here.anonymous.get(f"/api/files/public/{stored['objectKey']}")
    assert reply.headers["Content-Type"] == "image/svg+xml"
    assert reply.headers["Content-Disposition"].startswith("attachment")
    assert_harmless(reply.headers)


def assert_harmless(headers: Mapping[str, str]) -> None:
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"


async def test_a_private_file_is_not_kept_by_shared_caches(here: Place) -> None:
    reply = await here.admin.get(DL + (await note(here.admin))["objectKey"])
    assert reply.headers["Cache-Control"] == "private, no-cache"


async def test_a_private_file_is_no_public_file(here: Place) -> None:
    stored = await note(here.admin)
    expect(await here.admin.get(f"/api/files/public/{stored['objectKey']}"), 40400)


# -- signed addresses


@on_both
async def test_a_signed_address_opens_the_file_for_whoever_has_it(here: Place) -> None:
    stored = await note(here.admin, "signed")
    signed = expect(await here.admin.get(f"/api/file/sign?object_key={stored['objectKey']}"))
    assert signed["expiresIn"] == 3600
    client, path = here.address(signed["url"])
    reply = await client.get(path)
    assert (reply.body, reply.headers["Content-Type"]) == (b"signed", "text/plain")
    assert "note.txt" in reply.headers["Content-Disposition"]


@on_both
async def test_signing_a_public_file_returns_its_link(here: Place) -> None:
    stored = await upload(here.admin, PNG, "a.png", "public")
    signed = expect(await here.admin.get(f"/api/file/sign?object_key={stored['objectKey']}"))
    assert signed["url"] == stored["url"]


async def test_a_changed_signature_is_invalid(local: Place) -> None:
    first, second = await note(local.admin), await note(local.admin)
    url = expect(await local.admin.get(f"/api/file/sign?object_key={first['objectKey']}"))["url"]
    expires = url.partition("expires=")[2].partition("&")[0]
    for changed in (
        url.replace(first["objectKey"], second["objectKey"]),
        url.replace(expires, str(int(expires) + 1)),
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        url.partition("&signature")[0],
        url.replace("signature=", "signature=%C3%A9"),
    ):
        assert (await local.anonymous.get(changed)).code in (40100, 40001)


async def test_a_signature_expires(local: Place) -> None:
    stored = await note(local.admin)
    signatures = local.running.service.part(Signatures)
    bound = {"object_key": stored["objectKey"]}
    assert (await local.anonymous.get(f"/api/file/dl?{signatures.make_query('files:get', bound, 5)}")).status == 200
    expect(await local.anonymous.get(f"/api/file/dl?{signatures.make_query('files:get', bound, 0)}"), 40100)


async def test_a_signature_for_one_thing_allows_no_other(local: Place) -> None:
    stored = await note(local.admin)
    query = local.running.service.part(Signatures).make_query("files:put", {"object_key": stored["objectKey"]}, 60)
    expect(await local.anonymous.get(f"/api/file/dl?{query}"), 40100)


async def test_an_old_key_still_opens_what_it_signed() -> None:
    old, new = Signatures(["old"]), Signatures(["new", "old"])
    said = dict(part.split("=") for part in old.make_query("files:get", {"object_key": "k"}, 60).split("&"))
    assert new.is_valid("files:get", {"object_key": "k"}, int(said["expires"]), said["signature"])
    assert not Signatures(["new"]).is_valid("files:get", {"object_key": "k"}, int(said["expires"]), said["signature"])


# -- slow and disconnected readers


async def test_a_reader_that_disconnects_leaves_nothing_open(local: Place) -> None:
    content = RAR + os.urandom(8 * MEBIBYTE)
    path = DL + (await upload(local.admin, content, "large.rar"))["objectKey"]
    async with connected(local.url) as wire:
        await wire.send(request(f"GET {path}", f"Authorization: Bearer {local.admin.token}"))
        await wire.reader.readexactly(1000)
    opened = f"/proc/{os.getpid()}/fd"

    def still_open() -> list[str]:
        links = (os.readlink(f"{opened}/{fd}") for fd in os.listdir(opened) if os.path.lexists(f"{opened}/{fd}"))
        return [link for link in links if "/private/" in link]

    async def closed() -> bool:
        return not still_open()

    await eventually(closed)


async def test_a_reader_in_small_steps_gets_everything(here: Place) -> None:
    content = RAR + os.urandom(2 * MEBIBYTE)
    path = DL + (await upload(here.admin, content, "large.rar"))["objectKey"]
    async with connected(here.url) as wire:
        await wire.send(request(f"GET {path}", f"Authorization: Bearer {here.admin.token}"))
        head = await wire.reader.readuntil(b"\r\n\r\n")
        received = b""
        while len(received) < len(content):
            received += await wire.reader.read(20_000)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert received == content


@on_both
async def test_a_reader_that_stops_is_disconnected(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = DL + (await upload(here.admin, RAR + bytes(11 * MEBIBYTE), "large.rar"))["objectKey"]
    service = here.running.service
    monkeypatch.setattr(service, "settings", service.settings.model_copy(update={"request_seconds": 0.3}))
    async with connected(here.url) as wire:
        await wire.send(request(f"GET {path}", f"Authorization: Bearer {here.admin.token}"))
        await wire.reader.readuntil(b"\r\n\r\n")
        wire.writer.transport.pause_reading()
        assert await here.running.front.idle(20)
        wire.writer.transport.resume_reading()
        with pytest.raises((EOFError, ConnectionError)):
            await wire.reader.readexactly(11 * MEBIBYTE)
