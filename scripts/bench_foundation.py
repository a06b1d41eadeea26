"""The figures of the foundation: start, memory, a guarded route against a bare handler, the cost of route look-up."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import secrets
import socket
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
from urllib.request import Request, urlopen

from config.embedded import acquire
from handlers.route import PUBLIC, Route
from handlers.routing import Router
from scripts.bench_load import load

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "scripts" / "results"
SERVER_CORE, LOAD_CORE = 0, 1
Figures = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the raw result."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of each")
    rounds = 1 if parser.parse_args(arguments).quick else 5
    password = secrets.token_urlsafe(12) + "-aZ7"
    os.environ["TRADEWIND_ADMIN_PASSWORD"] = password
    figures: Figures = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "python": platform.python_version(),
                        "cores": os.cpu_count(), "rounds": rounds}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        print("start …", flush=True)
        figures["start_seconds"] = measure_start(Path(folder), rounds)
        print("requests …", flush=True)
        figures["requests"] = asyncio.run(measure_requests(Path(folder), rounds, password))
    figures["route_lookup_microseconds"] = {count: lookup_cost(count) for count in (50, 1000)}
    RESULTS.mkdir(exist_ok=True)
    result = RESULTS / f"foundation-{figures['when'][:10]}.json"
    result.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    return 0


def measure_start(folder: Path, rounds: int) -> Figures:
    """Seconds from the command to `ready`: a new embedded database, a known one, and one that runs already."""
    new, known, external, memory = [], [], [], []
    for number in range(rounds):
        data = folder / f"start-{number}"
        with server(["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data)}) as first:
            new.append(first.seconds)
        with server(["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data)}) as second:
            known.append(second.seconds)
            memory.append(second.resident_mib())
        embedded = acquire(data)
        with server(
            ["server.py", "--port", "0"], {"TRADEWIND_DATA_DIR": str(data), "TRADEWIND_MONGODB_URI": embedded.uri}
        ) as third:
            external.append(third.seconds)
        embedded.release_and_wait(15)
    return {"embedded_new": summary(new), "embedded_known": summary(known), "external": summary(external),
            "idle_mib": summary(memory)}  # fmt: skip


async def measure_requests(folder: Path, rounds: int, password: str) -> Figures:
    """A guarded route without the database, and a bare Tornado handler, in turns; each alone on its core."""
    os.sched_setaffinity(0, {LOAD_CORE})
    embedded = await asyncio.to_thread(acquire, folder / "requests")
    ports = {"tradewind": free_port(), "tornado": free_port()}
    guarded, bare = [], []
    ours = ["-m", "scripts.bench_servers", "tradewind", str(ports["tradewind"]), embedded.uri, str(folder / "requests")]
    with (
        server(ours, core=SERVER_CORE, port=ports["tradewind"]),
        server(
            ["-m", "scripts.bench_servers", "tornado", str(ports["tornado"])], core=SERVER_CORE, port=ports["tornado"]
        ),
    ):
        token = log_in(ports["tradewind"], password)
        for _ in range(rounds):
            guarded.append(await load(ports["tradewind"], "/api/v1/bench/ping", token))
            bare.append(await load(ports["tornado"], "/bare"))
    await asyncio.to_thread(embedded.release_and_wait, 15)
    ratio = statistics.median(one.per_second for one in guarded) / statistics.median(one.per_second for one in bare)
    return {
        "guarded_per_second": summary([one.per_second for one in guarded]),
        "guarded_p99_ms": summary([one.p99 for one in guarded]),
        "bare_tornado_per_second": summary([one.per_second for one in bare]),
        "bare_tornado_p99_ms": summary([one.p99 for one in bare]),
        "ratio": round(ratio, 2),
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
def server(
    command: Sequence[str], environment: dict[str, str] | None = None, core: int | None = None, port: int | None = None
) -> Iterator[Started]:
    """Run a server until the block is left. Ready is when it says so, or when `port` answers."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, text=True, env={**os.environ, "TRADEWIND_DEMO": "true", **(environment or {})},
        stdout=subprocess.DEVNULL if port else subprocess.PIPE,
    )  # fmt: skip
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    try:
        wait_for(process, port)
        yield Started(process, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait(30)


def wait_for(process: subprocess.Popen[str], port: int | None) -> None:
    """Until the server is ready; raises RuntimeError when it ended."""
    if port is None and process.stdout:
        for line in process.stdout:
            if '"message":"ready"' in line:
                return
    deadline = time.monotonic() + 60
    while port and process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the server did not start")


def log_in(port: int, password: str) -> str:
    """An access token of the administrator."""
    body = json.dumps({"username": "admin", "password": password}).encode()
    request = Request(f"http://127.0.0.1:{port}/api/v1/auth/login", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        token: str = json.load(answer)["data"]["accessToken"]
        return token


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def summary(values: Sequence[float]) -> Figures:
    """Median and range."""
    return {"median": round(statistics.median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}
