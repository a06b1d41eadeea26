"""Tradewind and its peers side by side: W1 to W7 in interleaved rounds, each server alone on a core."""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bson import ObjectId
from pymongo import MongoClient

from config.embedded import acquire
from tests.experiments.benchmark.agreement import check
from tests.experiments.benchmark.load import GENERATOR, load, load_beside
from tests.experiments.benchmark.report import BEFORE
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.works import CONNECTIONS, LOGINS, Work, works
from tests.experiments.benchmark.world import PASSWORD, log_everybody_in, make_world, new_secret, remember, remembered
from tests.experiments.consumption import processor_seconds, resident_mib
from tests.experiments.tool_environment import python_with

ROOT = Path(__file__).resolve().parents[3]
CACHE = ROOT / ".data" / "bench"
PEERS = ROOT / "tests" / "experiments" / "benchmark" / "peers"
SERVER_CORE, OTHER_CORE = 0, 1
_LEFT_SECONDS = 1
_LONGER = 5  # the factor by which a round of a slow work may be prolonged
_RECORDS = 200
Figures = dict[str, Any]
OURS: Mapping[str, dict[str, str]] = {
    "tradewind": {},
    "tradewind-tornado": {"TRADEWIND_HTTP": "tornado"},
    "tradewind-fast": {"TRADEWIND_HTTP": "fast"},
    "tradewind-motor": {"TRADEWIND_MONGODB_DRIVER": "motor"},
    "tradewind-pymongo": {"TRADEWIND_MONGODB_DRIVER": "pymongo"},
    "tradewind-direct": {"TRADEWIND_MONGODB_DRIVER": "direct"},
    BEFORE: {},
}
PYTHON_PEERS = ("tornado", "fastapi", "sanic")
EVERYBODY = ("tradewind", *PYTHON_PEERS, "fastify")


@dataclass
class Server:
    """A running server: its name, its port and its process."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    def processor_seconds(self) -> float:
        """Return the processor time that it has used, in seconds."""
        return processor_seconds(self.process.pid)

    def resident_mib(self) -> float:
        """Return its resident memory, in MiB."""
        return resident_mib(self.process.pid)


def compare(
    names: Sequence[str],
    codes: Sequence[str],
    rounds: int,
    seconds: float,
    customers: int,
) -> Figures:
    """Measure the works `codes`, or all of them if there are none, on the servers `names`."""
    folder = CACHE / f"world-{customers}"
    folder.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {OTHER_CORE})  # processes started from here inherit it: mongod and the load
    embedded = acquire(folder)
    try:
        world = the_world(folder, embedded.uri, customers)
        world["records"] = neighbours(embedded.uri, world["customer"]["region"])
        with ExitStack() as stack:
            servers = [stack.enter_context(started(name, folder, world)) for name in names]
            tokens = tokens_for(servers, folder, world)
            chosen = [work for work in works(world, tokens, PASSWORD) if not codes or work.code in codes]
            told = [
                replace(work, title=work.title.format(total=check(work, ports_for(work, servers)))) for work in chosen
            ]
            return {**about(rounds, seconds, customers), "works": measure(told, servers, rounds, seconds, world)}
    finally:
        embedded.release_and_wait(15)


def neighbours(uri: str, id: str) -> list[str]:
    """Return the ids of customers in the department of customer `id`; whoever sees that one sees them too."""
    with MongoClient[Figures](uri) as client:
        customers = client[DATABASE].crm_customers
        one = customers.find_one({"_id": ObjectId(id)}, {"creator_department_id": 1}) or {}
        same = {"creator_department_id": one["creator_department_id"], "deleted": False}
        return [str(row["_id"]) for row in customers.find(same, {"_id": 1}).limit(_RECORDS)]


def about(rounds: int, seconds: float, customers: int) -> Figures:
    """Return when, where and how the measurement was made."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cpu": model,
        "cores": os.cpu_count(),
        "rounds": rounds,
        "seconds": seconds,
        "connections": CONNECTIONS,
        "load": GENERATOR,
        "customers": customers,
    }


