"""SIGHUP of a supervisor under clients that retry nothing and WebSockets, directly and through nginx."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from contextlib import suppress

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.support.nginx import Nginx, is_installed
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports, wait_until

NAME = "supervised restart"
_CLIENTS = 32
_SOCKETS = 200
_ROLLS = 20
_PAUSE_SECONDS = 0.01
_GOODBYE = 1012


async def run(bench: Bench) -> None:
    """Send SIGHUP 20 times under 200 WebSockets and 32 kept connections, half of which write; repeat through nginx."""
    folder = bench.subfolder("supervision")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    port, front, redirecting = free_ports(3)
    # all clients have the same address, that of this machine
    server = Server(folder, "supervised", port, replica_set.uri, trusted_proxies="127.0.0.1")
    server.arguments = ("--processes", "2")
    try:
        await in_thread(server.start)
        await in_thread(wait_until, lambda: _count(server, "ready") >= 2, 30)
        await _roll_under_load(bench, server, port, "directly")
        if not is_installed():
            bench.tell(NAME, "through nginx", "left out: nginx is not installed")
            return
        nginx = Nginx(folder / "nginx", [port], front, redirecting)
        nginx.start()
        try:
            await _roll_under_load(bench, server, front, "through nginx")
        finally:
            nginx.stop()
        errors = server.errors()
        bench.tell(NAME, "log lines of level ERROR", len(errors), "0", not errors)
    finally:
        await in_thread(server.stop)
        await in_thread(replica_set.stop)


async def _roll_under_load(bench: Bench, server: Server, port: int, way: str) -> None:
    rolls = bench.times(_ROLLS)
    crowd = Crowd(port)
    took: list[float] = []
    await crowd.begin()
    for _ in range(rolls):
        await crowd.all_listen()
        began, done = time.monotonic(), _count(server, "rolled")
        server.hang_up()
        await in_thread(wait_until, lambda done=done: _count(server, "rolled") > done, 90)
        took.append(time.monotonic() - began)
    await crowd.all_listen()
    await crowd.end()
    bench.tell(NAME, f"{way}: restarts", f"{rolls}, {min(took):.1f} to {max(took):.1f} s each, 2 processes")
    lost = {outcome: count for outcome, count in crowd.outcomes.items() if outcome != "0"}
    figure = f"{sum(lost.values())} of {crowd.outcomes.total()} failed {lost or ''}".rstrip()
    bench.tell(NAME, f"{way}: requests of {_CLIENTS} clients that retry nothing", figure, "0", not lost)
    others = {str(code): count for code, count in crowd.closes.items() if code != _GOODBYE}
    figure = f"{crowd.closes[_GOODBYE]} closed with {_GOODBYE}, {others or 'none'} otherwise"
    bench.tell(NAME, f"{way}: {_SOCKETS} WebSockets", figure, "none otherwise", not others)
    bench.tell(NAME, f"{way}: WebSockets that could not connect again", crowd.refused, "0", not crowd.refused)
    away = max(crowd.away, default=0.0)
    bench.tell(NAME, f"{way}: longest time without a WebSocket", f"{away * 1000:.0f} ms")


def _count(server: Server, message: str) -> int:
    """Return how often the log has this message."""
    written = server.log.read_bytes()
    return written.count(f'"message":"{message}"'.encode())


class Crowd:
    """Clients that keep their connections and retry nothing, and WebSockets that reconnect after they are closed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.outcomes: Counter[str] = Counter()
        self.closes: Counter[int | None] = Counter()
        self.away: list[float] = []
        self.refused = 0
        self._token = ""
        self._listening = 0
        self._running = True
        self._asking: list[asyncio.Task[None]] = []
        self._listeners: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Log in, connect and start sending requests."""
        self._token = (await Connection(self.port).log_in("admin", ADMIN_PASSWORD)).token
        self._asking = [asyncio.create_task(self._ask(n)) for n in range(_CLIENTS)]
        self._listeners = [asyncio.create_task(self._listen()) for _ in range(_SOCKETS)]

    async def all_listen(self) -> None:
        """Wait until every WebSocket is open. Raises `TimeoutError`."""
        async with asyncio.timeout(60):
            while self._listening < _SOCKETS - self.refused:
                await asyncio.sleep(0.05)

    async def end(self) -> None:
        """Stop after every request has ended."""
        self._running = False
        await asyncio.gather(*self._asking)
        for listener in self._listeners:
            listener.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._listeners)

    async def _ask(self, n: int) -> None:
        connection = Connection(self.port, self._token)
        number = 0
        while self._running:
            number += 1
            if n % 2:
                reply = await connection.call("GET", "/api/v1/auth/profile")
            else:
                body = {"name": f"{self.port}-{n}-{number}"}
                reply = await connection.call("POST", "/api/v1/crm/customers", body)
            self.outcomes[reply.outcome] += 1
            await asyncio.sleep(_PAUSE_SECONDS)
        connection.drop()

    async def _listen(self) -> None:
        address = f"ws://127.0.0.1:{self.port}/api/v1/notifications/ws"
        closed = 0.0
        while True:
            try:
                asked = HTTPRequest(address, headers={"Authorization": f"Bearer {self._token}"}, connect_timeout=30)
                socket = await websocket_connect(asked)
                told = await socket.read_message()
            except Exception as error:
                print(f"      a WebSocket could not connect: {error!r}", flush=True)
                self.refused += 1
                return
            if told is None or json.loads(told)["type"] != "ready":
                self.closes[socket.close_code] += 1
                continue
            if closed:
                self.away.append(time.monotonic() - closed)
            self._listening += 1
            while await socket.read_message() is not None:
                pass
            self._listening -= 1
            closed = time.monotonic()
            self.closes[socket.close_code] += 1
