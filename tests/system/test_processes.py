"""`server.py --processes`: several server processes under a supervisor that starts again what ends."""

import os
import signal
import socket
from pathlib import Path

import pytest

from plugins.testing import Client, eventually
from tests.support.processes import children, forked_servers
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


async def test_a_process_that_is_killed_is_started_again_by_its_parent(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PORT=str(free_port()), SPARE_PROCESS="false")
    async with server_process(env, tmp_path / "server", "--processes", "2") as parent:

        async def both_are_ready() -> bool:
            return len(parent.lines("ready")) == 2

        async def third_is_ready() -> bool:
            return len(parent.lines("ready")) == 3

        await eventually(both_are_ready, seconds=20)
        victim, other = sorted(forked_servers(parent.process.pid))
        os.kill(victim, signal.SIGKILL)
        await eventually(third_is_ready, seconds=20)
        serving = forked_servers(parent.process.pid)
        assert len(serving) == 2
        assert other in serving
        assert (await Client(await parent.url()).get("/api/health")).status == 200
        serving |= children(parent.process.pid)
        assert await parent.stop() == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in serving)


async def test_a_fault_in_the_settings_stops_all_processes(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200", tmp_path, PORT=str(free_port()))
    async with server_process(env, tmp_path / "server", "--processes", "2") as parent:
        assert await parent.ended() == 1
        assert "TRADEWIND_MONGODB_URI" in parent.stderr


async def test_several_processes_need_a_port(tmp_path: Path) -> None:
    env = environment("", tmp_path, PORT="0")
    async with server_process(env, tmp_path / "server", "--processes", "2") as parent:
        assert await parent.ended() == 1
        assert "--port" in parent.stderr