def the_world(folder: Path, uri: str, customers: int) -> Figures:
    """Return the data set, made in the first run, with everything that every server needs to know."""
    path = folder / "world.json"
    world = remembered(path, customers)
    if world is None:
        with MongoClient[Figures](uri) as client:
            client.drop_database(DATABASE)
        secret, password = new_secret(), secrets.token_urlsafe(12) + "-aZ7"
        print(f"making {customers:,} customers …", flush=True)
        with tradewind("tradewind", folder, {"uri": uri, "secret": secret, "admin_password": password}) as server:
            world = {**make_world(server.port, uri, password, customers), "secret": secret}
    world |= {"uri": uri, "database": DATABASE, "password": PASSWORD}
    remember(path, world)
    return world


@contextmanager
def started(name: str, folder: Path, world: Figures) -> Iterator[Server]:
    """Run the server called `name` during the block."""
    if name in OURS:
        with tradewind(name, folder, world) as server:
            yield server
        return
    environment = {"BENCH_WORLD": str(folder / "world.json"), "PYTHONPATH": str(ROOT)}
    if name == "fastify":
        modules = node_modules()
        command = ["node", str(PEERS / "fastify_peer.mjs")]
        environment |= {"BENCH_MODULES": str(modules), "NODE_ENV": "production"}
    else:
        command = [str(python_of_peers()), "-m", f"tests.experiments.benchmark.peers.{name}_peer"]
    with running(name, command, [], environment) as server:
        yield server


