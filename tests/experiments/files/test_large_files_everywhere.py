"""Large files with every storage behind every connection, and slow uploads beside other requests."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from plugins.testing import Client, expect
from tests.api.files.samples import BOUNDARY, RAR
from tests.experiments.files import test_large_files as daily
from tests.experiments.files.test_large_files import Big
from tests.support.raw_http import connected, request

pytestmark = daily.pytestmark
big, large_file = daily.big, daily.large_file
UPLOADERS, BYTES_A_SECOND = 50, 10_000
ELSEWHERE = [("local", "fast"), ("s3", "tornado")]
elsewhere = pytest.mark.parametrize("big", ELSEWHERE, indirect=True, ids="-".join)


@elsewhere
async def test_memory_does_not_grow_with_the_file(big: Big, large_file: Path) -> None:
    await daily.test_memory_does_not_grow_with_the_file(big, large_file)


@pytest.mark.parametrize("big", [daily.PLACES[0], *ELSEWHERE], indirect=True, ids="-".join)
async def test_a_reader_that_stops_holds_little_memory(big: Big, large_file: Path, tmp_path: Path) -> None:
    await daily.test_a_reader_that_stops_holds_little_memory(big, large_file, tmp_path)


@elsewhere
async def test_a_download_ends_when_its_client_goes_away(big: Big, large_file: Path) -> None:
    await daily.test_a_download_ends_when_its_client_goes_away(big, large_file)


@asynccontextmanager
async def slow_uploaders(client: Client) -> AsyncIterator[None]:
    """Endless uploads, each a little at a time."""
    head = f"Authorization: Bearer {client.token}", f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    first = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.rar"\r\n\r\n'.encode() + RAR
    started = request("POST /api/upload", *head, f"Content-Length: {1 << 30}") + first
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connected(client.url)) for _ in range(UPLOADERS)]
        for wire in wires:
            await wire.send(started)

        async def send() -> None:
            while True:
                for wire in wires:
                    await wire.send(bytes(BYTES_A_SECOND // 5))
                    await asyncio.sleep(0.2 / UPLOADERS)

        sending = asyncio.create_task(send())
        yield
        sending.cancel()


async def p99(client: Client, seconds: float = 1.0) -> float:
    """Of a guarded route, asked again and again over one connection."""
    asked = request("GET /api/v1/system/roles", f"Authorization: Bearer {client.token}")
    took, end = [], time.perf_counter() + seconds
    async with connected(client.url) as wire:
        while time.perf_counter() < end:
            started = time.perf_counter()
            await wire.send(asked)
            expect(await wire.reply())
            took.append(time.perf_counter() - started)
    return statistics.quantiles(took, n=100)[98]


@pytest.mark.parametrize("big", [("local", "tornado")], indirect=True, ids="-".join)
async def test_slow_uploads_do_not_delay_other_requests(big: Big) -> None:
    ratios: list[float] = []
    for _ in range(4):  # the machine may be busy with something else for a moment
        idle = await p99(big.client)
        async with slow_uploaders(big.client):
            ratios.append(await p99(big.client) / idle)
        if ratios[-1] <= 2:  # `python -m tests.experiments.benchmark files` measures for longer, and closer
            return
    raise AssertionError(ratios)
