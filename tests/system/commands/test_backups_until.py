"""`backup --changes` and `restore --until`: any moment since a backup comes back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import OperationFailure
from tornado.ioloop import IOLoop

from config.database import Driver
from config.database.raw_changes import ChangesLost, RawChanges
from config.database.raw_documents import RawDatabase
from config.embedded import acquire
from handlers.operations.process_metrics import BACKUPS
from plugins.commands.backups.folders import header_of, newest_moments, remove_old
from plugins.testing import Client
from tests.api.files.samples import PDF, PNG, upload
from tests.support.backup_place import DATABASE, Place, opened, transfer

pytestmark = pytest.mark.gen_test(timeout=90)
THINGS, OTHERS = "test_things", "test_others"


@pytest.fixture(scope="module")
def place(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("until")
    embedded = acquire(folder)
    block = opened(embedded, folder)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
    embedded.release_and_wait(15)


async def back_up(place: Place, folder: Path, *options: str) -> dict[str, Any]:
    """Run `backup` into a folder; what it says."""
    code, output = await place.command("backup", str(folder), "--json", *options)
    assert code == 0, output
    said: dict[str, Any] = json.loads(output.splitlines()[-1])
    return said


async def next_second() -> str:
    """Wait until the clock, which is MongoDB's too, shows another second; that moment."""
    now = int(time.time())
    while int(time.time()) <= now:
        await asyncio.sleep(0.01)
    return datetime.fromtimestamp(now + 1, UTC).isoformat()


async def state(driver: Driver) -> dict[str, list[dict[str, Any]]]:
    names = (THINGS, OTHERS, "test_left", "test_right", "test_count", "test_moves")
    return {name: await driver.find(name, {}, sort=[("_id", 1)]) for name in names}


async def change_in_every_way(driver: Driver) -> None:
    """Writes of all kinds: nested fields, arrays that grow and are cut, fields that go, deletions, transactions."""
    await driver.insert(THINGS, [{"_id": n, "list": [1, 2, 3, 4], "in": {"a": 1, "b": {"c": 2}}} for n in range(6)])
    await driver.update_one(THINGS, {"_id": 0}, {"$set": {"in.b.c": 3, "list.1": 9}, "$unset": {"in.a": ""}})
    await driver.update_one(THINGS, {"_id": 1}, {"$push": {"list": {"$each": [5, 6]}}})
    await driver.update_one(THINGS, {"_id": 2}, [{"$set": {"list": {"$slice": ["$list", 2]}, "in.new": "$in.a"}}])
    await driver.update_one(THINGS, {"_id": 3}, [{"$replaceWith": {"_id": 3, "other": [{"deep": [1]}]}}])
    await driver.update_one(THINGS, {"_id": 3}, {"$set": {"other.0.deep.1": {"x": None}}})
    await driver.delete_many(THINGS, {"_id": 4})
    await driver.update_one(THINGS, {"_id": 5}, {"$set": {"in": {"a.name": {"with.dots": 1}}}})
    for _ in range(5):
        await transfer(driver)


async def test_changes_lead_from_a_backup_to_any_later_second(place: Place) -> None:
    folder, admin = place.folder / "chain", await Client(place.server.url).log_in("admin")
    folder.mkdir()
    await place.driver.insert(OTHERS, [{"_id": "before", "of": "the backup"}])
    await transfer(place.driver)
    before = await upload(admin, PNG, "before.png")
    whole = await back_up(place, folder)
    await change_in_every_way(place.driver)
    between = await upload(admin, PDF, "between.pdf")
    await back_up(place, folder, "--changes")
    await place.driver.update_one(OTHERS, {"_id": "before"}, {"$set": {"of": "both"}})
    wanted, moment = await state(place.driver), await next_second()
    await place.driver.update_one(OTHERS, {"_id": "before"}, {"$set": {"of": "too late"}})
    await change_too_late(place.driver)
    late = await upload(admin, PDF + b"late", "late.pdf")
    await next_second()
    told = await back_up(place, folder, "--changes")
    assert told["changes"] > 0
    for found in place.folder.glob("files/private/*/*"):
        found.unlink()
    code, output = await place.command("restore", whole["file"], "--into", "then", "--until", moment)
    assert code == 0, output
    async with place.database("then") as driver:
        assert await state(driver) == wanted
        listed = await driver.command({"listCollections": 1, "nameOnly": True})
        names = [one["name"] for one in listed["cursor"]["firstBatch"]]
        documents = sum([await driver.count(name, {}) for name in names])
    assert f"then has {documents:,} documents in {len(names)} collections" in output
    stored = {path.name for path in place.folder.glob("files/private/*/*")}
    keys = [Path(one["objectKey"]).name for one in (before, between, late)]
    assert [key in stored for key in keys] == [True, True, False]