@contextmanager
def tradewind(
    name: str, folder: Path, world: Figures, source: Path = ROOT, database: str = DATABASE
) -> Iterator[Server]:
    """Run Tradewind with the settings that belong to `name`, from the checkout `source`, on `database`."""
    environment = {
        "TRADEWIND_JWT_SECRET": world["secret"],
        "TRADEWIND_ADMIN_PASSWORD": world["admin_password"],
        **OURS[name],
    }
    here = (source / "tests" / "experiments" / "benchmark").is_dir()  # older versions have it elsewhere
    command = [sys.executable, "-m", f"{'tests.experiments' if here else 'scripts'}.benchmark.servers"]
    arguments = [world["uri"], str(folder), database]
    with running(name, command, arguments, environment, source) as server:
        yield server


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    source: Path = ROOT,
) -> Iterator[Server]:
    """Run a server on a free port during the block; all servers share one core and are measured one at a time."""
    port = free_port()
    CACHE.mkdir(parents=True, exist_ok=True)
    log = (CACHE / f"{name}.log").open("wb")
    process = subprocess.Popen(
        ["taskset", "-c", str(SERVER_CORE), *command, str(port), *arguments],
        cwd=source,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    try:
        wait_for(name, process, port)
        yield Server(name, port, process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def wait_for(name: str, process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the port accepts connections. Raises `RuntimeError` if the process ends, or after two minutes."""
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{name} did not start: see {CACHE / f'{name}.log'}")


def tokens_for(servers: Sequence[Server], folder: Path, world: Figures) -> dict[str, list[str]]:
    """Return access tokens from Tradewind, which every server accepts."""
    ours = next((server for server in servers if server.name in OURS), None)
    if ours is not None:
        return log_everybody_in(ours.port, world)
    with tradewind("tradewind", folder, world) as server:
        return log_everybody_in(server.port, world)


def ports_for(work: Work, servers: Sequence[Server]) -> dict[str, int]:
    """Return the ports of the servers that the work is for, by name."""
    return {server.name: server.port for server in servers if not work.ours_alone or server.name in OURS}


def measure(
    chosen: Sequence[Work], servers: Sequence[Server], rounds: int, seconds: float, world: Figures
) -> dict[str, Figures]:
    """Return the figures by work and server: the median and range of the rounds."""
    seen: dict[str, dict[str, list[Figures]]] = {work.code: {} for work in chosen}
    with MongoClient[Figures](world["uri"]) as client:
        mongod = int(client.admin.command("serverStatus")["pid"])
        for number in range(rounds):
            for work in chosen:
                for server in (*servers[number % len(servers) :], *servers[: number % len(servers)]):
                    if not work.ours_alone or server.name in OURS:
                        wait_until_idle(client)
                        figures = timed(work, server, mongod, seconds)
                        seen[work.code].setdefault(server.name, []).append(figures)
                        print(
                            f"{work.code:4}{server.name:20}{figures['per_second']:9.0f}/s"
                            f"  p99 {figures['p99_ms']:8.2f} ms",
                            flush=True,
                        )
                if work.code.startswith("W5"):
                    tidy(client)
            print(f"round {number + 1} of {rounds}", flush=True)
    return {
        work.code: {
            "title": work.title,
            "aim": work.aim,
            "latency": work.latency,
            "servers": {name: summed(seen[work.code][name]) for name in seen[work.code]},
        }
        for work in chosen
    }


def timed(work: Work, server: Server, mongod: int, seconds: float) -> Figures:
    """Measure one round of one work on one server."""
    seconds = max(seconds, min(work.seconds, _LONGER * seconds))
    load(server.port, work.calls, CONNECTIONS, min(seconds, 0.5))
    with ExitStack() as stack:
        if work.beside:
            stack.enter_context(load_beside(server.port, work.beside, LOGINS, seconds + 5))
        before = server.processor_seconds(), processor_seconds(mongod)
        seen = load(server.port, work.calls, CONNECTIONS, seconds)
        after = server.processor_seconds(), processor_seconds(mongod)
    answered = max(seen.requests, 1)
    return {
        "per_second": seen.per_second,
        "p50_ms": seen.p50,
        "p99_ms": seen.p99,
        "server_us": (after[0] - before[0]) / answered * 1e6,
        "mongod_us": (after[1] - before[1]) / answered * 1e6,
        "memory_mib": server.resident_mib(),
    }


def wait_until_idle(client: MongoClient[Figures]) -> None:
    """Wait until mongod runs no operation any more.

    Operations that a load has abandoned may run for long, and are killed after a second.
    """
    # change streams never end
    ours = {"$regex": f"^{DATABASE}"}
    left = {"active": True, "command.$db": ours, "cursor.tailable": {"$ne": True}}
    patience = time.monotonic() + _LEFT_SECONDS
    while running := list(client.admin.aggregate([{"$currentOp": {}}, {"$match": left}])):
        if time.monotonic() > patience:
            for one in running:
                client.admin.command("killOp", op=one["opid"])
        time.sleep(0.1)


def tidy(client: MongoClient[Figures]) -> None:
    """Remove what the creating works have written, so that every round starts from the same state."""
    database = client[DATABASE]
    database.bench_records.delete_many({})
    database.crm_customers.delete_many({"code": {"$regex": "^N-"}})
    database.core_operation_logs.delete_many({})


def summed(rounds: Sequence[Figures]) -> Figures:
    """Return the median and range of each figure."""
    return {
        name: {
            "median": round(statistics.median(one[name] for one in rounds), 2),
            "min": round(min(one[name] for one in rounds), 2),
            "max": round(max(one[name] for one in rounds), 2),
        }
        for name in rounds[0]
    }


def python_of_peers() -> Path:
    """Return the interpreter of the environment with the peers' packages, creating it if necessary."""
    return python_with(PEERS / "requirements.txt", CACHE / "venv")


def node_modules() -> Path:
    """Return the folder whose `node_modules` contains Fastify, installing it if necessary."""
    folder, wanted = CACHE / "node", PEERS / "package.json"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists() or (folder / "package.json").read_text() != wanted.read_text():
        print("installing Fastify …", flush=True)
        shutil.copy(wanted, folder / "package.json")
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True)
    return folder


def available() -> tuple[str, ...]:
    """Return the names of all servers that can be measured here."""
    return tuple(name for name in EVERYBODY if name != "fastify" or shutil.which("node"))


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
