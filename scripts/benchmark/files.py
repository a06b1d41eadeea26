"""The figures of files: memory and throughput of large transfers, and what slow uploaders cost everybody else.

Each mode is a storage (`local`, `s3`) behind an HTTP connection (`tornado`, `fast`). Throughput is told as a ratio to
plain Tornado handlers that ran in turns with ours: one that only moves the bytes to a file and back, and a fair one,
which hashes and synchronises the file (`local`) or passes it on to the same S3 (`s3`). For S3 there is a floor besides:
the same bytes in the same parts straight to the S3, without a service between. The S3 is one that only moves bytes;
`--s3 moto` takes the one of the tests, whose own work then is nearly all that is measured. What a transfer has stored
is removed before the next, or fresh memory and used memory would be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from config.embedded import acquire
from scripts.benchmark.files_report import write_readme
from scripts.benchmark.foundation import RESULTS, ROOT, summary
from scripts.benchmark.lean_s3 import lean_s3
from scripts.benchmark.transfers import (
    BOUNDARY,
    Transfer,
    get_file,
    peak_growth,
    processor_seconds,
    put_file,
    put_parts,
    remove,
    upload_file,
)
from scripts.s3_stand_in import s3_server

MEBIBYTE = 1 << 20
ARCHIVE = b"Rar!\x1a\x07\x01\x00"  # the first bytes of something that nobody looks into
MODES = [(storage, http) for storage in ("local", "s3") for http in ("tornado", "fast")]
FAIR = {"local": "careful", "s3": "relay"}
PART_BYTES = 5 << 20  # as the service and the relay send them
# moto asks who it is, and believes whatever it is told
ANYBODY = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=any/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
}
GUARDED = "/api/v1/system/roles"
UPLOADERS, BYTES_A_SECOND, SEGMENT = 50, 10_000, 1_400
SETTINGS = {
    "DEMO": "false", "RATE_LIMITS": "off", "PLUGINS": "auth,rbac,files", "LOG_LEVEL": "WARNING", "MAX_UPLOAD_BYTES": str(2 << 30),
    "JWT_SECRET": secrets.token_urlsafe(48),
}  # fmt: skip
Figures = dict[str, Any]


@dataclass(frozen=True)
class Service:
    """A running service."""

    url: str
    port: int
    pid: int
    token: str

    @property
    def authorization(self) -> dict[str, str]:
        """The header of the administrator."""
        return {"Authorization": f"Bearer {self.token}"}


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the raw result."""
    parser = argparse.ArgumentParser(prog="scripts/bench files", description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the large file")
    parser.add_argument("--rounds", type=int, default=3, help="transfers of each kind, and pairs of idle and busy")
    parser.add_argument(
        "--modes", default=",".join("-".join(mode) for mode in MODES), help="such as local-fast,s3-fast"
    )
    parser.add_argument("--s3", choices=("lean", "moto"), default="lean", help="the S3 of the modes with S3")
    parser.add_argument("--folder", type=Path, help="where files are kept; /dev/shm takes the disk out of the figures")
    parser.add_argument("--write", action="store_true", help="write the newest results into the plugin's README")
    given = parser.parse_args(arguments)
    about: Figures = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"), "python": platform.python_version(),
        "cores": os.cpu_count(), "mebibytes": given.mebibytes, "rounds": given.rounds, "folder": str(given.folder or ""),
    }  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, ExitStack() as stack:
        place = Path(folder)
        embedded = acquire(place / "database")
        stack.callback(embedded.release_and_wait, 15)
        buckets = stack.enter_context(_buckets(given.s3, place / "lean-s3"))
        large = _large_file(place / "large.rar", given.mebibytes)
        for name in given.modes.split(","):
            storage, _, http = name.partition("-")
            print(f"{name} …", flush=True)
            with _service(place / name, embedded.uri, storage, http, buckets) as service:
                about["s3"] = given.s3 if storage == "s3" else None
                store = _Store(storage, place / name / "files" / "private", buckets)
                measured = {**about, **_transfers(service, store, large, given.rounds, place)}
                if storage == "local":
                    measured["slow_uploaders"] = _slow(service, given.rounds)
            text = json.dumps(measured, indent=1) + "\n"
            with_s3 = "-moto" if about["s3"] == "moto" else ""
            (RESULTS / f"files-{name}{with_s3}-{about['when'][:10]}.json").write_text(text)
            print(text, flush=True)
    if given.write:
        write_readme()
    return 0


