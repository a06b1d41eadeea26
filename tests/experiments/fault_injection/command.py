"""`python -m tests.experiments.fault_injection`: selects the experiments to run, and writes their figures to a file."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path

from scripts.memory import folder_in_memory
from tests.experiments.fault_injection import (
    backup,
    clock,
    connections,
    contention,
    disk,
    failpoints,
    frozen,
    instances,
    memory,
    proxy,
    replica_set,
    rolling,
    soak,
    supervision,
    twins,
    upgrade,
    versions,
)
from tests.experiments.fault_injection.experiment import Bench
from tests.support.replica_sets import ROOT

RESULTS = ROOT / "tests" / "experiments" / "results" / "faults.json"
_QUICK_SCALE = 0.1
_ROOM_BYTES = 8 << 30

EXPERIMENTS: dict[str, Callable[[Bench], Coroutine[None, None, None]]] = {
    "replica-set": replica_set.run,
    "instances": instances.run,
    "frozen": frozen.run,
    "rolling": rolling.run,
    "supervision": supervision.run,
    "disk": disk.run,
    "memory": memory.run,
    "failpoints": failpoints.run,
    "proxy": proxy.run,
    "twins": twins.run,
    "contention": contention.run,
    "connections": connections.run,
    "clock": clock.run,
    "upgrade": upgrade.run,
    "versions": versions.run,
    "soak": soak.run,
    "backup": backup.run,
}


def main(arguments: Sequence[str]) -> int:
    """Run experiments one after the other, and return 0 if every figure is as expected, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.experiments.fault_injection",
        description="Break things under load, on this machine only, and count what clients noticed. "
        f"Experiments: {', '.join(EXPERIMENTS)}. All of them take two to three hours.",
    )
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help="which ones; all of them without any")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything; the result is not kept")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="kills, http, drivers, old, disk"
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.experiments if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"unknown experiment: {', '.join(unknown)}")
    names = given.experiments or list(EXPERIMENTS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes it started are ended too
    options = dict(option.partition("=")[::2] for option in given.option)
    failed = 0
    with tempfile.TemporaryDirectory(
        prefix="tradewind-faults-", dir=folder_in_memory(_ROOM_BYTES), ignore_cleanup_errors=True
    ) as folder:
        for name in names:
            bench = Bench(Path(folder), _QUICK_SCALE if given.quick else 1.0, options)
            failed += not _run(name, bench)
            if not given.quick:
                _keep(name, bench)
    return int(bool(failed))


def _run(name: str, bench: Bench) -> bool:
    """Run one experiment, and return whether every figure is as expected. An experiment that crashes has failed."""
    print(f"\n{name}", flush=True)
    if name == "disk" and not disk.is_possible():
        bench.tell(disk.NAME, "run", "left out: only root may mount a small disk")
        return True
    if name == "memory" and not memory.is_possible():
        bench.tell(memory.NAME, "run", "left out: only root may limit the memory of processes")
        return True
    try:
        asyncio.run(EXPERIMENTS[name](bench))
    except (OSError, RuntimeError, TimeoutError, subprocess.SubprocessError) as error:
        bench.tell(name, "run", f"ended by {type(error).__name__}: {error}"[:500], "to its end", False)
    return all(line.holds is not False for line in bench.lines)


def _keep(name: str, bench: Bench) -> None:
    """Write the lines to the file of results, in place of earlier ones of this experiment."""
    now = datetime.now(UTC)
    kept = json.loads(RESULTS.read_text())
    kept["machine"] = {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}
    kept["experiments"][name] = {
        "day": f"{now:%Y-%m-%d}",
        "when": f"{now:%H:%M:%S}Z",
        "commit": _commit(),
        "lines": bench.rows(),
    }
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    from tests.experiments.reliability import write_reliability  # imported late, because it imports this module

    write_reliability()


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
