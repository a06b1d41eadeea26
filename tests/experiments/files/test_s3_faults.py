"""S3 unreachable, slow, full or denying: 50300 in bounded time, the reason in the log, and nothing left behind."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tornado.ioloop import IOLoop

from plugins.api import ApiError
from plugins.api.requests import SYSTEM
from plugins.files.storage import Label
from plugins.files.sweeping import clean_up, sweep
from plugins.files.types import PDF
from plugins.testing import Client, Reply, eventually, expect
from tests.api.files.broken_s3 import REFUSALS, refusing_s3
from tests.api.files.places import MEBIBYTE, Place, place
from tests.api.files.samples import RAR, note, send
from tests.support.proxy import Proxy
from tests.support.raw_http import connected, request
from tests.support.s3_stand_in import S3Server

pytestmark = pytest.mark.gen_test(timeout=60)
LIMITS = {"s3_connect_seconds": 1, "s3_request_seconds": 1.2, "unattached_hours": 0.000_001}
MOST_SECONDS = 12  # an attempt to write, one to clean up, and a machine that is busy
LARGE = RAR + bytes(7 * MEBIBYTE)


@dataclass
class Site:
    """A server, and the proxy through which it reaches its S3; `at_first`: its readiness when it started without S3."""

    place: Place
    proxy: Proxy
    at_first: Reply

    async def lead_to(self, address: str) -> None:
        """Let the proxy reach another S3, and as quickly as it can; what is connected is cut."""
        await self.proxy.down()
        self.proxy.delay = 0
        self.proxy.target_port = urlsplit(address).port or 0
        await self.proxy.up()

    async def refuses(self, path: str, content: bytes = b"") -> Reply:
        """Send a request, or an upload with content, whose response is 50300 in time."""
        started = time.monotonic()
        reply = await (send(self.place.admin, content, "a.rar") if content else self.place.admin.get(path))
        expect(reply, 50300)
        assert int(reply.headers["Retry-After"]) > 0
        assert time.monotonic() - started < MOST_SECONDS
        return reply


async def ready(client: Client, status: int) -> Reply:
    """Wait until the readiness probe responds with this status; it caches its result for a second."""

    async def ask() -> Reply | None:
        reply = await client.get("/api/health/ready")
        return reply if reply.status == status else None

    reply: Reply = await eventually(ask)
    return reply


@asynccontextmanager
async def proxied(mongodb_uri: str, folder: Path, s3: S3Server) -> AsyncIterator[Site]:
    proxy = Proxy(urlsplit(s3.endpoint).port or 0)
    await proxy.up()
    await proxy.down()
    try:
        async with place(mongodb_uri, folder, s3, s3_endpoint=f"http://127.0.0.1:{proxy.port}", **LIMITS) as there:
            at_first = await there.anonymous.get("/api/health/ready")
            await proxy.up()
            yield Site(there, proxy, at_first)
    finally:
        await proxy.close()


@pytest.fixture(scope="module")
def shared(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory, s3: S3Server) -> Iterator[Site]:
    block = proxied(mongodb_uri, tmp_path_factory.mktemp("faults"), s3)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture
def site(io_loop: IOLoop, shared: Site, s3: S3Server) -> Iterator[Site]:
    """The server, whose S3 is well before the test and after it."""
    yield shared
    io_loop.run_sync(lambda: shared.lead_to(s3.endpoint))
    io_loop.run_sync(lambda: sweep(shared.place.running.service, shared.place.files))


@pytest.mark.parametrize("how", ["away", "hanging"])
async def test_unreachable_s3_is_50300_until_it_is_back(how: str, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    there = site.place
    key = (await note(there.admin))["objectKey"]
    if how == "away":
        await site.proxy.down()
    else:
        site.proxy.stall()
    await site.refuses("/api/upload", LARGE)
    await site.refuses(f"/api/file/dl?object_key={key}")
    not_ready = await ready(there.anonymous, 503)
    assert (not_ready.status, "storage" in not_ready.json["msg"]) == (503, True)
    assert (await there.anonymous.get("/api/health")).status == 200
    reasons = [vars(record)["reason"] for record in caplog.records if record.message == "storage fails"]
    assert reasons
    assert all(reasons)
    await site.proxy.up()
    assert (await there.admin.get(f"/api/file/dl?object_key={key}")).status == 200
    expect(await send(there.admin, LARGE, "a.rar"))
    await ready(there.anonymous, 200)
    assert list(there.folder.glob("files/looked-at/*")) == []


async def test_an_s3_that_is_a_little_slow_is_waited_for_and_one_that_is_too_slow_is_50300(site: Site) -> None:
    there = site.place
    site.proxy.delay = 0.1
    key = (await note(there.admin, "slow"))["objectKey"]
    assert (await there.admin.get(f"/api/file/dl?object_key={key}")).body == b"slow"
    await site.refuses("/api/upload", LARGE)
    site.proxy.delay = 0
    await sweep(there.running.service, there.files)
    assert await there.list_stored() == set()


async def test_the_rest_of_an_upload_in_a_lost_s3_is_swept_when_it_is_back(site: Site) -> None:
    there = site.place
    async with connected(there.url) as wire:
        head = f"Authorization: Bearer {there.admin.token}", "Content-Type: multipart/form-data; boundary=x"
        first = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.rar"\r\n\r\n' + LARGE
        length = f"Content-Length: {len(first) + 4 * MEBIBYTE}"
        await wire.send(request("POST /api/upload", *head, length) + first)

        async def in_parts() -> bool:
            return any("in parts" in one for one in await there.list_stored())

        await eventually(in_parts, seconds=10)
        await site.proxy.down()
        await wire.send(bytes(4 * MEBIBYTE))
        expect(await wire.reply(), 50300)
    assert await in_parts()
    await site.proxy.up()
    await sweep(there.running.service, there.files)
    assert await there.list_stored() == set()


async def test_a_download_that_s3_aborts_is_aborted(site: Site) -> None:
    there, size = site.place, 11 * MEBIBYTE
    key = expect(await send(there.admin, RAR + bytes(size), "a.rar"))["objectKey"]
    async with connected(there.url) as wire:
        await wire.send(request(f"GET /api/file/dl?object_key={key}", f"Authorization: Bearer {there.admin.token}"))
        head = await wire.reader.readuntil(b"\r\n\r\n")
        await site.proxy.down()
        with pytest.raises((EOFError, ConnectionError)):
            await wire.reader.readexactly(size)
    assert f"Content-Length: {size + len(RAR)}".encode() in head
    assert await there.running.front.idle(10)


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_an_s3_that_refuses_is_50300_with_its_reason_in_the_log(
    refusal: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with refusing_s3(*REFUSALS[refusal]) as endpoint:
        await site.lead_to(endpoint)
        for content in (LARGE, RAR + b"small") if refusal == "denying" else (LARGE,):
            reply = await site.refuses("/api/upload", content)
            assert REFUSALS[refusal][1] not in reply.body.decode()
        await ready(site.place.anonymous, 503)
        assert list(site.place.folder.glob("files/looked-at/*")) == []
    reasons = [vars(record).get("reason", "") for record in caplog.records if record.message == "storage fails"]
    assert any(REFUSALS[refusal][1] in reason for reason in reasons)


async def test_an_address_is_signed_while_s3_is_unreachable(site: Site) -> None:
    await site.proxy.down()
    expect(await site.place.admin.get("/api/upload/sts?file_name=a.pdf&content_type=application/pdf&size=5"))


async def test_a_failed_clean_up_is_repeated_at_the_next_start(site: Site) -> None:
    there = site.place
    dead = there.folder / "files" / "writers" / "0123456789abcdef"
    dead.touch()
    key = await there.files.begin(SYSTEM, Label("a.pdf", PDF), "private", "arriving")
    await there.files.records.update_where({"_id": key}, {"writer": dead.name})
    await site.proxy.down()
    with pytest.raises(ApiError):
        await clean_up(there.files)
    assert dead.exists()
    await site.proxy.up()
    await clean_up(there.files)
    assert not dead.exists()
    assert await there.files.records.find_one({"_id": key}) is None


async def test_a_sweep_removes_nothing_that_it_cannot_check(site: Site) -> None:
    there = site.place
    signed = expect(await there.admin.get("/api/upload/sts?file_name=a.pdf&content_type=application/pdf&size=5"))
    body = {"name": "x", "remark": signed["objectKey"]}
    expect(await there.admin.post("/api/v1/crm/customers", body))
    await site.proxy.down()
    with pytest.raises(ApiError):
        await sweep(there.running.service, there.files)
    assert await there.files.records.find_one({"_id": signed["objectKey"]})


async def test_the_service_starts_while_s3_is_unreachable(site: Site) -> None:
    expect(site.at_first, 50300)
    assert "storage" in site.at_first.json["msg"]
