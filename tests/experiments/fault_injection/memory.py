"""The memory of a service is limited, as in a container, while many clients upload and request large things."""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import xlsxwriter  # type: ignore[import-untyped]  # it has no types
from PIL import Image

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import CRM, Load
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports

NAME = "memory limit"
_LIMIT_BYTES = (
    1536 << 20
)  # 512 MiB for the process and 1 GiB for its worker processes, as docs/operations/sizing.md says
_ROUNDS = 5
_AT_ONCE = 8
_FILE_BYTES = 15 << 20
_TOO_LONG_BYTES = 32 << 20
_ROWS = 5000
_PIXELS = 6000
_BOUNDARY = "faults"
_GROUPS = Path("/sys/fs/cgroup")
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# 40000 and 40001: the rows have no names; 41300: the body is too long; 42900: one person has too many tasks
_EXPECTED = frozenset({"0", "40000", "40001", "40900", "41300", "42900", "50300"})


def is_possible() -> bool:
    """Return whether this user may limit the memory of processes."""
    return os.access(_folder(), os.W_OK)


async def run(bench: Bench) -> None:
    """Limit the service and its worker processes to 1.5 GiB; five times, send 8 requests of each large kind at once.

    The kinds are: uploads of files and images, imports of tables, exports, and bodies that are too long.
    """
    folder = bench.subfolder("memory")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    # on a disk, because files in memory count towards the limit of the process that wrote them
    with tempfile.TemporaryDirectory(prefix="tradewind-memory-", dir="/var/tmp") as data, _group() as group:
        server = Server(folder, "limited", free_ports(1)[0], replica_set.uri, data_dir=data)
        try:
            await in_thread(server.start)
            (group / "cgroup.procs").write_text(str(server.pid))
            async with Load([server.port], workers=4, pace=0.05) as load:
                load.start()
                outcomes = await _ask_for_much(bench, load)
                await load.stop()
                _tell(bench, group, load, outcomes)
                await tell_books(bench, NAME, load, [server], replica_set.uri)
        finally:
            await in_thread(server.stop)
            await in_thread(replica_set.stop)


def _tell(bench: Bench, group: Path, load: Load, outcomes: Counter[str]) -> None:
    bench.tell(NAME, "requests of others", dict(load.outcomes()), "all 0", set(load.outcomes()) == {"0"})
    refused = {key: count for key, count in outcomes.items() if key.rpartition(" ")[2] not in _EXPECTED}
    bench.tell(NAME, "what is large", dict(outcomes), "done, or refused with a code", not refused)
    kills = _kills(group)
    bench.tell(NAME, "processes that the system killed", kills, "0", not kills)
    peak = _peak(group) >> 20
    limit = _LIMIT_BYTES >> 20
    bench.tell(NAME, "most memory, with the files in the system's cache", f"{peak} of {limit} MiB")


async def _ask_for_much(bench: Bench, load: Load) -> Counter[str]:
    """Send the large requests, and return how often each outcome occurred."""
    file, table, image = await in_thread(lambda: (os.urandom(_FILE_BYTES), _table(), _image()))
    requests = (
        ("file", "POST", "/api/upload", _form("big.zip", "application/zip", _zipped(file))),
        ("image", "POST", "/api/upload", _form("big.jpg", "image/jpeg", image)),
        ("table", "POST", f"{CRM}/customers/import", _form("big.xlsx", _XLSX, table)),
        ("export", "GET", f"{CRM}/customers/export?format=xlsx", b""),
        ("too long", "POST", f"{CRM}/customers", b" " * _TOO_LONG_BYTES),
    )
    tokens = [await _token(load, n) for n in range(_AT_ONCE)]
    outcomes: Counter[str] = Counter()

    async def ask(token: str, what: str, method: str, path: str, content: bytes) -> None:
        kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"} if content[:2] == b"--" else {}
        connection = Connection(load.ports[0], token)
        reply = await connection.call(method, path, headers=kind, seconds=120, content=content or None)
        outcomes[f"{what} {reply.outcome}"] += 1
        connection.drop()

    for _ in range(bench.times(_ROUNDS)):
        asked: list[Awaitable[None]] = [ask(token, *request) for request in requests for token in tokens]
        await asyncio.gather(*asked)
    return outcomes


async def _token(load: Load, n: int) -> str:
    """Return the token of a new user: each user may have only a few tasks at once."""
    name = f"{load.mark}m{n}"
    person = {"username": name, "password": ADMIN_PASSWORD, "is_super": True, "must_change_password": False}
    await load.admin.must("POST", "/api/v1/system/users", person)
    return (await Connection(load.ports[0]).log_in(name, ADMIN_PASSWORD)).token


def _form(name: str, kind: str, content: bytes) -> bytes:
    """Return a multipart form with one file."""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'
    return head.encode() + content + f"\r\n--{_BOUNDARY}--\r\n".encode()


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("random", content)
    return packed.getvalue()


def _table() -> bytes:
    """Return a table of customers without names: every row is read and refused."""
    written = io.BytesIO()
    with xlsxwriter.Workbook(written, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["code", "remark"])
        for row in range(1, _ROWS + 1):
            sheet.write_row(row, 0, [f"M-{row}", "x" * 1000])
    return written.getvalue()


def _image() -> bytes:
    """Return a photograph of 36 million pixels, a JPEG of a few megabytes."""
    written = io.BytesIO()
    noise = Image.effect_noise((_PIXELS // 4, _PIXELS // 4), 80).resize((_PIXELS, _PIXELS)).convert("RGB")
    noise.save(written, "JPEG", quality=40)
    return written.getvalue()


def _folder() -> Path:
    """Return the folder of the control groups that limit memory: cgroup v1 has a folder for each resource."""
    return _GROUPS / "memory" if (_GROUPS / "memory").is_dir() else _GROUPS


@contextmanager
def _group() -> Iterator[Path]:
    """Create a control group with the memory limit, and remove it at the end."""
    made = _folder() / f"tradewind-{os.getpid()}"
    made.mkdir()
    try:
        names = ("memory.limit_in_bytes", "memory.max")
        (made / next(name for name in names if (made / name).exists())).write_text(str(_LIMIT_BYTES))
        yield made
    finally:
        with suppress(OSError):
            made.rmdir()


def _peak(group: Path) -> int:
    names = ("memory.max_usage_in_bytes", "memory.peak")
    return next((int((group / name).read_text()) for name in names if (group / name).exists()), 0)


def _kills(group: Path) -> int:
    """Return how many processes of the group the system killed because it ran out of memory."""
    names = ("memory.oom_control", "memory.events")
    text = next(found.read_text() for name in names if (found := group / name).exists())
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))
