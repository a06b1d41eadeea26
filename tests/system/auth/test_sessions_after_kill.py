"""A server process that is killed while it rotates refresh tokens."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError
from tornado.netutil import bind_sockets

from plugins.testing import PASSWORD, Client, eventually, expect, unique
from tests.support.servers import KEYS, refresh, state

pytestmark = pytest.mark.gen_test(timeout=60)


@dataclass
class Instance:
    """A server process."""

    url: str
    process: asyncio.subprocess.Process


@asynccontextmanager
async def process_on(uri: str, database: str, folder: Path) -> AsyncIterator[Instance]:
    """`python server.py` on a free port, ready."""
    (probe,) = bind_sockets(0, "127.0.0.1")
    port = probe.getsockname()[1]
    probe.close()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")},
        "TRADEWIND_MONGODB_URI": uri,
        "TRADEWIND_MONGODB_DATABASE": database,
        "TRADEWIND_DATA_DIR": str(folder),
        "TRADEWIND_JWT_SECRET": KEYS[0],
        "TRADEWIND_ADMIN_PASSWORD": PASSWORD,
        "TRADEWIND_BCRYPT_COST": "4",
        "TRADEWIND_PLUGINS": "auth,rbac",
        "TRADEWIND_RATE_LIMITS": "off",
        "TRADEWIND_REFRESH_GRACE_SECONDS": "60",
    }
    server = Path(__file__).parents[3] / "server.py"
    output = (folder / f"{port}.log").open("wb")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(server), "--port", str(port), env=environment, stdout=output, stderr=output, cwd=folder
    )
    instance = Instance(f"http://127.0.0.1:{port}", process)
    try:
        await eventually(lambda: _ready(instance), 30)
        yield instance
    finally:
        output.close()
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _ready(instance: Instance) -> bool:
    assert instance.process.returncode is None, "the server ended"
    try:
        return (await Client(instance.url).get("/api/health/ready")).status == 200
    except (OSError, HTTPClientError):
        return False


async def test_a_kill_in_the_middle_of_rotations_locks_nobody_out_and_leaves_no_token_valid_twice(
    mongodb_uri: str, tmp_path: Path
) -> None:
    database = unique("test").replace("-", "_")
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(process_on(mongodb_uri, database, tmp_path)) for _ in range(2)]
        sessions = [(await Client(first.url).log_in("admin")).session["refreshToken"] for _ in range(24)]
        rotations = 0

        async def rotate_until_killed(number: int) -> None:
            nonlocal rotations
            with suppress(OSError, HTTPClientError):
                while True:
                    sessions[number] = expect(await refresh(first.url, sessions[number]))["refreshToken"]
                    rotations += 1

        tabs = [asyncio.create_task(rotate_until_killed(number)) for number in range(len(sessions))]

        async def under_way() -> bool:
            return rotations > 2 * len(sessions)

        await eventually(under_way, 20)
        first.process.send_signal(signal.SIGKILL)
        await asyncio.gather(*tabs)
        for token in sessions:
            await _goes_on_once(second.url, token)


async def _goes_on_once(url: str, last_known: str) -> None:
    """Require that the client's last token can be refreshed, and is refused once its successor was used."""
    successor = expect(await refresh(url, last_known))
    newest = expect(await refresh(url, successor["refreshToken"]))
    assert await state(url, newest["accessToken"]) == 0
    expect(await refresh(url, last_known), 40102)
    expect(await refresh(url, newest["refreshToken"]), 40102)
    assert await state(url, newest["accessToken"]) == 40100
