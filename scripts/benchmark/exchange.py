"""Exchange of many customers: what a large import and export cost the process that does them.

`python -m scripts.benchmark.exchange [--rows N] [--folder DIR] [STEP …]` starts a service of its own over an embedded
database, imports a table of N new customers (200,000), exports all as CSV and XLSX, imports both exports again, and tries
a table of N further customers. For each step: its seconds, the event loop's lag, how much the process grew, and how
often its progress was seen to move. Lag is how late a timer of five milliseconds is, measured inside the process: the
longest, what is left of that without the time in which other processes had the core (`own`), and the 99th hundredth;
`idle_lag_ms` is the longest of an idle loop in a process beside it, which is the machine's. With `--folder` the data
stays there, so that the steps can be run one at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import uvloop

from config.settings import Settings
from plugins.api import Menu, Message, Plugin, Request, Service, number, obj, route
from plugins.registry import load_plugins
from server import serve, start_database

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "scripts" / "results"
API = "/api/v1/crm/customers"
METER = "/api/v1/bench/meter"
BOUNDARY = "bench-exchange"
PASSWORD = secrets.token_urlsafe(12) + "-aZ7"
TICK_SECONDS = 0.005
PAGE = os.sysconf("SC_PAGE_SIZE")
LAG_LIMIT_MS, GROWTH_LIMIT_MIB = 50.0, 64.0
SURNAMES, PLACES = "王李张刘陈杨黄赵吴周", ("上海", "北京", "深圳", "成都", "杭州", "Berlin", "Lyon", "Austin")
Figures = dict[str, Any]
STEPS = ("import_new", "export_csv", "export_xlsx", "import_again", "import_workbook", "dry_run")


class Meter:
    """How late the loop is and how large the process, since it was last asked."""

    def __init__(self) -> None:
        self._lags: list[float] = []
        self._own = self._largest = 0.0

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            started, queued = time.perf_counter(), waited_for_a_core()
            await asyncio.sleep(TICK_SECONDS)
            lag = (time.perf_counter() - started - TICK_SECONDS) * 1000
            self._lags.append(lag)
            self._own = max(self._own, lag - (waited_for_a_core() - queued))
            self._largest = max(self._largest, resident_mib())

    def take(self) -> Figures:
        """The figures, and begin anew."""
        lags, own, largest = sorted(self._lags) or [0.0], self._own, self._largest
        self._lags, self._own, self._largest = [], 0.0, 0.0
        late = {"lag_ms": lags[-1], "own_lag_ms": own, "lag_p99_ms": lags[len(lags) * 99 // 100]}
        return {**late, "largest_mib": largest, "resident_mib": resident_mib()}


METER_NOW = Meter()


async def be_idle() -> None:
    """A loop with nothing to do: for each line that comes in, the longest lag since the last."""
    meter = Meter()
    task = asyncio.create_task(meter.run())
    while await asyncio.to_thread(sys.stdin.readline):
        print(meter.take()["lag_ms"], flush=True)
    task.cancel()


class IdleLoop:
    """An idle loop in a process of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "scripts.benchmark.exchange", "idle"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._ask, self._answers = self._process.stdin, self._process.stdout

    def take(self) -> float:
        """Its longest lag in milliseconds since it was last asked."""
        self._ask.write("\n")
        self._ask.flush()
        return float(self._answers.readline())

    def end(self) -> None:
        """End it."""
        self._process.communicate()


@asynccontextmanager
async def _measure(_service: Service) -> AsyncIterator[None]:
    task = asyncio.create_task(METER_NOW.run())
    yield
    task.cancel()


async def _take(_req: Request) -> Figures:
    return METER_NOW.take()


_FIGURE = number(nullable=False)
FIGURES = ("lag_ms", "own_lag_ms", "lag_p99_ms", "largest_mib", "resident_mib")
BENCH = Plugin(
    name="bench",
    title=Message("基准", "Bench"),
    requires=("rbac", "auth"),
    start=_measure,
    routes=(
        route(f"GET {METER}", _take, summary="Read the meter", access="bench:meter:list", tag="bench",
              returns=obj("BenchMeter", dict.fromkeys(FIGURES, _FIGURE), nullable=False)),
    ),
    menus=(Menu("bench", Message("基准", "Bench"), resource="bench:meter"),),
)  # fmt: skip


