"""Images and SVG files that take long to check: other requests are served meanwhile."""

from __future__ import annotations

import asyncio
import time

import pytest

from plugins.testing import Client, expect
from tests.api.files.samples import drawing
from tests.support.processes import workers

pytestmark = pytest.mark.gen_test(timeout=60)
LARGE = drawing("<g/>" * 500_000)
BOUNDARY = "drawings-boundary"


async def send(client: Client, content: bytes) -> int:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.svg"\r\n\r\n'
    raw = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    media = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return (await client.post("/api/upload", raw=raw, headers=media)).code


async def test_large_drawings_take_no_thread_that_files_are_served_by(admin: Client) -> None:
    before = len(workers())
    sending = [asyncio.create_task(send(admin, LARGE)) for _ in range(4)]
    waits, most = [], 0
    while not all(one.done() for one in sending):
        began = time.perf_counter()
        waits.append(await asyncio.to_thread(time.perf_counter) - began)
        most = max(most, len(workers()) - before)
        await asyncio.sleep(0.02)
    assert await asyncio.gather(*sending) == [0] * 4
    assert max(waits) < 0.5
    assert 1 <= most <= 2
    expect(await admin.get("/api/v1/auth/profile"))