def _large_file(path: Path, mebibytes: int) -> Path:
    block = os.urandom(MEBIBYTE)
    with path.open("wb") as file:
        file.write(ARCHIVE + block[len(ARCHIVE) :])
        for _ in range(mebibytes - 1):
            file.write(block)
    return path


@contextmanager
def _service(folder: Path, uri: str, storage: str, http: str, buckets: dict[str, str]) -> Iterator[Service]:
    password, port = secrets.token_urlsafe(12) + "-aZ7", _free_port()
    names = {**SETTINGS, "HTTP": http, "MONGODB_URI": uri, "MONGODB_DATABASE": f"files_{secrets.token_hex(4)}",
             "DATA_DIR": str(folder), "ADMIN_PASSWORD": password, "PORT": str(port)}  # fmt: skip
    if storage == "s3":
        names |= {name.upper(): value for name, value in buckets.items()}
    environment = {**os.environ, **{f"TRADEWIND_{name}": value for name, value in names.items()}}
    command = [sys.executable, "server.py"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield Service(f"http://127.0.0.1:{port}", port, process.pid, _log_in(process, port, password))
        finally:
            process.terminate()


def _log_in(process: subprocess.Popen[bytes], port: int, password: str) -> str:
    """An access token of the administrator, as soon as the service answers."""
    body = json.dumps({"username": "admin", "password": password})
    while process.poll() is None:
        connection = HTTPConnection("127.0.0.1", port)
        with suppress(ConnectionRefusedError):
            connection.request("POST", "/api/v1/auth/login", body, {"Content-Type": "application/json"})
            token: str = json.load(connection.getresponse())["data"]["accessToken"]
            return token
        time.sleep(0.05)
    raise RuntimeError("the service did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# -- large transfers


@dataclass(frozen=True)
class _Store:
    """Where the service keeps its files, seen from outside; `buckets` are the settings of S3."""

    storage: str
    folder: Path
    buckets: dict[str, str]

    @property
    def endpoint(self) -> str:
        """Where S3 answers."""
        return self.buckets["s3_endpoint"]

    def target(self, key: str) -> str:
        """The path of a private object of S3."""
        return f"/{self.buckets['s3_private_bucket']}/{key}"

    def remove(self, key: str) -> None:
        """Remove a stored file behind the service's back."""
        if self.storage == "s3":
            remove(self.endpoint, self.target(key))
        for path in self.folder.glob(f"*/{key}"):
            path.unlink()


@contextmanager
def _buckets(kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """The settings of two buckets of an S3 that ends with the block."""
    if kind == "moto":
        with s3_server() as moto:
            yield moto.buckets()
        return
    with lean_s3(folder) as endpoint:
        yield {
            "storage": "s3", "s3_endpoint": endpoint, "s3_access_key": "any", "s3_secret_key": "any",
            "s3_public_bucket": "public", "s3_private_bucket": "private",
        }  # fmt: skip


def _transfers(service: Service, store: _Store, large: Path, rounds: int, folder: Path) -> Figures:
    size = large.stat().st_size
    speeds: dict[str, list[float]] = {}
    costs: dict[str, list[float]] = {"upload": [], "download": []}
    growth: dict[str, list[float]] = {"upload": [], "download": []}
    compared = ("plain", FAIR[store.storage], *(("floor",) if store.storage == "s3" else ()))

    def note(what: str, transfer: Transfer) -> Transfer:
        if transfer.status != 200 or transfer.size != size:
            raise RuntimeError(f"{what}: {transfer.size} bytes, {transfer.head!r} {transfer.body!r}")
        speeds.setdefault(what, []).append(size / transfer.seconds / 1e6)
        return transfer

    @contextmanager
    def watched(way: str) -> Iterator[None]:
        before = processor_seconds(service.pid)
        with peak_growth(service.pid) as grown:
            yield
        growth[way].append(grown() / MEBIBYTE)
        costs[way].append((processor_seconds(service.pid) - before) / size * 1e9)

    with _plain(folder, store.endpoint, store.buckets["s3_private_bucket"]) as plain:
        put_file(plain, "/plain", large, {})  # the first to touch memory waits for the machine to find it
        remove(plain, "/plain")
        for _ in range(rounds):
            for kind in ("plain", FAIR[store.storage]):
                note(f"{kind} upload", put_file(plain, f"/{kind}", large, {}))
                note(f"{kind} download", get_file(plain, f"/{kind}", {}))
                remove(*((store.endpoint, store.target("relayed")) if kind == "relay" else (plain, "/plain")))
            if "floor" in compared:
                note("floor upload", put_parts(store.endpoint, store.target("floor"), large, PART_BYTES))
                note("floor download", get_file(store.endpoint, store.target("floor"), ANYBODY))
                store.remove("floor")
            with watched("upload"):
                sent = note("upload", upload_file(service.url, large, service.token, "large.rar"))
            key = json.loads(sent.body)["data"]["objectKey"]
            with watched("download"):
                note("download", get_file(service.url, f"/api/file/dl?object_key={key}", service.authorization))
            store.remove(key)
    return {
        "megabytes_a_second": {what: summary(values) for what, values in speeds.items()},
        "ratio": {
            f"{way} to {kind}": round(statistics.median(speeds[way]) / statistics.median(speeds[f"{kind} {way}"]), 2)
            for way in growth for kind in compared
        },
        "processor_seconds_a_gigabyte": {way: summary(values) for way, values in costs.items()},
        "peak_growth_mebibytes": {way: summary(values) for way, values in growth.items()},
    }  # fmt: skip


@contextmanager
def _plain(folder: Path, endpoint: str, bucket: str) -> Iterator[str]:
    command = [sys.executable, "-m", "scripts.benchmark.plain", str(folder), endpoint, bucket]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            line = process.stdout.readline() if process.stdout else b""
            yield f"http://127.0.0.1:{int(line)}"
        finally:
            process.kill()


# -- slow uploaders


def _slow(service: Service, rounds: int) -> Figures:
    """The p99 of a guarded route on one connection, in turns without and with slow uploaders."""
    idle, busy = [], []
    _p99(service)
    for _ in range(rounds):
        idle.append(_p99(service))
        with _uploaders(service):
            busy.append(_p99(service))
    return {
        "uploaders": UPLOADERS,
        "bytes_a_second_each": BYTES_A_SECOND,
        "idle_p99_ms": summary(idle),
        "busy_p99_ms": summary(busy),
        "ratio": round(statistics.median(busy) / statistics.median(idle), 2),
    }


def _p99(service: Service, seconds: float = 10) -> float:
    """Milliseconds within which 99 of 100 answers came, asked for one after the other."""
    took: list[float] = []
    connection = HTTPConnection("127.0.0.1", service.port)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        connection.request("GET", GUARDED, headers=service.authorization)
        answer = connection.getresponse()
        answer.read()
        took.append((time.perf_counter() - started) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"{GUARDED} answers {answer.status}")
    connection.close()
    return statistics.quantiles(took, n=100)[98]


@contextmanager
def _uploaders(service: Service) -> Iterator[None]:
    """Slow uploaders in a process of their own, once all of them are sending."""
    command = [sys.executable, "-m", "scripts.benchmark.files", str(service.port), service.token]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            if not process.stdout or process.stdout.readline() != b"sending\n":
                raise RuntimeError("the uploaders did not start")
            yield
        finally:
            process.kill()


async def trickle(port: int, token: str) -> None:
    """Upload without end on many connections, a segment at a time, evenly spread."""
    head = (
        f"POST /api/upload HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\nContent-Length: {1 << 30}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n--{BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="file"; filename="slow.rar"\r\n\r\n'
    ).encode() + ARCHIVE
    writers = []
    for _ in range(UPLOADERS):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        writers.append(writer)
    print("sending", flush=True)
    pause = SEGMENT / BYTES_A_SECOND / UPLOADERS
    due = asyncio.get_running_loop().time()
    while True:
        for writer in writers:
            writer.write(bytes(SEGMENT))
            due += pause
            await asyncio.sleep(due - asyncio.get_running_loop().time())


if __name__ == "__main__":
    asyncio.run(trickle(int(sys.argv[1]), sys.argv[2]))
