"""The spare process of a supervisor: it has started, serves nothing, and takes the place of a server that ends."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from plugins.testing import Client, eventually, expect
from tests.support.huge_pages import huge_kib, needs_huge_pages
from tests.support.processes import children, forked_servers
from tests.support.raw_http import connected, request
from tests.support.server_process import ServerProcess, environment
from tests.system.test_processes import free_port
from tests.system.test_supervise import PLUGINS, ready, rolled, supervised

pytestmark = pytest.mark.gen_test(timeout=60)


def settings(uri: str, folder: Path) -> dict[str, str]:
    """The settings of a supervisor with a spare process, which is the default."""
    return environment(uri, folder, PORT=str(free_port()), PLUGINS=PLUGINS)


async def spare_stands_by(supervisor: ServerProcess, times: int) -> None:
    """Wait until so many spare processes have started, since the beginning."""

    async def look() -> bool:
        return len(supervisor.lines("stands by")) == times

    await eventually(look, seconds=30)


async def test_the_spare_process_takes_the_place_of_a_server_that_is_killed(mongodb_uri: str, tmp_path: Path) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=1) as supervisor:
        url = await supervisor.url()
        await spare_stands_by(supervisor, 1)
        for turn in range(3):
            server, spare = sorted(forked_servers(supervisor.process.pid), key=started_at)
            os.kill(server, signal.SIGKILL)
            async with connected(url) as wire:
                await wire.send(request("GET /api/health/ready"))
                assert (await wire.reply()).code == 0
            await ready(supervisor, turn + 2)
            await spare_stands_by(supervisor, turn + 2)
            (survivor,) = {server, spare} & forked_servers(supervisor.process.pid)
            assert survivor == spare
        family = children(supervisor.process.pid) | forked_servers(supervisor.process.pid)
        assert await supervisor.stop() == 0
        assert supervisor.stderr == ""
        assert not any(Path(f"/proc/{pid}").exists() for pid in family)


async def test_a_spare_process_is_none_of_those_that_serve(mongodb_uri: str, tmp_path: Path) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=2) as supervisor:
        await spare_stands_by(supervisor, 1)
        assert len(forked_servers(supervisor.process.pid)) == 3
        metrics = (await Client(await supervisor.url()).get("/metrics")).body.decode()
        assert re.findall(r"tradewind_process_up\S* (\d)", metrics) == ["1", "1"]
        # nor does it run jobs: only those that serve measure how late their event loops are
        assert len(re.findall(r"tradewind_event_loop_lag_seconds_count", metrics)) == 2


@needs_huge_pages
async def test_servers_have_their_memory_in_huge_pages_and_a_spare_process_shares_its_memory(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=1) as supervisor:
        await spare_stands_by(supervisor, 1)
        server, spare = sorted(forked_servers(supervisor.process.pid), key=started_at)

        async def is_moved() -> bool:
            return huge_kib(server) > huge_kib(spare) + (20 << 10)

        await eventually(is_moved)


async def test_a_spare_process_that_ends_is_replaced_and_nothing_else_is(mongodb_uri: str, tmp_path: Path) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=1) as supervisor:
        await spare_stands_by(supervisor, 1)
        server, spare = sorted(forked_servers(supervisor.process.pid), key=started_at)
        os.kill(spare, signal.SIGKILL)
        await supervisor.said("a spare process ended and is started again")
        await spare_stands_by(supervisor, 2)
        assert server in forked_servers(supervisor.process.pid)
        assert len(supervisor.lines("ready")) == 1


async def test_servers_that_end_together_with_the_spare_process_are_started_again(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=2) as supervisor:
        await spare_stands_by(supervisor, 1)
        for pid in forked_servers(supervisor.process.pid):
            os.kill(pid, signal.SIGKILL)
        await ready(supervisor, 4)
        await spare_stands_by(supervisor, 2)
        expect(await Client(await supervisor.url()).get("/api/health/ready"))


async def test_a_rolling_restart_replaces_the_spare_process_too(mongodb_uri: str, tmp_path: Path) -> None:
    async with supervised(settings(mongodb_uri, tmp_path), tmp_path / "output", count=1) as supervisor:
        await spare_stands_by(supervisor, 1)
        before = forked_servers(supervisor.process.pid)
        supervisor.process.send_signal(signal.SIGHUP)
        await rolled(supervisor, 1)
        assert before & forked_servers(supervisor.process.pid) == set()
        await spare_stands_by(supervisor, 2)
        assert len(forked_servers(supervisor.process.pid)) == 2
        assert len(children(supervisor.process.pid)) == 1
        assert not supervisor.lines("a spare process ended and is started again")


def started_at(pid: int) -> int:
    """When a process began, in ticks since the machine did."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