def waited_for_a_core() -> float:
    """Milliseconds that this thread was ready to run and another had the core (proc(5), schedstat)."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e6


def resident_mib() -> float:
    """What the process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / (1 << 20)


@contextmanager
def service(data: Path, password: str = PASSWORD) -> Iterator[int]:
    """A service with a meter in it, as a process of its own; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    settings = {"DATA_DIR": str(data), "ADMIN_PASSWORD": password, "RATE_LIMITS": "off",
                "JWT_SECRET": secrets.token_hex(32)}  # fmt: skip
    environment = {**os.environ, **{f"TRADEWIND_{name}": value for name, value in settings.items()}}
    command = [sys.executable, "-m", "scripts.benchmark.exchange", "serve", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            if process.poll() is not None:
                raise RuntimeError("the service did not start")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)


class Caller:
    """The service as one person calls it."""

    def __init__(self, port: int, username: str, password: str) -> None:
        self._base, self._token = f"http://127.0.0.1:{port}", ""
        given = {"username": username, "password": password}
        self._token = self.call("POST", "/api/v1/auth/login", given)["accessToken"]

    def open(self, method: str, path: str, data: bytes | None = None, type: str = "application/json") -> Any:
        """The answer to a request, to be read."""
        headers = {"Content-Type": type} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        return urlopen(HttpRequest(self._base + path, data, headers, method=method), timeout=600)

    def call(self, method: str, path: str, body: Figures | None = None) -> Any:
        """The data of the envelope."""
        with self.open(method, path, None if body is None else json.dumps(body).encode()) as answer:
            return json.load(answer)["data"]

    def import_table(self, path: Path, *, dry_run: bool = False) -> Figures:
        """Import a table and wait for its end: the counts, and how often they were seen to move."""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="dry_run"\r\n\r\n{str(dry_run).lower()}\r\n'
        head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n\r\n'
        body = head.encode() + path.read_bytes() + f"\r\n--{BOUNDARY}--\r\n".encode()
        with self.open("POST", f"{API}/import", body, f"multipart/form-data; boundary={BOUNDARY}") as answer:
            report = json.load(answer)["data"]
        moved = {report["done"]}
        while report["status"] == "running":
            time.sleep(0.5)
            report = self.call("GET", f"{API}/imports/{report['id']}")
            moved.add(report["done"])
        counts = {name: report[name] for name in ("status", "total", "created", "updated", "unchanged", "failed")}
        return counts | {"progress_seen": len(moved)}

    def export_table(self, path: Path) -> Figures:
        """Export all customers in the format that the file's name says."""
        size = pieces = 0
        with self.open("GET", f"{API}/export?format={path.suffix[1:]}") as answer, path.open("wb") as file:
            while piece := answer.read1(1 << 20):
                size, pieces = size + file.write(piece), pieces + 1
        return {"mib": round(size / (1 << 20), 1), "progress_seen": pieces}


