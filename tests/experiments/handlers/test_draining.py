"""A process that stops loses no request of clients that keep their connections and retry nothing."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from config.database import open_driver
from handlers.http.app import listen
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect, serving
from tests.support import probe
from tests.support.probe import AT
from tests.support.raw_http import Wire, connected, request
from tests.support.refusals import refused
from tests.support.server_process import ServerProcess, environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
CUSTOMERS = "/api/v1/crm/customers"
NOTICE = 1.0


class Writer:
    """A client that writes on one connection as long as it is kept."""

    def __init__(self, number: int, token: str) -> None:
        self.name = f"writer-{number}"
        self._headers = (f"Authorization: Bearer {token}", "Content-Type: application/json")
        self.acknowledged: list[str] = []
        self.told = False

    async def write_until_told(self, url: str, pause: float) -> None:
        """One customer after the other, until a response says that the connection closes; raises where one is lost."""
        async with connected(url) as wire:
            while not self.told:
                name = f"{self.name}-{len(self.acknowledged)}"
                body = json.dumps({"name": name}).encode()
                await wire.send(request(f"POST {CUSTOMERS}", *self._headers, body=body))
                reply = await wire.reply()
                expect(reply)
                self.acknowledged.append(name)
                self.told = reply.headers.get("Connection") == "close"
                await asyncio.sleep(pause)
            assert await wire.closed()


@pytest.fixture
def turns() -> int:
    """How many servers stop while they are written to."""
    return 1


async def test_writers_on_kept_connections_lose_nothing(
    mongodb_uri: str, tmp_path: Path, http: str, turns: int
) -> None:
    env = environment(mongodb_uri, tmp_path, HTTP=http, PLUGINS="auth,rbac,crm", DRAIN_NOTICE_SECONDS=str(NOTICE))
    acknowledged: set[str] = set()
    for turn in range(turns):
        async with server_process(env, tmp_path / str(turn)) as running:
            url = await running.url()
            token = (await Client(url).log_in("admin")).token or ""
            writers = [Writer(10 * turn + number, token) for number in range(8)]
            # from those who hardly pause to those whom the end meets between two requests
            work = [asyncio.create_task(one.write_until_told(url, 0.02 * n)) for n, one in enumerate(writers)]

            async def all_have_written(writers: list[Writer] = writers) -> bool:
                return all(len(writer.acknowledged) > 3 for writer in writers)

            await eventually(all_have_written, seconds=20)
            running.process.send_signal(signal.SIGTERM)
            await asyncio.gather(*work)
            assert await running.ended() == 0
            acknowledged.update(*(writer.acknowledged for writer in writers))
    driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 5000)
    try:
        stored = {row["name"] for row in await driver.find("crm_customers", {}, fields=["name"])}
    finally:
        await driver.close()
    assert stored == acknowledged


@asynccontextmanager
async def stopping(running: ServerProcess) -> AsyncIterator[None]:
    """The server is asked to stop, and has heard it; it ends with the block."""
    running.process.send_signal(signal.SIGTERM)
    await running.said("stopping")
    yield
    assert await running.ended() == 0


HEALTH = request("GET /api/health")
LOGIN = request("POST /api/v1/auth/login", "Content-Type: application/json", body=b'{"username": "x", "password": "y"}')


async def read_slowly(wire: Wire) -> bytes:
    """The body of a response, of which the client takes a little at a time."""
    head = await wire.reader.readuntil(b"\r\n\r\n")
    length, body = int(head.lower().partition(b"content-length: ")[2].split()[0]), b""
    while len(body) < length:
        body += await wire.reader.readexactly(min(1_000_000, length - len(body)))
        await asyncio.sleep(0.1)  # not a wait for anything: a slow reader
    return body


async def test_what_is_half_received_or_half_read_is_waited_for(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    halves = {"a request line": HEALTH[:5], "a field": HEALTH[:30], "all but a byte": HEALTH[:-1], "a body": LOGIN[:-5]}
    async with server_process(environment(mongodb_uri, tmp_path, HTTP=http, PLUGINS=""), tmp_path) as running:
        url = await running.url()
        whole = (await Client(url).get("/api/openapi.json")).body
        async with AsyncExitStack() as stack:
            wires = {name: await stack.enter_async_context(connected(url)) for name in (*halves, "reading")}
            for name, half in halves.items():
                await wires[name].send(HEALTH)
                assert expect(await wires[name].reply())
                await wires[name].send(half)
            await wires["reading"].send(request("GET /api/openapi.json"))
            async with stopping(running):
                read = asyncio.create_task(read_slowly(wires["reading"]))
                await asyncio.sleep(1)  # not a wait for anything: longer than an idle connection is kept
                for name, half in halves.items():
                    await wires[name].send((LOGIN if name == "a body" else HEALTH)[len(half) :])
                replies = {name: await wires[name].reply() for name in halves}
                assert await read == whole
    refused(replies.pop("a body"), 40010)
    assert {name: (expect(reply), reply.headers["Connection"]) for name, reply in replies.items()} == {
        name: ({"status": "ok"}, "close") for name in replies
    }


async def test_a_request_that_has_just_arrived_is_not_idle(
    mongodb_uri: str, tmp_path: Path, http: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = []

    async def noted(*arguments: Any) -> Any:
        servers.append(await listen(*arguments))
        return servers[0]

    async def close_idle_at_every_turn_of_the_loop() -> None:
        while True:
            servers[0].close_idle(0)
            await asyncio.sleep(0)

    monkeypatch.setattr("plugins.boot.listen.listen", noted)
    plugins = load_plugins(("auth", "rbac"))
    async with serving(mongodb_uri, tmp_path, plugins, http=http) as running, connected(running.url) as wire:
        await wire.send(HEALTH[:20])
        closing = asyncio.create_task(close_idle_at_every_turn_of_the_loop())
        await wire.send(HEALTH[20:])
        try:
            assert expect(await wire.reply())
        finally:
            closing.cancel()


@asynccontextmanager
async def gated(uri: str, folder: Path, http: str) -> AsyncIterator[tuple[Running, Wire]]:
    """A server, and a connection whose request waits before the gate."""
    plugins = [*load_plugins(("auth", "rbac")), probe.plugin]
    async with serving(uri, folder, plugins, http=http) as running, connected(running.url) as wire:
        await wire.send(request(f"GET {AT}/wait"))
        gate = running.service.part(probe.Gate)

        async def is_waiting() -> bool:
            return gate.waiting == 1

        await eventually(is_waiting)
        yield running, wire


async def test_every_request_of_a_pipeline_gets_a_response(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with gated(mongodb_uri, tmp_path, http) as (running, wire):
        await wire.send(HEALTH * 5 + HEALTH[:20])
        running.service.draining = True
        running.service.part(probe.Gate).open.set()
        replies = [await wire.reply() for _ in range(6)]
        assert [expect(reply) for reply in replies][1:] == [{"status": "ok"}] * 5
        assert [reply.headers.get("Connection") for reply in replies] == [None] * 6
        await wire.send(HEALTH[20:])
        reply = await wire.reply()
        assert (expect(reply), reply.headers["Connection"]) == ({"status": "ok"}, "close")


async def test_during_the_notice_newcomers_are_served_and_readiness_is_503(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    env = environment(mongodb_uri, tmp_path, HTTP=http, PLUGINS="auth,rbac", DRAIN_NOTICE_SECONDS="2")
    async with server_process(env, tmp_path) as running:
        client = Client(await running.url())
        expect(await client.get("/api/health/ready"))
        async with connected(client.url) as kept, stopping(running):
            refused(await client.get("/api/health/ready"), 50300)
            reply = await client.get("/api/health")
            assert (expect(reply), reply.headers["Connection"]) == ({"status": "ok"}, "close")
            await kept.send(HEALTH)
            assert (await kept.reply()).headers["Connection"] == "close"


async def test_a_websocket_hears_that_the_process_goes_away(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    env = environment(mongodb_uri, tmp_path, HTTP=http, PLUGINS="auth,rbac,notification")
    async with server_process(env, tmp_path) as running:
        admin = await Client(await running.url()).log_in("admin")
        headers = {"Authorization": f"Bearer {admin.token}"}
        address = admin.url.replace("http://", "ws://") + "/api/v1/notifications/ws"
        socket: Any = await websocket_connect(HTTPRequest(address, headers=headers))
        assert json.loads(await socket.read_message())["type"] == "ready"
        async with stopping(running):
            while await socket.read_message() is not None:
                pass
            assert socket.close_code == 1001


async def test_a_process_that_nobody_talks_to_stops_at_once(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac", DRAIN_NOTICE_SECONDS="60")
    async with server_process(env, tmp_path) as running:
        await running.url()
        assert await running.stop() == 0
