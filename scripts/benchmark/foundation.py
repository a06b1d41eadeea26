"""The figures of the foundation: start, memory, the cost of route look-up."""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from config.embedded import acquire
from handlers.route import PUBLIC, Route
from handlers.routing import Router

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "scripts" / "results"
SETTLED_SECONDS = 1.0  # what a start leaves for later is loaded by then
Figures = dict[str, Any]


def foundation(rounds: int) -> Figures:
    """Measure, and write the raw result."""
    os.environ["TRADEWIND_ADMIN_PASSWORD"] = secrets.token_urlsafe(12) + "-aZ7"
    figures: Figures = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rounds": rounds,
    }
    with tempfile.TemporaryDirectory() as folder:
        figures["start_seconds"] = measure_start(Path(folder), rounds)
    figures["route_lookup_microseconds"] = {count: lookup_cost(count) for count in (50, 1000)}
    RESULTS.mkdir(exist_ok=True)
    result = RESULTS / f"foundation-{figures['when'][:10]}.json"
    result.write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def measure_start(folder: Path, rounds: int) -> Figures:
    """Seconds from the command to `ready`: a new embedded database, a known one, and one that runs already."""
    new, known, external, memory = [], [], [], []
    for number in range(rounds):
        data = folder / f"start-{number}"
        with server(["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data)}) as first:
            new.append(first.seconds)
        with server(["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data)}) as second:
            known.append(second.seconds)
            time.sleep(SETTLED_SECONDS)
            memory.append(second.resident_mib())
        embedded = acquire(data)
        with server(
            ["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data), "TRADEWIND_MONGODB_URI": embedded.uri}
        ) as third:
            external.append(third.seconds)
        embedded.release_and_wait(15)
    return {
        "embedded_new": summary(new),
        "embedded_known": summary(known),
        "external": summary(external),
        "idle_mib": summary(memory),
    }


def lookup_cost(count: int) -> float:
    """Microseconds to find the last of `count` routes, with a parameter in its path."""

    async def handler(req: Any) -> None:
        """Never called."""

    router = Router(
        Route("GET", f"/api/v1/module{number}/things/{{id}}", handler, "x", PUBLIC) for number in range(count)
    )
    path = f"/api/v1/module{count - 1}/things/65f0c0ffee65f0c0ffee65f0"
    return round(min(timeit.repeat(lambda: router.match("GET", path), number=20_000, repeat=5)) / 20_000 * 1e6, 2)


class Started:
    """A server process and how long it took to be ready."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self.process = process
        self.seconds = seconds

    def resident_mib(self) -> float:
        """Resident memory now, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found.group(1)) / 1024 if found else 0.0


@contextmanager
def server(command: Sequence[str], environment: dict[str, str]) -> Iterator[Started]:
    """Run a server until the block is left; it is ready when it says so."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        text=True,
        env={**os.environ, "TRADEWIND_DEMO": "true", **environment},
        stdout=subprocess.PIPE,
    )
    try:
        wait_until_ready(process)
        yield Started(process, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait(30)


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    """Until the server is ready; raises RuntimeError when it ended."""
    for line in process.stdout or ():
        if '"message":"ready"' in line:
            return
    raise RuntimeError("the server did not start")


def summary(values: Sequence[float]) -> Figures:
    """Median and range."""
    return {"median": round(statistics.median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}
