"""The spare process of a supervisor: it has started, serves nothing, and takes the place of a server that ends."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, eventually, expect
from tests.support.processes import children, forked_servers
from tests.support.raw_http import connected, request
from tests.support.replica_sets import free_ports
from tests.support.server_process import ServerProcess, environment
from tests.support.supervisors import roll, said, stop, supervised

pytestmark = pytest.mark.gen_test(timeout=60)
COUNT = 2


@pytest.fixture(scope="module")
def supervisor(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Two processes and a spare one, which is the default; each test leaves as many. In the end they stop."""
    folder = tmp_path_factory.mktemp("spare")
    env = environment(mongodb_uri, folder, PORT=str(*free_ports(1)), PLUGINS="auth,rbac")
    block = supervised(env, folder, COUNT)
    supervisor = io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: said(supervisor, "stands by", 1))
    try:
        yield supervisor
        io_loop.run_sync(lambda: stop(supervisor))
        assert supervisor.stderr == ""
    finally:
        io_loop.run_sync(lambda: block.__aexit__(None, None, None))


def servers_and_spare(supervisor: ServerProcess) -> tuple[set[int], int]:
    """The processes that serve, and the one that does not, which started last."""
    *servers, spare = sorted(forked_servers(supervisor.process.pid), key=started_at)
    assert len(servers) == COUNT
    return set(servers), spare


async def another_stands_by(supervisor: ServerProcess, before: int) -> None:
    """Wait for one more spare process than there were."""
    await said(supervisor, "stands by", before + 1)
    assert len(forked_servers(supervisor.process.pid)) == COUNT + 1


async def test_the_spare_process_takes_the_place_of_a_server_that_is_killed(supervisor: ServerProcess) -> None:
    (server, other), spare = servers_and_spare(supervisor)
    ready, spares = (len(supervisor.lines(message)) for message in ("ready", "stands by"))
    os.kill(server, signal.SIGKILL)
    async with connected(await supervisor.url()) as wire:
        await wire.send(request("GET /api/health/ready"))
        assert (await wire.reply()).code == 0
    await said(supervisor, "ready", ready + 1)
    await another_stands_by(supervisor, spares)
    assert servers_and_spare(supervisor)[0] == {other, spare}


async def test_a_spare_process_is_none_of_those_that_serve(supervisor: ServerProcess) -> None:
    metrics = (await Client(await supervisor.url()).get("/metrics")).body.decode()
    assert re.findall(r"tradewind_process_up\S* (\d)", metrics) == ["1"] * COUNT
    # nor does it run jobs: only those that serve measure how late their event loops are
    assert len(re.findall(r"tradewind_event_loop_lag_seconds_count", metrics)) == COUNT


async def test_a_spare_process_that_ends_is_replaced_and_nothing_else_is(supervisor: ServerProcess) -> None:
    servers, spare = servers_and_spare(supervisor)
    ready, spares = (len(supervisor.lines(message)) for message in ("ready", "stands by"))
    os.kill(spare, signal.SIGKILL)
    await supervisor.said("a spare process ended and is started again")
    await another_stands_by(supervisor, spares)
    assert servers_and_spare(supervisor)[0] == servers
    assert len(supervisor.lines("ready")) == ready


async def test_servers_that_end_together_with_the_spare_process_are_started_again(supervisor: ServerProcess) -> None:
    ready, spares = (len(supervisor.lines(message)) for message in ("ready", "stands by"))
    for pid in forked_servers(supervisor.process.pid):
        os.kill(pid, signal.SIGKILL)
    await said(supervisor, "ready", ready + COUNT)
    await another_stands_by(supervisor, spares)
    expect(await Client(await supervisor.url()).get("/api/health/ready"))


async def test_a_rolling_restart_replaces_the_spare_process_too(supervisor: ServerProcess) -> None:
    before, spares = forked_servers(supervisor.process.pid), len(supervisor.lines("stands by"))

    async def one_fork_server() -> bool:
        return len(children(supervisor.process.pid)) == 1

    ended = len(supervisor.lines("a spare process ended and is started again"))
    await roll(supervisor)
    assert before & forked_servers(supervisor.process.pid) == set()
    await another_stands_by(supervisor, spares)
    await eventually(one_fork_server, seconds=10)
    assert len(supervisor.lines("a spare process ended and is started again")) == ended


def started_at(pid: int) -> int:
    """When a process began, in ticks since the machine did."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
