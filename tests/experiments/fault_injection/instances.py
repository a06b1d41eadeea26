"""SIGKILL of one of two servers every few seconds under load: how soon it is back, and what the other one notices."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from functools import partial

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "instance killed"
_EVERY_SECONDS = 5.0
_BACK_SECONDS = 1.0
_TOKEN_MINUTES = "120"  # with 360 kills it takes more than half an hour
_MOST_WITHOUT_LOAD = 15


async def run(bench: Bench) -> None:
    """Kill the process of one of two servers every five seconds, in turn, under 16 workers; then without load.

    Each server is one process under a supervisor, as `--processes 1` starts it. At the end one runs without a supervisor.
    There are 15 kills, or as many as `--option kills=` says: 360 of them take half an hour.
    """
    folder = bench.subfolder("instances")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    servers = [
        Server(folder, f"two-{port}", port, replica_set.uri, access_token_minutes=_TOKEN_MINUTES)
        for port in free_ports(2)
    ]
    kills = bench.times(int(bench.options.get("kills", "15")))
    alone_kills = min(kills, _MOST_WITHOUT_LOAD)
    back: list[float] = []
    noticed: list[str] = []
    try:
        for server in servers:
            server.arguments = ("--processes", "1")
            await in_thread(server.start)
        async with Load([server.port for server in servers], workers=16, pace=0.02) as load:
            load.start()
            await asyncio.sleep(5)
            for turn in range(kills):
                victim, other = servers[turn % 2], servers[1 - turn % 2]
                began = time.monotonic()
                back.append(await _kill(victim))
                await asyncio.sleep(max(0.5, _EVERY_SECONDS - (time.monotonic() - began)))
                noticed += [outcome for outcome in load.outcomes(began, other.port).elements() if outcome != "0"]
            await load.stop()
            _tell_back(bench, "back after, under load", back)
            rested = [await _kill_stable(servers[turn % 2]) for turn in range(alone_kills)]
            _tell_back(bench, "back after, without load", rested)
            responses = sum(load.outcomes(port=server.port).total() for server in servers)
            failures = f"{len(noticed)} of {responses} {sorted(set(noticed))}"
            bench.tell(NAME, "failures at the other instance", failures, "0", not noticed)
            await tell_books(bench, NAME, load, servers, replica_set.uri)
        alone = servers[0]
        await in_thread(alone.stop)
        alone.arguments = ()
        await in_thread(alone.start)
        back = [await _kill_stable(alone, _kill_and_start) for _ in range(alone_kills)]
        # without a supervisor, this is a whole start and mostly imports, which `--processes` saves
        bench.tell(NAME, "back after, without load or supervisor", _figure(back))
    finally:
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _tell_back(bench: Bench, what: str, back: list[float]) -> None:
    bench.tell(NAME, what, _figure(back), "under 1 s", max(back) < _BACK_SECONDS)


def _figure(back: list[float]) -> str:
    return f"median {statistics.median(back):.2f} s, {min(back):.2f} to {max(back):.2f} s, {len(back)} kills"


async def _kill_stable(server: Server, kill: Callable[[Server], None] = Server.kill_serving) -> float:
    """Kill the process after a while without faults: a supervisor delays the restart of one that ended early."""
    await asyncio.sleep(_EVERY_SECONDS)
    return await _kill(server, kill)


def _kill_and_start(server: Server) -> None:
    server.kill()
    server.spawn()


async def _kill(server: Server, kill: Callable[[Server], None] = Server.kill_serving) -> float:
    """Kill the process of a server with `kill`, and return the seconds until it is ready again."""
    killed = time.monotonic()
    await in_thread(partial(kill, server))
    connection = Connection(server.port)
    while (await connection.call("GET", "/api/health/ready", seconds=2)).outcome != "0":
        if time.monotonic() - killed > 60:
            raise TimeoutError(f"{server.name} does not come back")
        await asyncio.sleep(0.01)
    connection.drop()
    return time.monotonic() - killed
