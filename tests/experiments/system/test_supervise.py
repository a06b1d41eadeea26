"""`tradewind supervise`: no request is lost by a rolling restart, and no process stays away for long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from config.supervision.supervisor import STABLE_SECONDS, Restarts
from plugins.testing import Client, eventually, expect
from tests.support.processes import children, forked_servers
from tests.support.raw_http import connected, request
from tests.support.replica_sets import free_ports
from tests.support.server_process import ServerProcess, environment, server_process
from tests.support.supervisors import roll, said, stop, supervised
from tests.system.test_start import value_after

pytestmark = pytest.mark.gen_test(timeout=60)
PLUGINS = "auth,rbac,notification"
NOTICE, LISTENING = "0.3", 20
NOWHERE = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200"
# what a service manager does for socket activation: the descriptor 3, and who it is for
ACTIVATE = """
import os, socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Clients:
    """Clients that keep their connections and retry nothing, and listeners that connect again after 1012."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.outcomes: Counter[str] = Counter()
        self.closes: Counter[int | None] = Counter()
        self.open_sockets = 0
        self._running = True

    @asynccontextmanager
    async def at_work(self, keeping: int, listening: int) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._ask(0.005 * n)) for n in range(keeping)]
        listeners = [asyncio.create_task(self._listen()) for _ in range(listening)]
        yield
        self._running = False
        await asyncio.gather(*tasks)
        for each in listeners:
            each.cancel()

    async def _ask(self, pause: float) -> None:
        asked = request("GET /api/v1/auth/profile", f"Authorization: Bearer {self.token}")
        while self._running:
            async with connected(self.url) as wire:
                kept = True
                while kept and self._running:
                    await wire.send(asked)
                    try:
                        reply = await wire.reply()
                    except (OSError, EOFError) as error:
                        self.outcomes[repr(error)] += 1
                        break
                    self.outcomes[str(reply.code)] += 1
                    kept = reply.headers.get("Connection") != "close"
                    await asyncio.sleep(pause)

    async def _listen(self) -> None:
        address = self.url.replace("http://", "ws://") + "/api/v1/notifications/ws"
        while True:
            talk: Any = await websocket_connect(HTTPRequest(address, headers={"Authorization": f"Bearer {self.token}"}))
            assert json.loads(await talk.read_message())["type"] == "ready"
            self.open_sockets += 1
            while await talk.read_message() is not None:
                pass
            self.open_sockets -= 1
            self.closes[talk.close_code] += 1


@pytest.fixture(scope="module")
def supervisor(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Two processes, for the tests that do not end them."""
    folder = tmp_path_factory.mktemp("supervisor")
    settings = {"PLUGINS": PLUGINS, "DRAIN_NOTICE_SECONDS": NOTICE}
    block = supervised(environment(mongodb_uri, folder, PORT=str(*free_ports(1)), **settings), folder)
    supervisor = io_loop.run_sync(block.__aenter__)
    yield supervisor
    io_loop.run_sync(lambda: stop(supervisor))
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_replacing_all_processes_loses_no_request_of_clients_that_retry_nothing(
    supervisor: ServerProcess,
) -> None:
    url = await supervisor.url()
    clients = Clients(url, (await Client(url).log_in("admin")).token or "")

    async def all_listen() -> bool:
        return clients.open_sockets == LISTENING

    async def all_have_asked() -> bool:
        return clients.outcomes["0"] > 200

    async with clients.at_work(keeping=16, listening=LISTENING):
        await eventually(all_listen, seconds=20)
        before = forked_servers(supervisor.process.pid)
        await roll(supervisor)
        assert before & forked_servers(supervisor.process.pid) == set()
        await eventually(all_listen, seconds=20)
        await eventually(all_have_asked, seconds=20)
    assert list(clients.outcomes) == ["0"]
    assert list(clients.closes) == [1012]
    assert clients.closes[1012] >= LISTENING
    # one fork server is left, that of the last generation
    assert len(children(supervisor.process.pid)) == 1


async def test_what_does_not_start_replaces_nothing(supervisor: ServerProcess) -> None:
    before, settings = forked_servers(supervisor.process.pid), supervisor.folder / ".env"
    settings.write_text("TRADEWIND_TIME_ZONE=Nowhere/Else")
    supervisor.process.send_signal(signal.SIGHUP)
    await supervisor.said("not rolled: a new process does not start")
    assert "TRADEWIND_TIME_ZONE" in supervisor.stderr
    assert forked_servers(supervisor.process.pid) == before
    expect(await Client(await supervisor.url()).get("/api/health/ready"))
    settings.write_text("TRADEWIND_TIME_ZONE=Europe/Berlin")
    await roll(supervisor)
    assert before & forked_servers(supervisor.process.pid) == set()


