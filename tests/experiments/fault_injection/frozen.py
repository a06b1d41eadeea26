"""One of two servers is frozen for a minute under load, like a suspended machine, and resumes: what clients notice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "server frozen"
_FROZEN_SECONDS = 60
_BACK_SECONDS = 1.0


async def run(bench: Bench) -> None:
    """Freeze one server for a minute while 12 workers use both; then look at both for ten seconds."""
    folder = bench.subfolder("frozen")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    frozen, other = servers = [Server(folder, f"two-{port}", port, replica_set.uri) for port in free_ports(2)]
    try:
        for server in servers:
            await in_thread(server.start)
        async with Load([server.port for server in servers], workers=12, pace=0.02) as load:
            load.start()
            await asyncio.sleep(5)
            began, seconds = time.monotonic(), bench.times(_FROZEN_SECONDS)
            frozen.freeze()
            await asyncio.sleep(seconds)
            _tell(bench, f"the other one, frozen for {seconds} s", load.outcomes(began, other.port))
            frozen.thaw()
            back, began = await _seconds_until_ready(frozen), time.monotonic()
            figure = f"ready after {back:.2f} s"
            bench.tell(NAME, "the one that was frozen", figure, f"within {_BACK_SECONDS:.0f} s", back <= _BACK_SECONDS)
            await asyncio.sleep(10)
            for server, which in ((frozen, "the one that was frozen"), (other, "the other one")):
                _tell(bench, f"{which}, afterwards", load.outcomes(began, server.port))
            await load.stop()
            await tell_books(bench, NAME, load, servers, replica_set.uri)
    finally:
        frozen.thaw()
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _tell(bench: Bench, which: str, outcomes: Counter[str]) -> None:
    bench.tell(NAME, which, dict(outcomes), "all 0", set(outcomes) == {"0"})


async def _seconds_until_ready(server: Server) -> float:
    began = time.monotonic()
    while (await Connection(server.port).call("GET", "/api/health/ready", seconds=2)).outcome != "0":
        if time.monotonic() - began > 30:
            raise TimeoutError(f"{server.name} does not go on")
        await asyncio.sleep(0.01)
    return time.monotonic() - began
