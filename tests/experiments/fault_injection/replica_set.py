"""Three members under load: the primary killed, stepping down, frozen; a secondary frozen; no majority left."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.experiments.fault_injection.clients import LIVENESS_MS, Liveness
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import LOW_PRIORITY, ReplicaSet, Server, free_ports, low_priority

NAME = "replica set"
_TOKEN_MINUTES = "120"  # the experiment takes longer than the default lifetime of a token
RESPONSE_SECONDS = 8.5  # eight seconds, and the delay that a loaded client adds


@dataclass
class Phase:
    """One fault: what is done, how long it lasts, and how it is undone."""

    name: str
    act: Callable[[], object]
    hold: float
    undo: Callable[[], object] = lambda: None
    settle: float = 4.0


@dataclass
class Measured:
    """The effect of one fault on the load."""

    fault: str
    began: float
    ended: float
    unavailable: int
    slowest: float
    gap: float


async def run(bench: Bench) -> None:
    """Run two servers on one port and a third with the other driver, under 12 workers, and cause each fault in turn.

    The members and the workers have a low priority: here they share two cores with the servers whose liveness is
    measured, and in operation they run elsewhere.
    """
    folder = bench.subfolder("replica-set")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", nice=LOW_PRIORITY).start)
    shared, other = free_ports(2)
    servers = [
        Server(folder, "direct-a", shared, replica_set.uri, access_token_minutes=_TOKEN_MINUTES),
        Server(folder, "direct-b", shared, replica_set.uri, access_token_minutes=_TOKEN_MINUTES),
        Server(folder, "motor", other, replica_set.uri, mongodb_driver="motor", access_token_minutes=_TOKEN_MINUTES),
    ]
    try:
        for server in servers:
            await in_thread(server.start)
        pair, alone = [server.pid for server in servers[:2]], servers[2].pid
        with Liveness(shared, *pair) as first, Liveness(other, alone) as second, low_priority():
            async with Load([shared, shared, other], workers=12, pace=0.1) as load:
                load.start()
                await asyncio.sleep(8)
                measured = [await _measure(phase, replica_set, load) for phase in _phases(bench, replica_set)]
                await load.stop()
                await in_thread(replica_set.wait_for_health)
                _tell(bench, load, measured)
                for label, probe in (("two servers", first), ("motor", second)):
                    _tell_liveness(bench, label, probe, measured)
                await tell_books(bench, NAME, load, servers, replica_set.uri)
    finally:
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _phases(bench: Bench, replica_set: ReplicaSet) -> list[Phase]:
    victims: list[int] = []

    def kill() -> None:
        victims[:] = [replica_set.wait_for_primary()]
        replica_set.kill(victims[0])

    def kill_majority() -> None:
        primary = replica_set.wait_for_primary()
        victims[:] = [primary, next(port for port in replica_set.ports if port != primary)]
        for port in victims:
            replica_set.kill(port)

    def freeze_primary() -> None:
        victims[:] = [replica_set.wait_for_primary()]
        replica_set.freeze(victims[0])

    def freeze_secondary() -> None:
        primary = replica_set.wait_for_primary()
        victims[:] = [next(port for port in replica_set.ports if port != primary)]
        replica_set.freeze(victims[0])

    def restart() -> None:
        for port in victims:
            replica_set.start_member(port)

    def thaw() -> None:
        replica_set.thaw(victims[0])

    def tune() -> None:
        replica_set.reconfigure(electionTimeoutMillis=2000, heartbeatIntervalMillis=500)

    slow = [Phase("primary killed, election 10 s", kill, 13, restart)] * bench.times(10)
    frozen = [Phase("primary frozen 20 s", freeze_primary, 20, thaw, 8)] * bench.times(10)
    frozen += [Phase("secondary frozen 20 s", freeze_secondary, 20, thaw)] * bench.times(3)
    lost = [Phase("no majority 15 s", kill_majority, 15, restart, 8)] * bench.times(5)
    steps = [Phase("primary steps down", replica_set.step_down, 4, settle=2)] * bench.times(50)
    quick = [Phase("primary killed, election 2 s", kill, 6, restart, 2)] * bench.times(40)
    return [*slow, *frozen, *lost, *steps, Phase("election tuned to 2 s", tune, 1), *quick]


async def _measure(phase: Phase, replica_set: ReplicaSet, load: Load) -> Measured:
    began = time.monotonic()
    await in_thread(phase.act)
    await asyncio.sleep(phase.hold)
    await in_thread(phase.undo)
    await in_thread(replica_set.wait_for_health)
    await asyncio.sleep(phase.settle)
    ended = time.monotonic()
    unavailable = load.outcomes(began)["50300"]
    found = Measured(phase.name, began, ended, unavailable, load.slowest(began), load.longest_gap(began, ended))
    row = {"fault": found.fault, "50300": unavailable, "slowest": found.slowest, "gap": found.gap}
    print("     ", json.dumps({key: round(v, 2) if isinstance(v, float) else v for key, v in row.items()}), flush=True)
    for late in load.later_than(RESPONSE_SECONDS, began):
        where = f"{late.request} at port {late.port}, sent {late.began - began:.1f} s after the fault"
        print(f"      late: {late.seconds:.1f} s, {late.outcome}: {where}", flush=True)
    return found


def _tell(bench: Bench, load: Load, measured: list[Measured]) -> None:
    outcomes = load.outcomes()
    outcomes.subtract({"40902": load.late_writes})
    lost = {outcome: count for outcome, count in outcomes.items() if count and outcome not in ("0", "50300")}
    bench.tell(NAME, "requests", f"{outcomes.total()}, of them 50300: {outcomes['50300']}")
    bench.tell(NAME, "other outcomes", lost or 0, "0", not lost)
    for fault in dict.fromkeys(each.fault for each in measured):
        rows = [each for each in measured if each.fault == fault]
        slowest, gap = max(each.slowest for each in rows), max(each.gap for each in rows)
        bench.tell(
            NAME, f"{fault} ({len(rows)}x), longest response", f"{slowest:.1f} s", "8 s", slowest <= RESPONSE_SECONDS
        )
        bench.tell(NAME, f"{fault} ({len(rows)}x), longest time without success", f"{gap:.1f} s")


def _tell_liveness(bench: Bench, label: str, probe: Liveness, measured: list[Measured]) -> None:
    waits, echo = probe.result()
    late = [each for each in waits.probes if each[1] * 1000 > LIVENESS_MS]
    figure = (
        f"slowest {waits.slowest_running_ms()} ms of its own, in which its threads ran for {waits.ran_ms()} ms; "
        f"{waits.slowest_ms()} ms with the wait for a processor; "
        f"{len(late)} of {len(waits.probes)} over {LIVENESS_MS} ms with it (echo: slowest {echo.slowest_ms()} ms), "
        f"failed {len(waits.failed)}"
    )
    for each in measured:
        found = [probe for probe in late if each.began <= probe[0] <= each.ended]
        if found:
            moments = ", ".join(
                f"{seconds * 1000:.0f} ms ({queued * 1000:.0f} without a processor, threads ran {ran * 1000:.0f}) "
                f"at {began - each.began:.1f} s"
                for began, seconds, queued, ran in found
            )
            print(f"      {each.fault}: {moments}", flush=True)
    holds = not waits.failed and waits.slowest_running_ms() <= LIVENESS_MS
    bench.tell(NAME, f"liveness, {label}", figure, f"{LIVENESS_MS} ms of its own", holds)