async def change_too_late(driver: Driver) -> None:
    await driver.delete_many(THINGS, {})
    await transfer(driver)


async def test_a_gap_and_a_time_that_is_not_reached_are_told_before_anything_is_written(place: Place) -> None:
    folder, before = place.folder / "gap", await place.databases()
    folder.mkdir()
    whole = await back_up(place, folder)
    for _ in range(2):
        await transfer(place.driver)
        await next_second()
        last = await back_up(place, folder, "--changes")
    first = min(folder.glob("*.changes"))
    reached = header_of(first)["moment"]["at"]
    first.rename(first.with_suffix(".elsewhere"))
    code, output = await place.command("restore", whole["file"], "--check", "--until", last["moment"]["at"])
    assert (code, "go on from this backup reach until" in output) == (1, True)
    first.with_suffix(".elsewhere").rename(first)
    Path(last["file"]).unlink()
    code, output = await place.command("restore", whole["file"], "--check", "--until", "2100-01-01T00:00:00Z")
    assert (code, f"reach until {reached}" in output) == (1, True)
    assert await place.databases() == before


async def test_a_flipped_byte_in_changes_is_found_and_leaves_nothing(place: Place) -> None:
    folder, before = place.folder / "flipped", await place.databases()
    folder.mkdir()
    whole = await back_up(place, folder)
    await transfer(place.driver)
    await next_second()
    changes = await back_up(place, folder, "--changes")
    path = Path(changes["file"])
    bytes_ = bytearray(path.read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    path.write_bytes(bytes_)
    code, output = await place.command(
        "restore", whole["file"], "--into", "flipped", "--until", changes["moment"]["at"]
    )
    assert (code, "is damaged" in output) == (1, True)
    assert await place.databases() == before


async def test_changes_alone_are_not_restored_and_not_taken(place: Place) -> None:
    folder = place.folder / "alone"
    folder.mkdir()
    code, output = await place.command("backup", str(folder), "--changes")
    assert (code, "take a whole one first" in output) == (1, True)
    await back_up(place, folder)
    changes = await back_up(place, folder, "--changes")
    code, output = await place.command("restore", changes["file"], "--check")
    assert (code, "has changes alone" in output) == (1, True)
    code, output = await place.command("restore", changes["file"], "--list")
    assert (code, "is whole" in output) == (0, True)


async def test_changes_that_the_oplog_has_no_more_are_a_sentence_that_says_what_to_do(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> None:  # an oplog that has rolled over takes gigabytes of writes
        raise OperationFailure("Resume of change stream was not possible", 286)

    monkeypatch.setattr(AsyncDatabase, "watch", lost)
    raw = RawDatabase(place.embedded.uri, DATABASE)
    try:
        moment = await raw.now(BACKUPS)
        with pytest.raises(ChangesLost, match="minRetentionHours"):
            assert [page async for page in RawChanges(raw).since(moment, moment, BACKUPS)]
    finally:
        await raw.close()


def test_old_changes_go_with_the_backup_before_them(tmp_path: Path) -> None:
    for number in range(1, 6):
        ending = "backup" if number % 2 else "changes"
        (tmp_path / f"{DATABASE}-2020010{number}T000000Z.{ending}").touch()
    assert [name.partition("-")[2][:8] for name in remove_old(tmp_path, DATABASE, 2)] == ["20200101", "20200102"]
    assert len(list(tmp_path.iterdir())) == 3


async def test_changes_go_on_from_the_last_ones(place: Place) -> None:
    folder = place.folder / "going-on"
    folder.mkdir()
    await back_up(place, folder)
    await transfer(place.driver)
    first = await back_up(place, folder, "--changes")
    newest = newest_moments(folder, DATABASE)[0]
    assert (newest.time, newest.inc) == (first["moment"]["seconds"], first["moment"]["increment"])
