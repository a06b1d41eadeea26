"""The dashboards of a large company: each one beside its own pipelines alone, and under many clients.

MongoDB's profiler records what one request of a dashboard sends to the database. The driver alone then sends the same
again: as many aggregations, one after the other, on the same database in the same minute. Requests come one at a
time, so that each of them is computed separately.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database

from config.embedded import acquire
from tests.experiments.benchmark.company import make_company
from tests.experiments.benchmark.compare import CACHE, OTHER_CORE, Server, about, tradewind
from tests.experiments.benchmark.load import load
from tests.experiments.benchmark.report import RESULTS
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.works import Call
from tests.experiments.benchmark.world import Api, new_secret, remember
from tests.experiments.consumption import processor_seconds

CLIENTS = 32
COLD_TRIES = 5
LEAST_PAIRS = 5
AIM_RATIO, AIM_TIMES = 1.1, 5.0
# the collections of which dashboards are computed, with the departments' names; other commands do not count
_PREFIXES = (
    "crm_",
    "finance_",
    "hrm_employees",
    "hrm_attendance_days",
    "inventory_",
    "approval_instances",
    "rbac_departments",
)
_OF_THE_SESSION = (
    "lsid",
    "$clusterTime",
    "$db",
    "$readPreference",
    "txnNumber",
    "maxTimeMS",
    "comment",
    "autocommit",
    "startTransaction",
    "readConcern",
)
Figures = dict[str, Any]
Command = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How many records the data set has."""

    customers: int = 200_000
    payments: int = 1_000_000


def charts() -> dict[str, str]:
    """Return the paths to measure by name: the thirteen dashboards with their defaults, and three with other ranges."""
    today = datetime.now(UTC).date()
    month, year = (f"date_from={(today - timedelta(days=days)).isoformat()}" for days in (30, 365))
    names = (
        "overview",
        "sales-trend",
        "customer-distribution",
        "opportunity-funnel",
        "finance-summary",
        "contract-trend",
        "sales-ranking",
        "lead-source-distribution",
        "employee-distribution",
        "headcount-trend",
        "attendance-summary",
        "stock-value-by-warehouse",
        "sales-vs-purchase",
    )
    ranges = {
        "finance-summary, a year": f"finance-summary?{year}",
        "sales-ranking, 30 days": f"sales-ranking?{month}",
        "attendance-summary, 30 days": f"attendance-summary?{month}",
    }
    return {name: f"/api/dashboard/{path}" for name, path in ({name: name for name in names} | ranges).items()}


def dashboards(folder: Path | None, sizes: Sizes, seconds: float, only: Sequence[str], seed_only: bool) -> Figures:
    """Measure each dashboard for `seconds`; the data set is made in the first run and kept in `folder`."""
    folder = folder or CACHE / f"dashboards-{sizes.payments}"
    for needed in (CACHE, folder):
        needed.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {OTHER_CORE})  # for mongod and the client, so that the server has its core to itself
    embedded = acquire(folder)
    try:
        with MongoClient[Figures](embedded.uri, tz_aware=True) as client:
            world = _the_company(folder, embedded.uri, sizes, client)
            if seed_only:
                return {}
            with tradewind("tradewind", folder, world | {"uri": embedded.uri}) as server:
                return _measured(server, client, world, sizes, seconds, only)
    finally:
        embedded.release_and_wait(15)


def _the_company(folder: Path, uri: str, sizes: Sizes, client: MongoClient[Figures]) -> Figures:
    path = folder / "company.json"
    if path.exists():
        world: Figures = json.loads(path.read_text())
        if (world["customers"], world["payments"]) == (sizes.customers, sizes.payments):
            return world
    client.drop_database(DATABASE)
    started = time.monotonic()
    print(f"making {sizes.customers:,} customers and {sizes.payments:,} payments …", flush=True)
    world = {"uri": uri, "secret": new_secret(), "admin_password": secrets.token_urlsafe(12) + "-aZ7"}
    with tradewind("tradewind", folder, world) as server:
        world |= make_company(server.port, uri, world["admin_password"], sizes.customers, sizes.payments)
    remember(path, world)
    print(f"made in {time.monotonic() - started:.0f} s", flush=True)
    return world


def _measured(
    server: Server, client: MongoClient[Figures], world: Figures, sizes: Sizes, seconds: float, only: Sequence[str]
) -> Figures:
    database = client[DATABASE]
    token = Api(server.port).log_in("admin", world["admin_password"])
    asked = {name: path for name, path in charts().items() if not only or name.partition(",")[0] in only}
    documents = {name: database[name].estimated_document_count() for name in sorted(_collections(database))}
    figures = {**about(1, seconds, sizes.customers), "payments": sizes.payments, "documents": documents}
    figures["dashboards"] = {
        name: beside_its_pipelines(server, database, path, token, seconds) for name, path in asked.items()
    }
    figures["clients"] = {
        name: _many_clients(server, database, path, token, seconds) for name, path in asked.items() if "," not in name
    }
    return figures


