"""Backups taken under load, of a million customers and 10 GiB of files, onto a full disk, and with a flipped bit."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import Timestamp

from config.database.raw_documents import RawDatabase
from handlers.data.database import LEASES
from plugins.commands.backups.opening import open_backup
from plugins.commands.backups.progress import BackupError, Progress, tally
from tests.experiments.fault_injection.disk import is_possible, small_disk
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.large_data import copy_customers, write_files
from tests.experiments.fault_injection.load import Facts, Load
from tests.experiments.fault_injection.verification import verify
from tests.support.replica_sets import ROOT, ReplicaSet, Server, free_ports

NAME = "backup"
_CUSTOMERS, _FILE_BYTES = 1_000_000, 10 << 30
_MEMORY_MIB = 64
_FLIPS = 200
_SMALL_DISK_MB, _DATABASE_DISK_MB = 64, 900
_DISK = "/var/tmp"  # /var/tmp is on a disk; /tmp may be in memory
# prints the memory of the commands' imports alone, before a database is opened
_IMPORTED = """
import sys
from pathlib import Path
from plugins.boot.registry import load_plugins
import plugins.commands.backup, plugins.commands.restore
load_plugins(())
print(Path('/proc/self/status').read_text().split('VmRSS:')[1].split()[0])
"""


@dataclass(frozen=True)
class Done:
    """A command that has ended: its exit code, output and duration, and the most memory that it used, in MiB."""

    code: int
    output: str
    seconds: float
    peak_mib: float

    @property
    def report(self) -> dict[str, Any]:
        """The last line of the output, parsed as JSON. Raises `RuntimeError` if the command failed."""
        if self.code != 0:
            raise RuntimeError(f"exit code {self.code}: {self.output[-500:]}")
        report: dict[str, Any] = json.loads(self.output.strip().rpartition("\n")[2])
        return report


async def run(bench: Bench) -> None:
    """Back up while eight workers write, restore into another MongoDB and another folder, and compare the two.

    Then flip single bits of that backup, and back up and restore the large database. The files and the backups are on a
    disk (`--option disk=FOLDER`), the databases in memory.
    """
    folder = bench.subfolder("backup")
    disk = Path(tempfile.mkdtemp(prefix="tradewind-backup-", dir=bench.options.get("disk", _DISK)))
    source = await in_thread(ReplicaSet(folder / "source", members=1, election_ms=2000, cache_gb=1).start)
    target = await in_thread(ReplicaSet(folder / "target", members=1, election_ms=2000, cache_gb=1).start)
    server = Server(folder, "server", free_ports(1)[0], source.uri, data_dir=str(disk / "data"))
    elsewhere = {**server.env, "TRADEWIND_MONGODB_URI": target.uri, "TRADEWIND_DATA_DIR": str(disk / "elsewhere")}
    try:
        await in_thread(server.start)
        small = await _under_load(bench, server, elsewhere, disk)
        await in_thread(server.stop)
        await in_thread(_flip, bench, small)
        await _large(bench, server, elsewhere, disk)
    finally:
        await in_thread(server.stop)
        await in_thread(source.stop)
        await in_thread(target.stop)
        shutil.rmtree(disk, ignore_errors=True)


async def _under_load(bench: Bench, server: Server, elsewhere: Mapping[str, str], disk: Path) -> Path:
    """Back up while eight workers write; report their responses, and whether the restored state is the right one."""
    folder = disk / "chain"
    folder.mkdir()
    async with Load([server.port], workers=8, pace=0.02) as load:
        load.start()
        await asyncio.sleep(max(5.0, 30 * bench.scale))
        before, acknowledged, began = load.quantile_ms(0.99), copy.deepcopy(load.facts), time.monotonic()
        done = await in_thread(_command, server.env, "backup", str(folder), "--json")
        during, outcomes = load.quantile_ms(0.99, began), load.outcomes(began)
        report, path = done.report, Path(done.report["file"])
        tallies = await _tally(server.uri, "tradewind", report)
        await load.stop()
        lost = {outcome: count for outcome, count in outcomes.items() if outcome != "0"}
        bench.tell(NAME, "requests while it ran", f"{outcomes.total()}, failed {lost or 0}", "none failed", not lost)
        bench.tell(NAME, "p99 of requests", f"{before} ms before, {during} ms while it ran, {done.seconds:.1f} s")
        restored = await in_thread(_command, elsewhere, "restore", str(path), "--into", "restored", "--json")
        _ = restored.report
        again = await _tally(elsewhere["TRADEWIND_MONGODB_URI"], "restored", None)
        # the restore creates indexes under a lease, so the collection of leases differs
        differing = sorted(name for name in tallies if tallies[name] != again.get(name) and name != LEASES)
        documents = sum(one["documents"] for one in tallies.values())
        figure = f"{documents} documents in {len(tallies)} collections, differing: {', '.join(differing) or 'none'}"
        bench.tell(NAME, "restored elsewhere, against the state at its moment", figure, "none differs", not differing)
        await _tell_restored(bench, load, acknowledged, elsewhere, "restored")
    return path


async def _tell_restored(bench: Bench, load: Load, facts: Facts, env: Mapping[str, str], name: str) -> None:
    """Report whether a restored database has all that was acknowledged before its moment, and its ledgers agree."""
    earlier = copy.copy(load)
    earlier.facts = facts
    verdict = await in_thread(verify, earlier, env["TRADEWIND_MONGODB_URI"], name)
    figure = f"{verdict.acknowledged} acknowledged before, {len(verdict.faults)} lost, doubled or wrong"
    bench.tell(NAME, "the backup: acknowledged writes in it", figure, "0 lost, 0 doubled", not verdict.faults)
    ledgers = await in_thread(_ledgers, {**env, "TRADEWIND_MONGODB_DATABASE": name})
    bench.tell(NAME, "the backup: ledgers", ledgers or "no difference", "no difference", not ledgers)


async def _tally(uri: str, name: str, report: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the counts and hashes of the collections: at the moment of the backup in `report`, or without one now."""
    database = RawDatabase(uri, name)
    try:
        found = {}
        for collection in report["collections"] if report else await database.collections():
            moment = Timestamp(report["moment"]["seconds"], report["moment"]["increment"]) if report else None
            found[collection] = await tally(database, collection, Progress("Tally"), moment)
        return found
    finally:
        await database.close()


