"""Migrations over a database: each document once, by one instance at a time, on from where another one stopped."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bson import ObjectId

from config.database import Document, open_driver
from handlers.data.database import LEASES, Database
from handlers.docs.system import Readiness
from handlers.operations.migrations import MIGRATIONS, Migration, MigrationFailed, Progress, Stage
from plugins.boot.listen import StartError
from plugins.testing import empty_database, serving
from tests.support.migrating_instance import NAME, TANKS, measuring, migrations

pytestmark = pytest.mark.gen_test(timeout=60)
ROOT = Path(__file__).resolve().parents[3]
PLACE = f"{NAME}/{TANKS.name}"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Tanks:
    """A database with tanks that an older version has stored, as two instances have it."""

    uri: str
    name: str
    first: Database
    second: Database

    async def times(self) -> Counter[int]:
        """How many were changed how often."""
        return Counter(row.get("times", 0) for row in await self.first.driver.find(TANKS.name, {}))

    async def place(self) -> Document:
        """What is kept of the migration."""
        (row,) = await self.first.driver.find(MIGRATIONS, {"_id": PLACE})
        return row


@asynccontextmanager
async def tanks(uri: str, count: int) -> AsyncIterator[Tanks]:
    """Some tanks, every tenth deleted."""
    async with empty_database(uri) as name:
        first, second = (Database(open_driver("direct", uri, name, 5000), (TANKS,)) for _ in range(2))
        stored = [{"_id": ObjectId(), "deleted": number % 10 == 0} for number in range(count)]
        await first.driver.insert(TANKS.name, stored)
        try:
            yield Tanks(uri, name, first, second)
        finally:
            await first.driver.close()
            await second.driver.close()


async def test_each_document_is_changed_once_and_the_deleted_ones_too(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 250) as kept:
        runner = migrations(kept.first, measuring(kept.first))
        assert [(one.state, one.left) for one in await runner.states(count=True)] == [("due", 250)]
        assert await runner.run_due() == Progress(250, 250)
        assert [one.state for one in await runner.states()] == ["again"]
        assert await runner.run_due() == Progress(0, 0)
        assert await kept.times() == {1: 250}


async def test_a_day_later_what_older_instances_wrote_is_looked_for_once(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 30) as kept:
        runner = migrations(kept.first, measuring(kept.first))
        await runner.run_due()
        await kept.first.driver.update_many(MIGRATIONS, {"_id": PLACE}, {"$set": {"again_at": LONG_AGO}})
        assert await runner.run_due() == Progress(30, 30)
        await kept.first.driver.update_many(MIGRATIONS, {"_id": PLACE}, {"$set": {"again_at": LONG_AGO}})
        assert await runner.run_due() == Progress(0, 0)
        assert [one.state for one in await runner.states()] == ["done"]


async def test_the_second_look_comes_at_once_where_it_is_asked_for(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 30) as kept:
        runner = migrations(kept.first, measuring(kept.first))
        await runner.run_due()
        assert await runner.run_due(again=True) == Progress(30, 30)
        assert [one.state for one in await runner.states()] == ["done"]
        assert await runner.run_due(again=True) == Progress(0, 0)


async def test_a_plan_writes_nothing(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 5) as kept:
        await migrations(kept.first, measuring(kept.first)).states(count=True)
        assert await kept.first.driver.find(MIGRATIONS, {}) == []
        assert await kept.times() == {0: 5}


async def test_two_instances_at_once_do_the_work_once(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 500) as kept:
        both = [migrations(one, measuring(one)) for one in (kept.first, kept.second)]
        done = await asyncio.gather(*(runner.run_due() for runner in both))
        assert sorted(progress.changed for progress in done) == [0, 500]
        assert await kept.times() == {1: 500}


async def test_a_command_waits_for_the_instance_that_does_the_work(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 500) as kept:
        both = [migrations(one, measuring(one)) for one in (kept.first, kept.second)]
        done = await asyncio.gather(*(runner.run_due(tell=lambda stage, progress: None) for runner in both))
        assert sorted(progress.changed for progress in done) == [0, 500]
        assert await kept.times() == {1: 500}


async def test_after_a_kill_in_the_middle_another_instance_goes_on_from_there(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 350) as kept:
        command = (sys.executable, "-m", "tests.support.migrating_instance", kept.uri, kept.name)
        process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        assert await process.stdout.readline() == b"reached\n"
        process.kill()
        await process.wait()
        assert await kept.times() == {1: 200, 0: 150}
        runner = migrations(kept.first, measuring(kept.first))
        assert await runner.run_due() == Progress(0, 0)  # the lease of the killed one has not ended yet
        await kept.first.driver.update_many(LEASES, {}, {"$set": {"until": LONG_AGO}})
        assert await runner.run_due() == Progress(150, 150)
        assert await kept.times() == {1: 350}


async def test_one_that_fails_says_where_and_goes_on_from_there(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 250) as kept:
        good = measuring(kept.first)
        (stage,) = good.stages(migrations(kept.first)._service)
        asked = 0

        async def fails_at_the_third(rows: Sequence[Document]) -> int:
            nonlocal asked
            asked += 1
            if asked == 3:
                raise ValueError("a tank without a wall")
            return await stage.change(rows)

        broken = replace(good, stages=lambda _: [replace(stage, change=fails_at_the_third)])
        after = measured_later(kept.first)
        runner = migrations(kept.first, broken, after)
        with pytest.raises(MigrationFailed, match=r"2026-11-litres failed on acme_tanks \(ValueError: a tank without"):
            await runner.run_due()
        assert [(one.state, one.left) for one in await runner.states(count=True)] == [("failed", 50), ("due", 250)]
        assert await kept.times() == {1: 200, 0: 50}
        mended = migrations(kept.first, good)
        assert await mended.run_due() == Progress(50, 50)
        assert await kept.times() == {1: 250}
        assert [(one.state, one.failure) for one in await mended.states()] == [("again", None)]


def measured_later(database: Database, *, contract: bool = False) -> Migration:
    """A migration behind the first one."""
    return replace(measuring(database), name="2026-12-litres", contract=contract)


async def test_what_older_versions_cannot_read_is_left_to_the_command(
    mongodb_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.operations.migrations._NOTICE_SECONDS", 0)
    async with tanks(mongodb_uri, 20) as kept:
        contract, further = measured_later(kept.first, contract=True), replace(measuring(kept.first), name="2027-01-a")
        runner, old = migrations(kept.first, measuring(kept.first), contract, further), migrations(kept.second)
        assert await runner.run_due() == Progress(20, 20)  # nor what comes after it
        assert await old.find_newer() is None
        # the first one once more, for what older instances wrote until then
        assert await runner.run_due(contract=True) == Progress(60, 60)
        assert [one.state for one in await runner.states()] == ["done", "done", "again"]
        assert await runner.find_newer() is None
        newer = await old.find_newer()
        assert newer is not None
        assert "2026-12-litres" in newer
        assert "Start that version or a newer one, or restore a backup" in newer


async def test_an_older_instance_that_runs_notices_and_is_not_ready(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 1) as kept:
        old = migrations(kept.first, measuring(kept.first))
        await kept.second.driver.insert(MIGRATIONS, [CONTRACT])
        for _ in range(2):
            await old._check()
        assert await Readiness(kept.first, old._service.readiness).results() == {"database": True, "migrations": False}
        assert await kept.times() == {0: 1}


CONTRACT = {
    "_id": "2030-01-walls",
    "contract": True,
    "plugin": "acme",
    "summary": "Tanks lose their walls.",
    "version": "9.0.0",
}


async def test_older_code_does_not_start_on_a_newer_database(mongodb_uri: str, tmp_path: Path) -> None:
    async with tanks(mongodb_uri, 1) as kept:
        await kept.first.driver.insert(MIGRATIONS, [{**CONTRACT, "plugin": "finance"}])
        server = serving(mongodb_uri, tmp_path, mongodb_database=kept.name)
        with pytest.raises(StartError, match=r"newer than this version, .*Tradewind 9\.0\.0 ran 2030-01-walls"):
            await server.__aenter__()


async def test_what_a_plugin_that_is_not_loaded_did_is_no_matter(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 1) as kept:
        await kept.first.driver.insert(MIGRATIONS, [{**CONTRACT, "plugin": "other"}])
        assert await migrations(kept.first).find_newer() is None


async def test_documents_that_an_index_holds_are_read_until_none_is_left(mongodb_uri: str) -> None:
    async with tanks(mongodb_uri, 230) as kept:
        (stage,) = measuring(kept.first).stages(migrations(kept.first)._service)
        shrinking = Stage(TANKS, stage.change, {"litres": None}, hint="_id_")
        runner = migrations(kept.first, Migration(NAME, "Tanks get their litres.", lambda _: [shrinking]))
        assert await runner.run_due() == Progress(230, 230)
        assert [one.left for one in await runner.states(count=True)] == [0]
        await kept.first.driver.insert(TANKS.name, [{"_id": ObjectId()}])
        assert await runner.run_due() == Progress(1, 1)
