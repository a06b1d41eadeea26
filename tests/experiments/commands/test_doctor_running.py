"""The doctor on what runs: a migration that failed, a database of a newer version, a process that hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handlers.catalogue.declarations import Catalogue
from handlers.data.database import Database
from handlers.operations.migrations import MIGRATIONS
from handlers.operations.processes import _Folder
from plugins.commands.diagnosis.database import check_running
from plugins.commands.diagnosis.findings import Finding
from plugins.testing import empty_database
from tests.support.data_fixtures import opened

pytestmark = pytest.mark.gen_test(timeout=30)


async def found(uri: str, folder: Path, *kept: dict[str, object]) -> list[Finding]:
    """What the doctor finds where this is kept of migrations."""
    async with empty_database(uri) as name:
        database = Database(opened("direct", uri, name), ())
        try:
            if kept:
                await database.driver.insert(MIGRATIONS, list(kept))
            return [one async for one in check_running(database, Catalogue(plugins=("finance",)), folder)]
        finally:
            await database.driver.close()


async def test_a_sound_database_has_no_finding(mongodb_uri: str, tmp_path: Path) -> None:
    assert await found(mongodb_uri, tmp_path, {"_id": "2026-11-a/things", "failed": None, "passes": 1}) == []


async def test_a_migration_that_failed_is_an_error(mongodb_uri: str, tmp_path: Path) -> None:
    (finding,) = await found(mongodb_uri, tmp_path, {"_id": "2026-11-a/things", "failed": "ValueError: odd"})
    assert (finding.level, finding.check, finding.subject) == ("error", "failed-migration", "2026-11-a/things")
    assert "ValueError: odd" in finding.advice


async def test_a_newer_database_is_an_error(mongodb_uri: str, tmp_path: Path) -> None:
    told = {"contract": True, "plugin": "finance", "summary": "Less.", "version": "9.0.0"}
    (finding,) = await found(mongodb_uri, tmp_path, {"_id": "2030-01-less", **told})
    assert (finding.level, finding.check) == ("error", "newer-database")


async def test_a_process_that_does_not_answer_is_an_error(mongodb_uri: str, tmp_path: Path) -> None:
    (tmp_path / "processes").mkdir()
    folder = _Folder(tmp_path / "processes")
    number, lock = folder.take(8000)
    silent = folder.bind(8000, number)
    silent.listen()
    try:
        (finding,) = await found(mongodb_uri, tmp_path)
        assert (finding.check, finding.subject) == ("hanging-process", "port 8000, process 0")
    finally:
        silent.close()
        os.close(lock)
        folder.close()