def _ledgers(env: Mapping[str, str]) -> str:
    command = [sys.executable, "scripts/verify-ledgers"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-600:]


def _flip(bench: Bench, path: Path) -> None:
    """Flip single bits at random places of a backup, one at a time, and report how many of them a reader notices."""
    whole, found, flips = path.read_bytes(), 0, bench.times(_FLIPS)
    damaged = path.with_name("damaged.backup")
    for _ in range(flips):
        at = random.randrange(len(whole))
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << random.randrange(8))]) + whole[at + 1 :])
        found += _is_damaged(damaged)
    bench.tell(NAME, "a flipped bit anywhere", f"{found} of {flips} found", "all", found == flips)


def _is_damaged(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            open_backup(file, path.name, None).check()
        except BackupError:
            return True
    return False


async def _large(bench: Bench, server: Server, elsewhere: Mapping[str, str], disk: Path) -> None:
    """Back up and restore the large database, and measure the memory of both commands."""
    customers, size = bench.times(_CUSTOMERS), bench.times(_FILE_BYTES)
    data = Path(server.env["TRADEWIND_DATA_DIR"])
    await in_thread(copy_customers, server.uri, "tradewind", "large", customers)
    files = await in_thread(write_files, server.uri, "large", data / "files", size)
    env = {**server.env, "TRADEWIND_MONGODB_DATABASE": "large"}
    path = disk / "large.backup"
    start = await in_thread(_imported_mib, env)
    done = await in_thread(_command, env, "backup", str(path), "--json")
    report = done.report
    what = f"{customers:,} customers and {size / 2**30:.1f} GiB in {files} files"
    bench.tell(NAME, f"{what}: backup", f"{report['size'] / 2**30:.2f} GiB in {done.seconds:.0f} s")
    _tell_memory(bench, "memory of the backup", done, start)
    if is_possible():
        await _without_room(bench, env, disk)
        await _restore_without_room(bench, env, path, disk)
    listed = await in_thread(_command, env, "restore", str(path), "--list", "--json")
    bench.tell(
        NAME, "reading every byte of it", f"{listed.seconds:.0f} s, exit code {listed.code}", "0", not listed.code
    )
    await in_thread(_flip_in_place, path)
    flipped = await in_thread(_command, env, "restore", str(path), "--list")
    sentence = flipped.output.strip().rpartition("\n")[2]
    is_told = flipped.code == 1 and "is damaged" in sentence
    bench.tell(NAME, "a flipped bit in its middle", sentence, "found, exit code 1", is_told)
    await in_thread(_flip_in_place, path)
    restored = await in_thread(_command, elsewhere, "restore", str(path), "--into", "large", "--json")
    kept = restored.report["files"]["count"]
    figure = f"in {restored.seconds:.0f} s, {kept} files"
    bench.tell(NAME, "restored elsewhere, counts and hashes equal", figure, "all files", kept == files)
    _tell_memory(bench, "memory of the restore", restored, start)


def _tell_memory(bench: Bench, what: str, done: Done, start: float) -> None:
    above = done.peak_mib - start
    figure = f"{above:.0f} MiB above the {start:.0f} MiB of the loaded program, {done.peak_mib:.0f} MiB at most"
    bench.tell(NAME, what, figure, f"{_MEMORY_MIB} MiB above", above <= _MEMORY_MIB)


async def _without_room(bench: Bench, env: Mapping[str, str], disk: Path) -> None:
    """Report whether a backup onto a disk that is too small ends with an explanation and leaves no files."""
    folder = disk / "small"
    folder.mkdir()
    with small_disk(folder, _SMALL_DISK_MB):
        done = await in_thread(_command, env, "backup", str(folder))
        left = [path.name for path in folder.iterdir()]
    holds = done.code == 1 and "There is no room" in done.output and not left
    figure = f"exit code {done.code}, {len(left)} files left: {done.output.strip().rpartition(chr(10))[2]}"
    bench.tell(NAME, f"onto a disk of {_SMALL_DISK_MB} MB", figure, "a sentence, nothing left", holds)


async def _restore_without_room(bench: Bench, env: Mapping[str, str], path: Path, disk: Path) -> None:
    """Report whether a restore into an embedded database on a disk that is too small ends with an explanation."""
    folder = disk / "small-data"
    folder.mkdir()
    with small_disk(folder, _DATABASE_DISK_MB):
        own = {**env, "TRADEWIND_MONGODB_URI": "", "TRADEWIND_DATA_DIR": str(folder / "data")}
        done = await in_thread(_command, own, "restore", str(path), "--into", "small")
    sentence = done.output.strip().rpartition("\n")[2]
    holds = done.code in (1, 2) and "Traceback" not in done.output and ("room" in sentence or "space" in sentence)
    figure = f"exit code {done.code}: {sentence}"
    bench.tell(NAME, f"restored onto a disk of {_DATABASE_DISK_MB} MB", figure, "a sentence", holds)


def _flip_in_place(path: Path) -> None:
    """Flip a bit in the middle of a file; a second call flips it back."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def _imported_mib(env: Mapping[str, str]) -> float:
    done = subprocess.run([sys.executable, "-c", _IMPORTED], cwd=ROOT, env=env, capture_output=True, check=True)
    return int(done.stdout) / 1024


def _command(env: Mapping[str, str], *arguments: str) -> Done:
    """Run `tradewind …` and sample its memory twenty times a second."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        command: Sequence[str] = (sys.executable, "-m", "plugins.commands", *arguments)
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT)
        peak = 0.0
        while process.poll() is None:
            with suppress(OSError, IndexError):  # the process has just ended
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, int(status.split("VmHWM:")[1].split()[0]) / 1024)
            time.sleep(0.05)
        output.seek(0)
        said = output.read().decode(errors="replace")
    return Done(process.returncode, said, time.monotonic() - began, peak)
