"""Backups that the service takes itself, as its settings say."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from config.embedded import Embedded, acquire
from handlers.operations.jobs import Jobs
from handlers.operations.process_metrics import last_backup
from handlers.operations.scheduled_backups import back_up_if_due
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.commands import BACKUP
from plugins.commands.backups.opening import open_backup
from plugins.testing import eventually, serving

pytestmark = pytest.mark.gen_test(timeout=60)
NAMES = ("auth", "rbac", "system", "files")
PLUGINS = load_plugins(NAMES)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the servers."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def embedded(data: Path) -> Iterator[Embedded]:
    """Their database, which keeps its past for a backup."""
    database = acquire(data)
    yield database
    database.release_and_wait(15)


async def has_run(server: Running, how: str) -> bool:
    """Whether the job has succeeded, or failed."""
    return bool(getattr(server.service.part(Jobs).runs.get("backup"), how, 0))


async def test_a_service_takes_backups_by_itself_and_keeps_the_newest(
    embedded: Embedded, data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (1, 2):
        (folder / f"tradewind-2020010{day}T000000Z.backup").touch()
    (folder / ".tradewind-20200103T000000Z.backup.partial").touch()
    settings = {"backup_hours": 24, "backup_folder": str(folder), "backup_keep": 2, "mongodb_database": "tradewind"}
    async with serving(embedded.uri, data, PLUGINS, BACKUP, **settings) as server:
        driver = server.service.database.driver
        await eventually(partial(has_run, server, "succeeded_at"), seconds=45)
        taken = sorted(path.name for path in folder.iterdir())
        assert len(taken) == 2
        assert taken[0] == "tradewind-20200102T000000Z.backup"
        with (folder / taken[1]).open("rb") as source:
            manifest = open_backup(source, taken[1], None).check()
            assert manifest["moment"]["at"][:19] == (await last_backup(driver)).isoformat()[:19]
        await back_up_if_due(server.service, BACKUP)  # not for another day
        assert sorted(path.name for path in folder.iterdir()) == taken


async def test_a_backup_that_fails_is_a_failed_job_with_its_reason(
    embedded: Embedded, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = tmp_path / "a-file"
    nowhere.touch()
    settings = {"backup_hours": 24, "backup_folder": str(nowhere), "mongodb_database": "failing"}
    with caplog.at_level(logging.ERROR, "tradewind.jobs"):
        async with serving(embedded.uri, data, PLUGINS, BACKUP, **settings) as server:
            await eventually(partial(has_run, server, "failures"), seconds=45)
    assert "File exists" in caplog.text
