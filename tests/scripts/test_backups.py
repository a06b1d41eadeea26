"""`scripts/backup` and `scripts/restore`: what was backed up under load comes back as it was at one moment."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from config.database import Driver, open_driver
from config.embedded import Embedded, acquire
from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.testing import Client, expect, serving
from tests.plugins.files.samples import PDF, PNG, upload

pytestmark = pytest.mark.gen_test(timeout=60)
ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ("auth", "rbac", "system", "files")
DATABASE = "original"
KEY = "one-key-of-these-tests-that-encrypts-backups"
# what the scripts do once their environment is there; the last line of errors is the peak of memory in KiB
COMMAND = (
    "import resource, sys; from scripts.backups.{}_command import main; code = main(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
)
LARGE = PDF + os.urandom(3 << 20)


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    output: str
    errors: str

    @property
    def sentence(self) -> str:
        """The line that says what went wrong."""
        lines = self.errors.splitlines()
        assert len(lines) == 2, self.errors
        return lines[0]

    @property
    def peak_bytes(self) -> int:
        return int(self.errors.splitlines()[-1]) << 10


@dataclass(frozen=True)
class Place:
    """A server with its embedded database, and the commands as an operator runs them beside it."""

    server: Running
    embedded: Embedded
    folder: Path

    @property
    def driver(self) -> Driver:
        return self.server.service.database.driver

    async def run(self, command: str, *arguments: str, key: str = "") -> Ran:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
        environment = {
            **kept,
            "TRADEWIND_DATA_DIR": str(self.folder),
            "TRADEWIND_MONGODB_DATABASE": DATABASE,
            "TRADEWIND_PLUGINS": ",".join(PLUGINS),
            "TRADEWIND_DEMO": "true",
            "TRADEWIND_WECOM_SECRET": "a-secret-of-a-plugin",
            "TRADEWIND_BACKUP_KEY": key,
            "PYTHONPATH": str(ROOT),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            COMMAND.format(command),
            *arguments,
            env=environment,
            cwd=self.folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        return Ran(process.returncode or 0, output.decode(), errors.decode())

    async def backup(self, name: str, key: str = "") -> Path:
        path = self.folder / name
        ran = await self.run("backup", str(path), key=key)
        assert ran.code == 0, ran.errors
        return path

    async def databases(self) -> set[str]:
        driver = open_driver("pymongo", self.embedded.uri, "admin", 10_000)
        try:
            found = await driver.command({"listDatabases": 1, "nameOnly": True})
        finally:
            await driver.close()
        return {one["name"] for one in found["databases"]}

    @asynccontextmanager
    async def restored(self, name: str) -> AsyncIterator[Driver]:
        driver = open_driver("pymongo", self.embedded.uri, name, 10_000)
        try:
            yield driver
        finally:
            await driver.close()


@asynccontextmanager
async def opened(embedded: Embedded, folder: Path) -> AsyncIterator[Place]:
    block = serving(embedded.uri, folder, load_plugins(PLUGINS), mongodb_database=DATABASE)
    async with block as server:
        yield Place(server, embedded, folder)


@pytest.fixture(scope="module")
def place(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("backups")
    embedded = acquire(folder)
    block = opened(embedded, folder)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
    embedded.release_and_wait(15)


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, place: Place) -> Client:
    client: Client = io_loop.run_sync(lambda: Client(place.server.url).log_in("admin"))
    return client


@pytest.fixture(scope="module")
def sealed(io_loop: IOLoop, place: Place) -> Path:
    """An encrypted backup."""
    path: Path = io_loop.run_sync(lambda: place.backup("sealed.backup", KEY))
    return path


async def transfer(driver: Driver) -> None:
    """Move one from a sum to another, and note it, in one transaction."""

    async def work() -> None:
        await driver.update_one("test_left", {"_id": "sum"}, {"$inc": {"value": -1}}, upsert=True)
        await driver.update_one("test_right", {"_id": "sum"}, {"$inc": {"value": 1}}, upsert=True)
        counter = await driver.update_one("test_count", {"_id": "moves"}, {"$inc": {"value": 1}}, upsert=True)
        assert counter is not None
        await driver.insert("test_moves", [{"_id": counter["value"], "text": "moved " * 20}])

    await driver.transaction(work)


@asynccontextmanager
async def transfers(driver: Driver) -> AsyncIterator[None]:
    """Transfers without a pause while the block runs."""
    running = True

    async def repeat() -> None:
        while running:
            await transfer(driver)

    task = asyncio.create_task(repeat())
    yield
    running = False
    await task


async def test_a_backup_under_writes_restores_to_one_moment_with_its_files(place: Place, admin: Client) -> None:
    for _ in range(3):
        await transfer(place.driver)
    private, public = await upload(admin, LARGE, "large.pdf"), await upload(admin, PNG, "logo.png", "public")
    async with transfers(place.driver):
        path = await place.backup("under-writes.backup")
    for found in [*place.folder.glob("files/private/*/*"), *place.folder.glob("files/public/*/*")]:
        found.unlink()
    ran = await place.run("restore", str(path), "--into", "again")
    assert ran.code == 0, ran.errors
    async with place.restored("again") as driver:
        (left,), (right,) = await driver.find("test_left", {}), await driver.find("test_right", {})
        moves = await driver.find("test_moves", {})
        assert (left["value"], right["value"]) == (-len(moves), len(moves))
        assert len(moves) < await place.driver.count("test_moves", {})
    async with serving(place.embedded.uri, place.folder, load_plugins(PLUGINS), mongodb_database="again") as server:
        client = await Client(server.url).log_in("admin")
        assert (await client.get(f"/api/file/dl?object_key={private['objectKey']}")).body == LARGE
        assert (await Client(server.url).get(public["url"])).body == PNG


async def test_a_restored_database_has_the_indexes_of_the_original(place: Place, sealed: Path) -> None:
    assert (await place.run("restore", str(sealed), "--into", "indexed", key=KEY)).code == 0
    names = sorted(place.server.service.database.collections)
    async with place.restored("indexed") as driver:
        for name in names:
            wanted = {index["name"] for index in await place.driver.list_indexes(name)}
            assert {index["name"] for index in await driver.list_indexes(name)} == wanted


async def test_a_check_proves_that_a_backup_restores_and_leaves_nothing(place: Place, sealed: Path) -> None:
    before = await place.databases()
    ran = await place.run("restore", str(sealed), "--check", "--json", key=KEY)
    assert ran.code == 0, ran.errors
    manifest = json.loads(ran.output)
    assert manifest["collections"]["users"]["documents"] == await place.driver.count("users", {})
    assert await place.databases() == before


async def test_a_database_that_is_used_is_not_restored_into(place: Place, sealed: Path) -> None:
    users = await place.driver.find("users", {})
    ran = await place.run("restore", str(sealed), "--into", DATABASE, key=KEY)
    assert (ran.code, "is not empty" in ran.sentence) == (1, True)
    assert await place.driver.find("users", {}) == users


async def test_a_flipped_byte_is_found_wherever_it_is(place: Place, sealed: Path) -> None:
    before, whole = await place.databases(), sealed.read_bytes()
    size = len(whole)
    for at in (3, 20, 40, 400, size // 3, size // 2, size - 400, size - 1):
        damaged = place.folder / "damaged.backup"
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert find_fault(damaged), at
    ran = await place.run("restore", str(damaged), "--into", "harmed", key=KEY)
    assert (ran.code, "damaged" in ran.sentence) == (1, True)
    assert await place.databases() == before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
async def test_a_backup_that_was_cut_or_is_longer_is_found(place: Place, sealed: Path, share: float) -> None:
    whole = sealed.read_bytes()
    cut = place.folder / "cut.backup"
    cut.write_bytes(whole + b"\0" if share == 1 else whole[: int(len(whole) * share)])
    assert find_fault(cut)


def find_fault(path: Path) -> str:
    """What `--list` says is wrong with a backup, in this process."""
    from scripts.backups.archive import ArchiveReader
    from scripts.backups.errors import BackupError
    from scripts.backups.restore_command import read_through

    with path.open("rb") as source:
        try:
            read_through(ArchiveReader(source, path.name, KEY))
        except BackupError as error:
            return str(error)
    return ""


async def test_the_wrong_key_and_none_are_told_from_damage(place: Place, sealed: Path) -> None:
    wrong = await place.run("restore", str(sealed), "--list", key="another-key-that-is-long-enough-for-the-setting")
    none = await place.run("restore", str(sealed), "--list")
    assert (wrong.code, "another key" in wrong.sentence) == (1, True)
    assert (none.code, "is encrypted" in none.sentence) == (1, True)


async def test_a_backup_of_a_newer_version_is_refused(place: Place) -> None:
    path = await place.backup("newer.backup")
    from scripts.backups import archive

    whole = path.read_bytes()
    start = len(archive.MAGIC)
    kind, packing, length = archive._HEAD.unpack_from(whole, start)
    body = archive._unpack(packing, whole[start + 6 : start + 6 + length])
    data = re.sub(rb'"version": "[^"]+"', b'"version": "99.0.0"', body)
    head = archive._HEAD.pack(kind, b"r", len(data))
    path.write_bytes(archive.MAGIC + head + data + archive._hash(archive.MAGIC, head, data))
    ran = await place.run("restore", str(path), "--list")
    assert (ran.code, "99.0.0, which is newer" in ran.sentence) == (1, True)


async def test_secrets_are_kept_in_encrypted_backups_alone(place: Place, sealed: Path) -> None:
    readable = await place.backup("readable.backup")
    found = []
    for path, key in ((readable, ""), (sealed, KEY)):
        written = path.with_suffix(".env")
        assert (await place.run("restore", str(path), "--list", "--settings-to", str(written), key=key)).code == 0
        found.append(written.read_text())
    assert "TRADEWIND_PLUGINS='auth,rbac,system,files'" in found[0]
    assert ["a-secret-of-a-plugin" in text for text in found] == [False, True]
    assert KEY not in found[1]


async def test_memory_does_not_grow_with_the_database(place: Place) -> None:
    small = await place.run("backup", str(place.folder / "small.backup"))
    for first in range(0, 80, 8):
        rows: list[dict[str, Any]] = [{"_id": first + at, "bytes": os.urandom(1 << 20)} for at in range(8)]
        await place.driver.insert("test_large", rows)
    path = place.folder / "large.backup"
    large = await place.run("backup", str(path))
    checked = await place.run("restore", str(path), "--check")
    await place.driver.delete_many("test_large", {})
    assert (large.code, checked.code) == (0, 0), checked.errors
    assert path.stat().st_size > 80 << 20
    assert large.peak_bytes - small.peak_bytes < 40 << 20
    assert checked.peak_bytes - small.peak_bytes < 60 << 20


async def test_only_the_newest_backups_are_kept(place: Place) -> None:
    folder = place.folder / "kept"
    folder.mkdir()
    old = [folder / f"{DATABASE}-2020010{day}T000000Z.backup" for day in (1, 2)]
    for path in [*old, folder / "mine.backup"]:
        path.touch()
    assert (await place.run("backup", str(folder), "--keep", "2")).code == 0
    assert (old[0].exists(), old[1].exists(), (folder / "mine.backup").exists()) == (False, True, True)
    assert len(list(folder.iterdir())) == 3
    expect(await Client(place.server.url).get("/api/health"))
