"""A mixed load for half an hour on one server: memory, handles, errors, drift."""

from __future__ import annotations

import asyncio
import time

from tests.experiments.consumption import processor_seconds
from tests.experiments.fault_injection.clients import Liveness
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "soak"
_SECONDS = 1800
_WARM_SECONDS = 240
_GROWTH_PERCENT = 2.0


async def run(bench: Bench) -> None:
    """Run for 30 minutes with eight workers, and compare memory from the fourth minute on."""
    folder = bench.subfolder("soak")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    server = Server(folder, "soak", free_ports(1)[0], replica_set.uri, access_token_minutes="120")
    seconds = _SECONDS * bench.scale
    step = max(5.0, seconds / 30)
    try:
        await in_thread(server.start)
        with Liveness(server.port) as probe:
            async with Load([server.port], workers=8, pace=0.02) as load:
                load.start()
                began = since = time.monotonic()
                samples = []
                while since - began < seconds:
                    await asyncio.sleep(step)
                    samples.append((time.monotonic() - began, server.rss_mib(), server.handles()))
                    _print(samples[-1], load.quantile_ms(0.99, since), server)
                    since = time.monotonic()
                await load.stop()
                outcomes = load.outcomes()
                bench.tell(NAME, "requests", dict(outcomes), "all 0", set(outcomes) == {"0"})
                warm = next((s for s in samples if s[0] >= min(_WARM_SECONDS, seconds / 4)), samples[0])
                growth = 100 * (samples[-1][1] / warm[1] - 1)
                figure = f"{_text(warm)}, {_text(samples[-1])}: {growth:+.1f} %"
                bench.tell(NAME, "resident memory", figure, "under 2 %", growth < _GROWTH_PERCENT)
                bench.tell(NAME, "handles", f"{warm[2]} -> {samples[-1][2]}", "flat", samples[-1][2] <= warm[2] + 5)
                half = began + seconds / 2
                bench.tell(
                    NAME, "p99", f"{load.quantile_ms(0.99, began)} ms, second half {load.quantile_ms(0.99, half)} ms"
                )
                waits, echo = probe.result()
                bench.tell(
                    NAME,
                    "liveness",
                    f"slowest {waits.slowest_ms()} ms (echo {echo.slowest_ms()} ms), failed {len(waits.failed)}",
                    "none failed",
                    not waits.failed,
                )
                await tell_books(bench, NAME, load, [server], replica_set.uri)
    finally:
        await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _text(sample: tuple[float, float, int]) -> str:
    return f"{sample[1]:.1f} MiB after {sample[0]:.0f} s"


def _print(sample: tuple[float, float, int], p99: int, server: Server) -> None:
    cpu = processor_seconds(server.pid)
    print(f"      {_text(sample)}, {sample[2]} handles, p99 {p99} ms, {cpu:.0f} s of processor time", flush=True)
