"""`scripts/backup` and `scripts/restore`: what was backed up under load comes back as it was at one moment."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from config.database.raw_documents import RawDatabase, SnapshotLost
from config.embedded import acquire
from plugins.boot.listen import StartError
from plugins.commands.backups.encryption import THREAD
from plugins.commands.backups.keys import Key
from plugins.commands.backups.opening import open_backup
from plugins.commands.backups.progress import BackupError
from plugins.commands.backups.restoring import Ahead
from plugins.commands.backups.stored_files import open_files
from plugins.commands.restore import main
from plugins.files.records import OBJECTS
from plugins.rbac.records import USERS
from plugins.testing import Client, eventually, serving
from tests.api.files.samples import PDF, PNG, upload
from tests.support.backup_place import DATABASE, KEY, NAMES, PLUGINS, Place, opened, transfer, transfers
from tests.support.s3_stand_in import s3_server
from tests.support.transfers import peak_growth
from tests.support.written_backup import write_backup, writing

pytestmark = pytest.mark.gen_test(timeout=60)
OTHER_KEY = "another-key-that-is-as-long-as-a-key-must-be"
LARGE = PDF + os.urandom(3 << 20)


@pytest.fixture(scope="module")
def place(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("backups")
    embedded = acquire(folder)
    block = opened(embedded, folder)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
    embedded.release_and_wait(15)


@pytest.fixture(scope="module")
def sealed(io_loop: IOLoop, place: Place) -> Path:
    """An encrypted backup."""
    path: Path = io_loop.run_sync(lambda: place.backup("sealed.backup", KEY))
    return path


def fault_of(path: Path, key: str = KEY) -> str:
    """What is wrong with a backup; "" where nothing is."""
    with path.open("rb") as source:
        try:
            open_backup(source, path.name, Key(key) if key else None, unencrypted=True).check()
        except BackupError as error:
            return str(error)
    return ""


async def test_a_backup_under_writes_restores_to_one_moment_with_files_and_indexes(place: Place) -> None:
    admin = await Client(place.server.url).log_in("admin")
    for _ in range(3):
        await transfer(place.driver)
    private, public = await upload(admin, LARGE, "large.pdf"), await upload(admin, PNG, "logo.png", "public")
    async with transfers(place.driver):
        path = await place.backup("under-writes.backup")
    for found in [*place.folder.glob("files/private/*/*"), *place.folder.glob("files/public/*/*")]:
        found.unlink()
    await place.restore(path, "again")
    async with place.database("again") as driver:
        (left,), (right,) = await driver.find("test_left", {}), await driver.find("test_right", {})
        moves = await driver.find("test_moves", {})
        assert (left["value"], right["value"]) == (-len(moves), len(moves))
        assert len(moves) < len(await place.driver.find("test_moves", {}))
        for name, collection in place.server.service.database.collections.items():
            assert await driver.has_indexes(name, collection.index_specs), name
    async with serving(place.embedded.uri, place.folder, PLUGINS, mongodb_database="again") as server:
        client = await Client(server.url).log_in("admin")
        assert (await client.get(f"/api/file/dl?object_key={private['objectKey']}")).body == LARGE
        assert (await Client(server.url).get(public["url"])).body == PNG


async def test_files_of_a_local_disk_are_restored_into_s3(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = await Client(place.server.url).log_in("admin")
    wanted = {
        (await upload(admin, content, name))["objectKey"]: content
        for content, name in ((LARGE, "a.pdf"), (PNG, "b.png"))
    }
    path = await place.backup("for-s3.backup")
    with s3_server() as s3:
        for name, value in s3.buckets().items():
            monkeypatch.setenv(f"TRADEWIND_{name}".upper(), value)
        await place.restore(path, "in-s3")
        async with place.database("in-s3") as driver, open_files(place.settings) as storage:
            for key, content in wanted.items():
                (record,) = await driver.find(OBJECTS.name, {"_id": key})
                source = await storage.open("private", key, record["etag"], 0, record["size"])
                assert source is not None
                assert b"".join([block async for block in source]) == content
                await source.aclose()


async def test_a_past_that_mongodb_no_longer_keeps_is_a_sentence_that_says_what_to_do(place: Place) -> None:
    async def read_again_and_again() -> None:
        while True:
            await transfer(place.driver)
            assert [page async for page in raw.pages("test_moves", moment)]

    raw = RawDatabase(place.embedded.uri, DATABASE)
    try:
        await transfer(place.driver)
        moment = await raw.begin(["test_moves"])
        with pytest.raises(SnapshotLost, match="minSnapshotHistoryWindowInSeconds"):
            await asyncio.wait_for(read_again_and_again(), 30)
    finally:
        await raw.close()


async def test_an_unfinished_restore_is_neither_served_nor_continued(place: Place, sealed: Path) -> None:
    raw = RawDatabase(place.embedded.uri, "unfinished")
    try:
        assert await raw.claim()
        with pytest.raises(BackupError, match="was killed, or is running"):
            await place.restore(sealed, "unfinished")
        with pytest.raises(StartError, match="is running or was killed"):
            async with serving(place.embedded.uri, place.folder, PLUGINS, mongodb_database="unfinished"):
                pass
    finally:
        await raw.drop()
        await raw.close()


async def test_a_check_proves_that_a_backup_restores_and_leaves_nothing(place: Place, sealed: Path) -> None:
    before = await place.databases()
    manifest = await place.restore(sealed, "tradewind_check_here", keeps=False)
    assert manifest["collections"][USERS.name]["documents"] == len(await place.driver.find(USERS.name, {}))
    assert await place.databases() == before


async def test_an_interrupted_restore_leaves_nothing(place: Place, tmp_path: Path) -> None:
    async def is_begun() -> bool:
        return "interrupted" in await place.databases()

    write_backup(tmp_path / "large.backup", 20, KEY)
    before = await place.databases()
    restoring = asyncio.create_task(place.restore(tmp_path / "large.backup", "interrupted"))
    await eventually(is_begun)
    restoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restoring
    assert await place.databases() == before


async def test_reading_that_is_interrupted_leaves_no_thread_that_waits(tmp_path: Path) -> None:
    write_backup(tmp_path / "large.backup", 2, KEY)
    with (tmp_path / "large.backup").open("rb") as source:
        async with aclosing(Ahead(open_backup(source, "large.backup", Key(KEY)))) as pieces:
            taking = asyncio.create_task(pieces.take())
            await asyncio.sleep(0)  # it waits for the thread now
            taking.cancel()
            await asyncio.wait([taking])
    assert THREAD not in [thread.name for thread in threading.enumerate()]


async def test_a_database_that_is_used_is_not_restored_into(place: Place) -> None:
    path = await place.backup("readable.backup")
    users = await place.driver.find(USERS.name, {})
    code, output = await place.command("restore", str(path), "--into", DATABASE)
    assert (code, output.count("\n")) == (1, 1)
    assert output.startswith(f"restore: The database {DATABASE} is not empty")
    assert await place.driver.find(USERS.name, {}) == users


async def test_a_flipped_byte_is_found_wherever_it_is_and_harms_nothing(place: Place, sealed: Path) -> None:
    before, whole = await place.databases(), sealed.read_bytes()
    size, damaged = len(whole), place.folder / "damaged.backup"
    assert fault_of(sealed) == ""
    for at in (3, 18, 20, 40, 400, size // 3, size // 2, size - 400, size - 1):
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert fault_of(damaged), at
    with pytest.raises(BackupError, match="damaged"):
        await place.restore(damaged, "harmed")
    assert await place.databases() == before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
async def test_a_backup_that_was_cut_or_is_longer_is_found(place: Place, sealed: Path, share: float) -> None:
    whole, cut = sealed.read_bytes(), place.folder / "cut.backup"
    cut.write_bytes(whole + b"\0" if share == 1 else whole[: int(len(whole) * share)])
    assert fault_of(cut)


async def test_a_wrong_or_missing_key_is_distinguished_from_damage(sealed: Path) -> None:
    assert "was encrypted with another key" in fault_of(sealed, OTHER_KEY)
    assert "is encrypted: give its key" in fault_of(sealed, "")


def test_a_backup_is_listed_on_a_machine_without_settings(
    sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_text(KEY)
    assert main([str(sealed), "--list", "--key-file", "key", "--settings-to", "new.env"]) == 0
    assert "sealed.backup is whole: " in capsys.readouterr().out
    written = (tmp_path / "new.env").read_text()
    assert f"TRADEWIND_PLUGINS='{','.join(NAMES)}'\n" in written
    assert KEY not in written
    (tmp_path / "key").write_text("short")
    assert main([str(sealed), "--list", "--key-file", "key"]) == 1
    assert "is shorter than 32 bytes" in capsys.readouterr().err


def test_where_there_is_a_key_a_backup_without_encryption_is_refused_unless_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged, key = tmp_path / "forged.backup", tmp_path / "key"
    write_backup(forged, megabytes=1)
    key.write_text(KEY)
    assert main([str(forged), "--list", "--key-file", str(key)]) == 1
    assert "forged.backup is not encrypted although there is a key" in capsys.readouterr().err
    assert main([str(forged), "--list", "--key-file", str(key), "--unencrypted"]) == 0


async def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.backup"
    with path.open("wb") as output, writing(output, version="99.0.0"):
        pass
    assert "99.0.0, which is newer" in fault_of(path)


async def test_secrets_are_kept_in_encrypted_backups_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_WECOM_SECRET", "a-secret-of-a-plugin")
    kept = []
    for key in ("", KEY):
        with (await place.backup("settings.backup", key)).open("rb") as source:
            backup = open_backup(source, "settings.backup", Key(key) if key else None)
            backup.check()
        kept.append(backup.settings)
    assert [settings["TRADEWIND_PLUGINS"] for settings in kept] == [",".join(NAMES)] * 2
    assert [settings.get("TRADEWIND_WECOM_SECRET") for settings in kept] == [None, "a-secret-of-a-plugin"]


async def test_memory_does_not_grow_with_the_database(place: Place) -> None:
    for first in range(0, 3000, 1000):
        rows = [{"_id": first + at, "bytes": os.urandom(10_000)} for at in range(1000)]
        await place.driver.insert("test_large", rows)
    rows.clear()
    with peak_growth(os.getpid()) as growth:
        path = await place.backup("large.backup")
        assert growth() < 20 << 20
        await place.restore(path, "tradewind_check_large", keeps=False)
        assert growth() < 28 << 20
    assert path.stat().st_size > 30_000_000
    await place.driver.delete_many("test_large", {})


async def test_only_the_newest_backups_are_kept(place: Place) -> None:
    folder = place.folder / "kept"
    folder.mkdir()
    old = [folder / f"{DATABASE}-2020010{day}T000000Z.backup" for day in (1, 2)]
    for path in [*old, folder / "mine.backup"]:
        path.touch()
    code, output = await place.command("backup", str(folder), "--keep", "2", "--json")
    assert (code, json.loads(output.splitlines()[0])["removed"]) == (0, [old[0].name])
    assert (old[0].exists(), old[1].exists(), (folder / "mine.backup").exists()) == (False, True, True)
    assert fault_of(Path(json.loads(output.splitlines()[0])["file"])) == ""


async def test_the_folder_in_which_backups_are_kept_is_made(place: Place) -> None:
    folder = place.folder / "new" / "backups"
    code, output = await place.command("backup", str(folder), "--keep", "2", "--json")
    assert (code, Path(json.loads(output.splitlines()[0])["file"]).parent) == (0, folder)


async def test_a_folder_of_backups_that_cannot_be_made_is_a_sentence(place: Place) -> None:
    (place.folder / "a-file").touch()
    code, output = await place.command("backup", str(place.folder / "a-file"), "--keep", "2")
    assert (code, output.strip().endswith("a-file: File exists")) == (1, True), output
