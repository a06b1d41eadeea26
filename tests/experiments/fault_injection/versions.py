"""The oldest and the current version on one database, under load, while the current one migrates the documents."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter

from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.experiments.fault_injection.upgrade import check_out
from tests.experiments.fault_injection.verification import verify
from tests.support.replica_sets import ROOT, ReplicaSet, Server, free_ports

NAME = "versions"
_OLDEST = "e2b9a96"  # the first commit that can serve requests
_SECONDS = 30


async def run(bench: Bench) -> None:
    """Use the old version with four workers; start the current one beside it with four more; then stop the old one."""
    folder = bench.subfolder("versions")
    source = await in_thread(check_out, folder / "old", bench.options.get("old", _OLDEST))
    if source is None:
        bench.tell(NAME, "run", "left out: this checkout has no history")
        return
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    first, second = free_ports(2)
    old = Server(folder, "old", first, replica_set.uri, source=source, demo="true")
    new = Server(folder, "new", second, replica_set.uri, demo="true")
    seconds = max(5.0, _SECONDS * bench.scale)
    try:
        await in_thread(old.start)
        async with Load([first], workers=4, pace=0.05) as before:
            before.start()
            await asyncio.sleep(seconds / 2)
            alone = before.outcomes()
            await in_thread(new.start)
            bench.tell(NAME, "today's version is ready beside the old one after", f"{new.ready_after:.1f} s")
            async with Load([second], workers=4, pace=0.05) as after:
                after.start()
                await asyncio.sleep(seconds)
                await before.stop()
                await in_thread(old.stop)
                await asyncio.sleep(seconds / 2)
                await after.stop()
                _tell_outcomes(bench, "the old version, alone", alone)
                _tell_outcomes(bench, "the old version, beside today's", before.outcomes() - alone)
                _tell_outcomes(bench, "today's version", after.outcomes())
                verdict = await in_thread(verify, before, replica_set.uri)
                figure = f"{verdict.acknowledged} acknowledged, {len(verdict.faults)} lost, doubled or wrong"
                bench.tell(NAME, "acknowledged writes of the old version", figure, "0 lost", not verdict.faults)
                seconds, code = await in_thread(_look_again, new)
                figure = f"{seconds:.1f} s, exit code {code}"
                bench.tell(NAME, "`tradewind migrate --again`, when the old one has ended", figure, "0", code == 0)
                await tell_books(bench, NAME, after, [new], replica_set.uri)
    finally:
        for server in (old, new):
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _look_again(server: Server) -> tuple[float, int]:
    """Migrate what the old version has written since the first migration, and return the seconds and the exit code."""
    began = time.monotonic()
    command = [sys.executable, "-m", "plugins.commands", "migrate", "--again", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=server.env, capture_output=True, check=False)
    return time.monotonic() - began, done.returncode


def _tell_outcomes(bench: Bench, what: str, outcomes: Counter[str]) -> None:
    lost = {outcome: count for outcome, count in outcomes.items() if outcome != "0"}
    figure = f"{outcomes.total()} requests, refused or failed: {lost or 0}"
    bench.tell(NAME, what, figure, "none refused", not lost)
