"""Large files and clients that stop: memory grows with neither. Each storage is behind another of the connections here.

A small version of `python -m tests.experiments.benchmark files`, which measures with a file of 1 GiB. Every storage behind every connection, and
slow uploads: tests/experiments/files/test_large_files_everywhere.py.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, eventually
from tests.api.files.places import MEBIBYTE
from tests.api.files.samples import RAR
from tests.support.processes import processor_seconds
from tests.support.raw_http import connected, request
from tests.support.s3_stand_in import S3Server
from tests.support.server_process import ServerProcess, environment, server_process
from tests.support.transfers import get_file, peak_growth, upload_file

pytestmark = pytest.mark.gen_test(timeout=60)
SIZE = 64 * MEBIBYTE
MOST_GROWTH = 24 * MEBIBYTE
PLACES = [("local", "tornado"), ("s3", "fast")]
READERS, MOST_HELD = 8, 256 << 10


class Big:
    """A server process that accepts large files."""

    def __init__(self, client: Client, server: ServerProcess) -> None:
        self.client = client
        self.server = server
        self.pid = server.process.pid

    async def upload(self, path: Path) -> str:
        """Upload a file; its key."""
        sent = await asyncio.to_thread(upload_file, self.client.url, path, str(self.client.token), "large.rar")
        assert sent.status == 200, sent.body
        key: str = json.loads(sent.body)["data"]["objectKey"]
        return key

    async def download(self, key: str) -> int:
        """Download a file; its size."""
        headers = {"Authorization": f"Bearer {self.client.token}"}
        address = f"/api/file/dl?object_key={key}"
        received = await asyncio.to_thread(get_file, self.client.url, address, headers)
        assert received.status == 200
        return received.size

    async def is_idle(self) -> None:
        """Wait until it does nothing any more."""
        known = -1.0

        async def rests() -> bool:
            nonlocal known
            before, known = known, processor_seconds(self.pid)
            return known == before

        await eventually(rests, seconds=30, every=0.5)


@asynccontextmanager
async def serving_files(env: Mapping[str, str], folder: Path) -> AsyncIterator[Big]:
    """A server, and its administrator."""
    async with server_process(env, folder) as server:
        yield Big(await Client(await server.url()).log_in("admin"), server)


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.rar"
    path.write_bytes(RAR + os.urandom(SIZE - len(RAR)))
    return path


@pytest.fixture(scope="module", params=PLACES, ids="-".join)
def big(
    request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Big]:
    """A server with this storage and this connection."""
    storage, http = request.param
    settings = {"HTTP": http, "MAX_UPLOAD_BYTES": str(2 << 30)}
    if storage == "s3":
        # the stand-in reads the whole file for each of its readers
        s3: S3Server = request.getfixturevalue("s3")
        settings |= {"S3_REQUEST_SECONDS": "120", **{name.upper(): value for name, value in s3.buckets().items()}}
    folder = tmp_path_factory.mktemp("big")
    block = serving_files(environment(mongodb_uri, folder, PLUGINS="auth,rbac,files", **settings), folder / "server")
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_memory_does_not_grow_with_the_file(big: Big, large_file: Path) -> None:
    with peak_growth(big.pid) as grown:
        key = await big.upload(large_file)
    assert grown() < MOST_GROWTH
    with peak_growth(big.pid) as grown:
        assert await big.download(key) == SIZE
    assert grown() < MOST_GROWTH


async def stuck_reader(stack: AsyncExitStack, big: Big, key: str) -> None:
    """Ask for the file, and read no further than its first byte."""
    wire = await stack.enter_async_context(connected(big.client.url))
    ask = request(f"GET /api/file/dl?object_key={key}", f"Authorization: Bearer {big.client.token}")
    await wire.send(ask)
    assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    await wire.reader.readexactly(1)


async def held_by_each_stuck_reader(big: Big, key: str) -> float:
    """Bytes by which the process grows for each reader that stops, once it has read ahead what it wants to."""
    async with AsyncExitStack() as stack:
        # warm up before the measurement
        await asyncio.gather(*(stuck_reader(stack, big, key) for _ in range(READERS)))
        await big.is_idle()
        with peak_growth(big.pid) as grown:
            await asyncio.gather(*(stuck_reader(stack, big, key) for _ in range(READERS)))
            await big.is_idle()
            return grown() / READERS


@pytest.mark.parametrize("big", PLACES[1:], indirect=True, ids="-".join)
async def test_a_reader_that_stops_holds_little_memory(big: Big, large_file: Path, tmp_path: Path) -> None:
    key = await big.upload(large_file)
    # another process, because this one could reuse memory that the upload has freed
    async with serving_files(big.server.env, tmp_path) as other:
        held = await held_by_each_stuck_reader(other, key)
        assert held < MOST_HELD, f"{held / 1024:.0f} KiB each"


async def test_a_download_ends_when_its_client_goes_away(big: Big, large_file: Path) -> None:
    key, before = await big.upload(large_file), len(big.server.lines("stream ended early"))
    async with AsyncExitStack() as stack:
        await stuck_reader(stack, big, key)

    async def has_ended() -> bool:
        return len(big.server.lines("stream ended early")) > before

    await eventually(has_ended)
    assert big.server.lines("stream ended early")[-1]["reason"] == "client went away or stopped reading"