def _collections(database: Database[Figures]) -> list[str]:
    return [name for name in database.list_collection_names() if name.startswith(_PREFIXES)]


def beside_its_pipelines(
    server: Server, database: Database[Figures], path: str, token: str, seconds: float, pairs: int = LEAST_PAIRS
) -> Figures:
    """Request `path` and send its pipelines alone, in turn, at least `pairs` times; return medians and their ratio."""
    asked_once(server.port, path, token)
    commands = recorded(database, lambda: asked_once(server.port, path, token))
    alone: list[float] = []
    served: list[float] = []
    with connection(server.port, token) as ask:
        ask(path)
        until = time.perf_counter() + seconds
        while len(served) < pairs or time.perf_counter() < until:
            works: list[tuple[list[float], Callable[[], object]]] = [
                (alone, lambda: run_alone(database, commands)),
                (served, lambda: ask(path)),
            ]
            for times, work in works if len(served) % 2 else reversed(works):
                times.append(_seconds(work))
    pipelines, http_ms = statistics.median(alone) * 1000, statistics.median(served) * 1000
    figures = {
        "pipelines": len(commands),
        "pairs": len(served),
        "alone_ms": round(pipelines, 2),
        "served_ms": round(http_ms, 2),
        "ratio": round(http_ms / pipelines, 3),
    }
    print(f"{path:55}{pipelines:10.1f} ms alone {http_ms:10.1f} ms served  × {http_ms / pipelines:.3f}", flush=True)
    return figures


def _many_clients(server: Server, database: Database[Figures], path: str, token: str, seconds: float) -> Figures:
    commands = recorded(database, lambda: asked_once(server.port, path, token))
    alone = [_seconds(lambda: run_alone(database, commands)) for _ in range(LEAST_PAIRS)]
    before = processor_seconds(server.process.pid)
    seen = load(server.port, [Call("GET", path, token)], CLIENTS, max(seconds, 4 * alone[0]))
    used = processor_seconds(server.process.pid) - before
    alone += [_seconds(lambda: run_alone(database, commands)) for _ in range(LEAST_PAIRS)]
    allowed = 1 / statistics.median(alone)
    figures = {
        "clients": CLIENTS,
        "per_second": round(seen.per_second, 1),
        "p99_ms": round(seen.p99, 1),
        "pipeline_allows": round(allowed, 1),
        "times": round(seen.per_second / allowed, 2),
        "server_us": round(used / max(seen.requests, 1) * 1e6),
    }
    print(
        f"{path:55}{figures['per_second']:10} /s of {CLIENTS} clients; the pipelines alone allow "
        f"{figures['pipeline_allows']} /s: {figures['times']} times",
        flush=True,
    )
    return figures


def recorded(database: Database[Figures], work: Callable[[], object]) -> list[Command]:
    """Return the commands that are sent to the dashboards' collections while `work` runs, in order."""
    database.command("profile", 0)
    database.drop_collection("system.profile")
    database.create_collection("system.profile", capped=True, size=16 << 20)
    database.command("profile", 2)
    try:
        work()
    finally:
        database.command("profile", 0)
    sent = [entry["command"] for entry in database["system.profile"].find({"op": {"$in": ["command", "query"]}})]
    return [
        {name: value for name, value in command.items() if name not in _OF_THE_SESSION}
        for command in sent
        if str(command.get(next(iter(command)), "")).startswith(_PREFIXES)
    ]


def run_alone(database: Database[Figures], commands: Sequence[Command]) -> None:
    """Send the recorded commands, one after the other, and read their results."""
    for command in commands:
        # everything in one batch
        database.command({**command, "cursor": {"batchSize": 100_000}} if "cursor" in command else command)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def asked_once(port: int, path: str, token: str) -> None:
    """Send one request on a new connection."""
    with connection(port, token) as ask:
        ask(path)


@contextmanager
def connection(port: int, token: str) -> Iterator[Callable[[str], None]]:
    """Give the block one kept connection, which waits for the response to each request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(path: str) -> None:
        # data that must first be read from disk may take longer than the time limit of an operation
        for _ in range(COLD_TRIES):
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 503:
                break
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}: {body[:300]!r}")

    try:
        yield ask
    finally:
        connection.close()


def keep(figures: Figures) -> Path:
    """Write the raw result; parts that were measured earlier on the same day are kept."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"dashboards-{figures['when'][:10]}.json"
    if path.exists():
        before = json.loads(path.read_text())
        if before["payments"] == figures["payments"]:
            for part in ("dashboards", "clients"):
                figures[part] = before[part] | figures[part]
    path.write_text(json.dumps(figures, indent=1) + "\n")
    return path
