"""A start that is asked to stop ends at once, wherever it stands."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from config.database import open_driver
from handlers.data.database import LEASES
from plugins.testing import eventually
from tests.support.lone_mongod import lone_mongod, make_member
from tests.support.server_process import ServerProcess, environment, server_process
from tests.support.shortest_times import python_seconds

pytestmark = pytest.mark.gen_test(timeout=40)
PROMPTLY, TIMES = 3.0, 20  # on an idle machine a Python process takes a tenth of a second
NEVER_MS = "60000"  # who waits for the database waits for longer than the tests do


async def ends_at_once(running: ServerProcess, number: signal.Signals) -> None:
    """Ask it to stop; it does, promptly and without a word on standard error."""
    limit = max(PROMPTLY, TIMES * await asyncio.to_thread(python_seconds))
    asked = time.monotonic()
    # by its own hand, or by the signal's where it was not listening for it yet
    assert await running.stop(number) in (0, -number)
    assert time.monotonic() - asked < limit
    assert running.stderr == ""


async def listening(running: ServerProcess) -> None:
    """Wait until the server has taken the signals into its own hands."""

    async def catches() -> bool:
        status = Path(f"/proc/{running.process.pid}/status").read_text()
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    await eventually(catches, seconds=20)


@asynccontextmanager
async def silence() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that takes connections and never says a word; its address, and whether somebody came."""
    came = asyncio.Event()

    async def stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        while await reader.read(1000):
            pass
        writer.close()

    async with await asyncio.start_server(stay, "127.0.0.1", 0) as server:
        yield f"mongodb://127.0.0.1:{server.sockets[0].getsockname()[1]}/", came


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_start_that_waits_for_a_silent_database_ends_when_asked(tmp_path: Path, number: signal.Signals) -> None:
    async with (
        silence() as (uri, came),
        server_process(environment(uri, tmp_path, MONGODB_TIMEOUT_MS=NEVER_MS), tmp_path) as running,
    ):
        await came.wait()
        await listening(running)
        await ends_at_once(running, number)


@pytest.mark.parametrize("lease", ["prepare", "start"])
async def test_a_start_that_waits_for_another_instance_ends_when_asked(
    mongodb_uri: str, tmp_path: Path, lease: str
) -> None:
    env = environment(mongodb_uri, tmp_path)
    driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 5000)
    try:
        held = {"_id": lease, "until": datetime.now(UTC) + timedelta(hours=1), "holder": "somebody", "fencing": 1}
        await driver.insert(LEASES, [held])
        async with server_process(env, tmp_path) as running:
            await listening(running)

            async def is_there() -> bool:
                return bool(await driver.list_indexes("core_operation_logs")) if lease == "start" else True

            await eventually(is_there, seconds=20)
            await ends_at_once(running, signal.SIGTERM)
    finally:
        await driver.close()


async def test_a_start_whose_database_freezes_ends_when_asked(tmp_path: Path) -> None:
    with lone_mongod(tmp_path / "mongod", "--replSet", "rs0") as uri:
        make_member(uri)
        env = environment(uri, tmp_path / "data", MONGODB_TIMEOUT_MS=NEVER_MS)
        async with server_process(env, tmp_path / "process") as running:
            await listening(running)
            os.kill(int((tmp_path / "mongod" / "mongod.lock").read_text()), signal.SIGSTOP)
            await ends_at_once(running, signal.SIGTERM)


async def test_a_start_whose_own_database_hangs_ends_when_asked(tmp_path: Path) -> None:
    program = tmp_path / "packages" / "fiftyone" / "db" / "bin" / "mongod"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    env = environment("", tmp_path / "data") | {"PYTHONPATH": str(tmp_path / "packages")}
    async with server_process(env, tmp_path / "process") as running:
        await listening(running)
        await ends_at_once(running, signal.SIGTERM)
