"""The disk of the embedded database fills up while people write, and has room again; then its supervisor is killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from config.embedded.folder import Folder
from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import Server, free_ports

NAME = "full disk"
_DISK_MB = 900
_FULL_SECONDS = 25
_BACK_SECONDS = 60.0


async def run(bench: Bench) -> None:
    """Fill the disk for 25 seconds, free it, wait until the service is ready; then kill the supervisor and mongod."""
    with small_disk(bench.subfolder("disk"), _DISK_MB) as disk:
        server = Server(disk, "full", free_ports(1)[0])
        filler = disk / "filler"
        try:
            await in_thread(server.start)
            mix = {"customer": 6, "voucher": 4, "patch": 3, "read": 3}
            async with Load([server.port], workers=6, pace=0.02, mix=mix) as load:
                load.start()
                await asyncio.sleep(8)
                began = time.monotonic()
                await _keep_full(filler, _FULL_SECONDS)
                _tell_full(bench, load, server, began, await _code(server, "/api/health"))
                filler.unlink()
                await _tell_back(bench, server, "room again")
                await asyncio.sleep(3)
                _kill_supervisor(disk / "data")
                await _tell_back(bench, server, "supervisor and database killed")
                await asyncio.sleep(3)
                await load.stop()
                record = Folder(disk / "data").live_record()
                if record is not None:
                    await tell_books(bench, NAME, load, [server], record.uri)
        finally:
            await in_thread(server.stop)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a file system of `megabytes` MB in `folder`; this needs the right to mount."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


async def _keep_full(filler: Path, seconds: int) -> None:
    """Fill the disk, again every second, because the database frees space meanwhile."""
    for _ in range(seconds):
        await in_thread(_fill, filler)
        await asyncio.sleep(1)


def _fill(path: Path) -> None:
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for size in (1 << 20, 4096):
            with suppress(OSError):
                while os.write(out, bytes(size)) == size:
                    pass
    finally:
        os.close(out)


async def _code(server: Server, path: str) -> str:
    connection = Connection(server.port)
    reply = await connection.call("GET", path, seconds=10)
    connection.drop()
    return reply.outcome


def _tell_full(bench: Bench, load: Load, server: Server, began: float, liveness: str) -> None:
    outcomes = load.outcomes(began)
    odd = {outcome: count for outcome, count in outcomes.items() if outcome not in ("0", "50300")}
    bench.tell(NAME, "while full", dict(outcomes), "only 0 and 50300", not odd)
    bench.tell(NAME, "liveness while full", liveness, "0", liveness == "0")
    slowest = load.slowest(began)
    bench.tell(NAME, "longest response while full", f"{slowest:.1f} s", "6 s", slowest <= 6.5)


async def _tell_back(bench: Bench, server: Server, what: str) -> None:
    began = time.monotonic()
    while await _code(server, "/api/health/ready") != "0":
        ended = server.process is not None and server.process.poll() is not None
        if ended or time.monotonic() - began > _BACK_SECONDS:
            code = server.process.returncode if server.process else None
            bench.tell(
                NAME, what, f"not ready; the process ended with {code}" if ended else "not ready", "ready again", False
            )
            await in_thread(server.stop)
            await in_thread(server.start)
            return
        await asyncio.sleep(0.3)
    bench.tell(NAME, what, f"ready after {time.monotonic() - began:.1f} s", "ready again by itself", True)


def _kill_supervisor(data: Path) -> None:
    """Send SIGKILL to the process that watches mongod, then to mongod itself."""
    record = Folder(data).live_record()
    if record is None:
        raise RuntimeError("no embedded database runs here")
    children = Path(f"/proc/{record.pid}/task/{record.pid}/children").read_text().split()
    for pid in (record.pid, *map(int, children)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def is_possible() -> bool:
    """Return whether this user may mount a file system."""
    return os.geteuid() == 0 and shutil.which("mount") is not None
