"""SIGTERM of servers that share a port, one after the other, under clients that retry nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from pymongo import MongoClient

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports

NAME = "rolling restart"
_CLIENTS = 16
_PAUSE_SECONDS = 0.004
_MIGRATE = "/proc/sys/net/ipv4/tcp_migrate_req"


async def run(bench: Bench) -> None:
    """Stop and restart two servers in turn, 12 times, under 48 clients: kept connections, new connections, writes."""
    if "inside" not in bench.options and os.geteuid() == 0:
        return await _run_in_namespace(bench)
    migrates = _migrates()
    folder = bench.subfolder("rolling")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    port = free_ports(1)[0]
    http = bench.options.get("http", "fast")
    servers = [Server(folder, f"roll-{n}", port, replica_set.uri, http=http) for n in range(2)]
    clients = Clients(port)
    stops = []
    try:
        for server in servers:
            await in_thread(server.start)
        await clients.start()
        await asyncio.sleep(3)
        for turn in range(bench.times(12)):
            began = time.monotonic()
            await in_thread(servers[turn % 2].stop)
            stops.append(time.monotonic() - began)
            await servers[turn % 2].start_again()
            await asyncio.sleep(1)
        await clients.stop()
        bench.tell(NAME, "stops", f"{len(stops)}, {min(stops):.1f} to {max(stops):.1f} s each")
        suffix = "tcp_migrate_req=1" if migrates else "tcp_migrate_req=0"
        for kind, outcomes in clients.outcomes.items():
            lost = {outcome: count for outcome, count in outcomes.items() if outcome != "0"}
            figure = f"{sum(lost.values())} of {outcomes.total()} failed {lost or ''}"
            bench.tell(NAME, f"{kind}, {suffix}", figure, "0", not lost)
        for server in servers:
            await in_thread(server.stop)
        _tell_stored(bench, clients, replica_set.uri)
    finally:
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)
    return None


async def _run_in_namespace(bench: Bench) -> None:
    """Run the experiment in a network namespace, where the kernel may hand waiting connections to another listener."""
    command = [sys.executable, "-m", "tests.experiments.fault_injection.rolling", str(bench.folder), str(bench.scale)]
    script = f'ip link set lo up 2>/dev/null; [ ! -e {_MIGRATE} ] || echo 1 >{_MIGRATE}; exec "$@"'
    process = await asyncio.create_subprocess_exec(
        "unshare", "--net", "sh", "-c", script, "sh", *command, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    async for line in process.stdout:
        _relay(bench, line.decode())
    if await process.wait() != 0:
        bench.tell(NAME, "run", f"ended with {process.returncode}", "0", False)


def _relay(bench: Bench, line: str) -> None:
    parts = line.rstrip("\n").split("\x1f")
    if len(parts) == 4:
        bench.tell(NAME, parts[0], parts[1], parts[2], {"True": True, "False": False}.get(parts[3]))
    else:
        print(line, end="", flush=True)


def _migrates() -> bool:
    try:
        with open(_MIGRATE, encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


class Clients:
    """Clients that read their profile or create customers, and never retry."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.outcomes: dict[str, Counter[str]] = {
            kind: Counter() for kind in ("kept connections", "new connections", "writes")
        }
        self.acknowledged: list[str] = []
        self._running = True
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Log in and start the clients."""
        token = (await Connection(self.port).log_in("admin", ADMIN_PASSWORD)).token
        kinds: dict[str, Callable[[Connection, int, int], Awaitable[str]]] = {
            "kept connections": self._read,
            "new connections": self._read,
            "writes": self._write,
        }
        for kind, ask in kinds.items():
            for n in range(_CLIENTS):
                connection = Connection(self.port, token, keep_alive=kind != "new connections")
                self._tasks.append(asyncio.create_task(self._run(kind, connection, ask, n)))

    async def stop(self) -> None:
        """Stop after every request has ended."""
        self._running = False
        await asyncio.gather(*self._tasks)

    async def _run(
        self, kind: str, connection: Connection, ask: Callable[[Connection, int, int], Awaitable[str]], n: int
    ) -> None:
        number = 0
        while self._running:
            number += 1
            self.outcomes[kind][await ask(connection, n, number)] += 1
            await asyncio.sleep(_PAUSE_SECONDS)
        connection.drop()

    async def _read(self, connection: Connection, n: int, number: int) -> str:
        return (await connection.call("GET", "/api/v1/auth/profile")).outcome

    async def _write(self, connection: Connection, n: int, number: int) -> str:
        code = f"roll-{n}-{number}"
        body = {"name": code, "code": code}
        reply = await connection.call("POST", "/api/v1/crm/customers", body, {"X-Request-ID": code})
        if reply.outcome == "0":
            self.acknowledged.append(code)
        return reply.outcome


def _tell_stored(bench: Bench, clients: Clients, uri: str) -> None:
    rolled = {"$regex": "^roll-"}
    with MongoClient[dict[str, Any]](uri) as mongo:
        stored = Counter(row["code"] for row in mongo.tradewind.crm_customers.find({"code": rolled}, {"code": 1}))
        logs = mongo.tradewind.core_operation_logs.find({"request_id": rolled}, {"request_id": 1})
        logged = {row["request_id"] for row in logs}
    lost = [code for code in clients.acknowledged if not stored[code]]
    doubled = [code for code, count in stored.items() if count > 1]
    silent = set(stored) - set(clients.acknowledged)
    unlogged = set(clients.acknowledged) - logged
    bench.tell(
        NAME,
        "acknowledged writes",
        f"{len(clients.acknowledged)}, lost {len(lost)}, doubled {len(doubled)}",
        "0 lost, 0 doubled",
        not lost and not doubled,
    )
    bench.tell(NAME, "writes stored without a response", len(silent), "0", not silent)
    bench.tell(NAME, "acknowledged writes missing in the operation log", len(unlogged), "0", not unlogged)


if __name__ == "__main__":
    from pathlib import Path

    inside = Bench(Path(sys.argv[1]), float(sys.argv[2]), {"inside": "yes"})
    inside.tell = lambda experiment, measure, figure, expected="", holds=None: print(  # type: ignore[method-assign]  # of this one run
        measure, figure, expected, holds, sep="\x1f", flush=True
    )
    asyncio.run(run(inside))