async def test_a_second_supervisor_on_a_port_ends_with_a_sentence(supervisor: ServerProcess, tmp_path: Path) -> None:
    before = len(supervisor.lines("ready"))
    async with server_process(supervisor.env, tmp_path, "--processes", "2") as second:
        assert await second.ended() == 1
        assert second.stderr.count("\n") == 1
        assert supervisor.env["TRADEWIND_PORT"] in second.stderr
        assert "another supervisor" in second.stderr
    expect(await Client(await supervisor.url()).get("/api/health/ready"))
    assert len(supervisor.lines("ready")) == before


async def test_whichever_process_is_killed_the_port_is_served(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PORT=str(*free_ports(1)), PLUGINS=PLUGINS)
    async with supervised(env, tmp_path / "output") as supervisor:
        url = await supervisor.url()
        server, other = forked_servers(supervisor.process.pid)
        os.kill(server, signal.SIGKILL)
        await said(supervisor, "ready", 3)
        serving = forked_servers(supervisor.process.pid)
        assert (len(serving), server in serving, other in serving) == (2, False, True)
        (fork_server,) = children(supervisor.process.pid)
        os.kill(fork_server, signal.SIGKILL)

        async def are_gone() -> bool:
            return not serving & forked_servers(supervisor.process.pid)

        await eventually(are_gone)
        # the socket is open all the time: the connection waits for the next process
        async with connected(url) as wire:
            await wire.send(request("GET /api/health"))
            assert expect(await wire.reply()) == {"status": "ok"}
        await said(supervisor, "ready", 5)
        expect(await Client(url).get("/api/health/ready"))
        family = children(supervisor.process.pid) | forked_servers(supervisor.process.pid)
        supervisor.process.kill()

        async def nothing_is_left() -> bool:
            return not any(Path(f"/proc/{pid}").exists() for pid in family)

        await eventually(nothing_is_left, seconds=20)


async def test_a_fault_in_the_settings_stops_all_processes(tmp_path: Path) -> None:
    nowhere = environment(NOWHERE, tmp_path, PORT=str(*free_ports(1)), PLUGINS=PLUGINS, MONGODB_TIMEOUT_MS="300")
    async with server_process(nowhere, tmp_path / "server", "--processes", "2") as parent:
        assert await parent.ended() == 1
        assert "TRADEWIND_MONGODB_URI" in parent.stderr


async def test_a_fault_in_the_settings_of_a_plugin_stops_all_processes(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PORT=str(*free_ports(1)), PLUGINS="auth,rbac", BCRYPT_COST="99")
    async with server_process(env, tmp_path / "server", "--processes", "2") as parent:
        assert await parent.ended() == 1
        assert "tradewind: TRADEWIND_BCRYPT_COST: " in parent.stderr


async def test_several_processes_need_a_port(tmp_path: Path) -> None:
    async with server_process(environment("", tmp_path), tmp_path / "server", "--processes", "2") as parent:
        assert await parent.ended() == 1
        assert "--port" in parent.stderr


async def test_a_service_manager_opens_the_socket_and_hears_when_it_is_served(mongodb_uri: str, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    env = environment(mongodb_uri, tmp_path, PORT="1", PLUGINS="auth,rbac")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        env["NOTIFY_SOCKET"] = str(tmp_path / "notify")
        within = [sys.executable, "-c", ACTIVATE, str(port)]
        async with server_process(env, tmp_path / "output", "--processes", "1", within=within) as supervisor:
            told = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(manager, 200), 30)
            assert told.startswith(b"READY=1")
            assert expect(await Client(f"http://127.0.0.1:{port}").get("/api/health")) == {"status": "ok"}
            supervisor.process.send_signal(signal.SIGHUP)
            assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(manager, 200), 30) == b"RELOADING=1"
            assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(manager, 200), 30) == b"READY=1"
            assert expect(await Client(f"http://127.0.0.1:{port}").get("/api/health")) == {"status": "ok"}
            assert await supervisor.stop() == 0
            assert manager.recv(200) == b"STOPPING=1"


def test_pauses_grow_while_starts_fail_and_begin_anew_after_a_minute() -> None:
    restarts = Restarts()
    pauses = [restarts.pause_after(None) for _ in range(9)]
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]
    assert restarts.pause_after(10.0) == 10.0
    assert restarts.pause_after(STABLE_SECONDS) == 0.0


def test_a_process_that_is_killed_in_service_is_started_again_at_once() -> None:
    restarts = Restarts()
    assert [restarts.pause_after(10.0) for _ in range(9)] == [0.0] * 9


def test_a_supervisor_holds_nothing_of_the_application() -> None:
    modules = set(value_after("import plugins.commands.__main__, plugins.commands.supervise", "list(sys.modules)"))
    packages = {name.partition(".")[0] for name in modules}
    assert packages & {"handlers", "pydantic", "pymongo", "tornado", "uvloop", "server"} == set()
    assert {name for name in modules if name.startswith("plugins.") and "commands" not in name} == set()
