"""Certificates and sockets of server processes: SIGHUP, rolling restarts, starts that are refused, what a kill leaves."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import eventually
from tests.support.certificates import DAY, Authority, Files, serial_of
from tests.support.processes import forked_servers
from tests.support.raw_http import Wire, request
from tests.support.replica_sets import free_ports
from tests.support.server_process import ServerProcess, environment, server_process, spawn
from tests.support.supervisors import roll, said, supervised

pytestmark = pytest.mark.gen_test(timeout=60)
PLUGINS = "auth,rbac"


def secured(uri: str, folder: Path, files: Files, **settings: str) -> dict[str, str]:
    """The environment of a server with this certificate, which looks at it when it is asked to."""
    named = {name.upper(): value for name, value in files.settings.items()}
    return environment(uri, folder, PLUGINS=PLUGINS, TLS_LOOK_SECONDS="3600", **named, **settings)


async def shown(port: int, context: ssl.SSLContext) -> int:
    """The serial number of the certificate at a port, which serves requests."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    try:
        at = Wire(reader, writer)
        await at.send(request("GET /api/health"))
        assert (await at.reply()).status == 200
        return int(writer.get_extra_info("peercert")["serialNumber"], 16)
    finally:
        writer.close()


def put(new: Files, place: Files) -> None:
    """Put a certificate in the place of another one."""
    shutil.copy(new.certificate, place.certificate)
    shutil.copy(new.key, place.key)


async def health_at(path: Path) -> int:
    """The status of a response on a Unix socket."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        at = Wire(reader, writer)
        await at.send(request("GET /api/health"))
        return (await at.reply()).status
    finally:
        writer.close()


async def test_sighup_takes_up_the_certificate_without_a_restart(mongodb_uri: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    used, new = authority.issue(), authority.issue("new")
    before = serial_of(used)
    async with server_process(secured(mongodb_uri, tmp_path, used), tmp_path / "server") as server:
        port = int((await server.url()).rpartition(":")[2])
        assert await shown(port, authority.client_context) == before
        put(new, used)
        server.process.send_signal(signal.SIGHUP)
        await server.said("a new certificate is used")
        assert await shown(port, authority.client_context) == serial_of(new)
        used.key.write_text("garbage")
        server.process.send_signal(signal.SIGHUP)
        line = await server.said("a new certificate is not used, the one before stays")
        assert line["reason"] == f"TRADEWIND_TLS_KEY: {used.key} holds no key in PEM form."
        assert await shown(port, authority.client_context) == serial_of(new)
        assert await server.stop() == 0


@pytest.mark.parametrize("arguments", [(), ("--processes", "1")])
async def test_one_that_has_ended_refuses_the_start_in_a_sentence(
    mongodb_uri: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ended = Authority(tmp_path).issue(begins=-2 * DAY, ends=-DAY)
    env = secured(mongodb_uri, tmp_path, ended, PORT=str(*free_ports(1)))
    async with server_process(env, tmp_path / "server", *arguments) as server:
        assert await server.ended() == 1
        assert f"TRADEWIND_TLS_CERTIFICATE: the certificate in {ended.certificate} ended on" in server.stderr
        assert len(server.stderr.splitlines()) == 1


async def test_a_key_without_a_certificate_is_refused(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PLUGINS=PLUGINS, TLS_KEY=str(tmp_path / "key.pem"))
    async with server_process(env, tmp_path / "server") as server:
        assert await server.ended() == 1
        assert "TRADEWIND_TLS_CERTIFICATE is missing: a certificate and its key are set together" in server.stderr


async def test_a_unix_socket_outlives_the_processes_under_a_supervisor(mongodb_uri: str, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    env = environment(mongodb_uri, tmp_path, PLUGINS=PLUGINS, UNIX_SOCKET=str(path), PORT=str(*free_ports(1)))
    async with server_process(env, tmp_path / "server", "--processes", "2") as supervisor:
        await said(supervisor, "ready", 2)
        inode = path.stat().st_ino
        assert await health_at(path) == 200
        await roll(supervisor)
        assert await health_at(path) == 200
        for pid in forked_servers(supervisor.process.pid):
            os.kill(pid, signal.SIGKILL)
        assert await health_at(path) == 200
        assert path.stat().st_ino == inode
        assert await supervisor.stop() == 0
    assert not path.exists()


async def test_after_a_kill_the_next_start_replaces_the_file(mongodb_uri: str, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    env = environment(mongodb_uri, tmp_path, PLUGINS=PLUGINS, UNIX_SOCKET=str(path))
    killed = spawn(env, tmp_path / "killed")
    try:
        await killed.url()
    finally:
        killed.process.kill()
        killed.process.wait()
    assert path.exists()
    async with server_process(env, tmp_path / "server") as server:
        await server.url()
        assert await health_at(path) == 200


@pytest.fixture(scope="module")
def secured_supervisor(
    io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, Authority, Files]]:
    """Two processes with TLS; who signed their certificate, and the files."""
    folder = tmp_path_factory.mktemp("secured")
    authority = Authority(folder)
    used = authority.issue()
    (port,) = free_ports(1)
    settings = {"PORT": str(port), "DRAIN_NOTICE_SECONDS": "0.3"}
    block = supervised(secured(mongodb_uri, folder, used, **settings), folder / "server")
    yield io_loop.run_sync(block.__aenter__), authority, used
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_a_rolling_restart_takes_up_a_new_certificate_and_loses_no_request(
    secured_supervisor: tuple[ServerProcess, Authority, Files],
) -> None:
    supervisor, authority, used = secured_supervisor
    port, context, served = int(supervisor.env["TRADEWIND_PORT"]), authority.client_context, 0
    over = asyncio.Event()

    async def ask(pause: float) -> None:
        nonlocal served
        while not over.is_set():
            await shown(port, context)
            served += 1
            await asyncio.sleep(pause)

    asking = [asyncio.create_task(ask(0.01 * number)) for number in range(4)]
    new = authority.issue("new")
    put(new, used)
    await roll(supervisor)
    assert await shown(port, context) == serial_of(new)
    before = served

    async def goes_on() -> bool:
        return served > before + 4

    await eventually(goes_on)
    over.set()
    await asyncio.gather(*asking)


async def test_a_supervisor_does_not_roll_to_a_certificate_that_has_ended(
    secured_supervisor: tuple[ServerProcess, Authority, Files],
) -> None:
    supervisor, authority, used = secured_supervisor
    before = serial_of(used)
    put(authority.issue("ended", begins=-2 * DAY, ends=-DAY), used)
    supervisor.process.send_signal(signal.SIGHUP)
    await supervisor.said("not rolled: a new process does not start")
    assert await shown(int(supervisor.env["TRADEWIND_PORT"]), authority.client_context) == before
