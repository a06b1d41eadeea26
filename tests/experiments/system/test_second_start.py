"""How soon a server with an embedded database is ready."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.server_process import environment, server_process
from tests.support.shortest_times import database_seconds

SECONDS = 3.0
TIMES = 4  # on an idle machine the database alone takes three quarters of a second


@pytest.mark.gen_test(timeout=60)
async def test_a_second_start_takes_less_than_three_seconds(tmp_path: Path) -> None:
    env = environment("", tmp_path / "data", PLUGINS="")
    async with server_process(env, tmp_path) as first:
        await first.url()
    took: list[tuple[float, float]] = []
    for _ in range(3):  # others may use the machine at that moment
        limit = max(SECONDS, TIMES * database_seconds(tmp_path / "data"))
        begun = time.monotonic()
        async with server_process(env, tmp_path) as again:
            await again.url()
            took.append((round(time.monotonic() - begun, 2), round(limit, 2)))
        if took[-1][0] < limit:
            return
    raise AssertionError(took)