class Bench:
    """The steps, and what each of them cost."""

    def __init__(self, caller: Caller, idle: IdleLoop, folder: Path, rows: int) -> None:
        self._caller, self._idle, self._folder, self._rows = caller, idle, folder, rows
        self.figures: Figures = {}

    def warm_up(self) -> None:
        """What the first use of the code costs is not what many rows cost."""
        self._caller.import_table(table(self._folder / "warm.csv", 2000, "W"))
        for name in ("warm.csv", "warm.xlsx"):
            self._caller.export_table(self._folder / name)

    def import_new(self) -> None:
        """Every row makes a customer."""
        path = table(self._folder / "new.csv", self._rows, "C")
        self._measured("import", lambda: self._caller.import_table(path))

    def export_csv(self) -> None:
        """All customers as CSV."""
        self._measured("export csv", lambda: self._caller.export_table(self._folder / "export.csv"))

    def export_xlsx(self) -> None:
        """All customers as a workbook."""
        self._measured("export xlsx", lambda: self._caller.export_table(self._folder / "export.xlsx"))

    def import_again(self) -> None:
        """The CSV export, as it is."""
        self._measured("import again", lambda: self._caller.import_table(self._folder / "export.csv"))

    def import_workbook(self) -> None:
        """The XLSX export, as it is."""
        self._measured("import xlsx", lambda: self._caller.import_table(self._folder / "export.xlsx"))

    def dry_run(self) -> None:
        """Every row would make a customer."""
        path = table(self._folder / "further.csv", self._rows, "D")
        self._measured("dry run", lambda: self._caller.import_table(path, dry_run=True))

    def _measured(self, name: str, work: Callable[[], Figures]) -> None:
        before = self._caller.call("GET", METER)["resident_mib"]
        self._idle.take()
        started = time.perf_counter()
        seen = work()
        seconds = time.perf_counter() - started
        meter = self._caller.call("GET", METER)
        lags = {name: meter[name] for name in ("lag_ms", "own_lag_ms", "lag_p99_ms")}
        figures = {
            "seconds": seconds,
            **lags,
            "idle_lag_ms": self._idle.take(),
            "growth_mib": meter["largest_mib"] - before,
        }
        self.figures[name] = {key: round(value, 1) for key, value in figures.items()} | seen
        print(name, json.dumps(self.figures[name]), flush=True)


def table(path: Path, rows: int, prefix: str) -> Path:
    """A table of customers as a company has them, the same at every run."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "code", "industry", "level", "phone", "email", "address", "tags", "remark",
                         "location.lng", "location.lat"])  # fmt: skip
        for n in range(rows):
            place = draw.choice(PLACES)
            writer.writerow([
                f"{place}{draw.choice(SURNAMES)}氏第{n}贸易有限公司", f"{prefix}-{n:06}", "manufacturing", draw.choice("ABC"),
                f"021-{draw.randrange(10**8):08}", f"office{n}@example.com", f"{place} 南京路 {n} 号", "vip;north",
                "made for measuring", round(draw.uniform(100, 122), 5), round(draw.uniform(22, 40), 5),
            ])  # fmt: skip
    return path


def keep(name: str, figures: Figures) -> None:
    """Write the raw result beside those of the other measurements."""
    now = datetime.now(UTC)
    RESULTS.mkdir(exist_ok=True)
    whole = {"when": now.isoformat(timespec="seconds"), "cores": os.cpu_count(), **figures}
    (RESULTS / f"{name}-{now.date()}.json").write_text(json.dumps(whole, indent=1) + "\n")


def password_of(folder: Path) -> str:
    """The administrator's, the same at each run over the folder's data."""
    file = folder / "password"
    if not file.exists():
        file.write_text(PASSWORD)
    return file.read_text()


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 where a limit was passed."""
    parser = argparse.ArgumentParser(prog="python -m scripts.benchmark.exchange", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="where the data stays; a folder that goes away when left out")
    parser.add_argument("steps", nargs="*", help=f"{', '.join(STEPS)}; all of them when left out")
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        password = password_of(folder)
        port = stack.enter_context(service(folder / "data", password))
        idle = IdleLoop()
        stack.callback(idle.end)
        bench = Bench(Caller(port, "admin", password), idle, folder, given.rows)
        earlier = folder / "figures.json"
        measured = json.loads(earlier.read_text()) if earlier.exists() else {}
        bench.warm_up()
        for step in given.steps or STEPS:
            getattr(bench, step)()
        measured |= bench.figures
        earlier.write_text(json.dumps(measured))
    keep("exchange", {"rows": given.rows, **measured})
    steps = bench.figures.values()
    return int(any(one["own_lag_ms"] > LAG_LIMIT_MS or one["growth_mib"] > GROWTH_LIMIT_MIB for one in steps))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        port: dict[str, Any] = {"port": int(sys.argv[2])}
        settings = Settings(**port)
        uvloop.run(serve(settings, [*load_plugins(()), BENCH], start_database(settings)))
    elif sys.argv[1:2] == ["idle"]:
        uvloop.run(be_idle())
    else:
        sys.exit(main(sys.argv[1:]))
