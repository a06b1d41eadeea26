"""Databases that older versions have made are upgraded: nothing is lost, the ledgers agree, every list works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import acquire
from config.embedded.replica_set import snapshot_history
from config.settings import Settings
from handlers.operations.migrations import Migrations
from plugins.commands.backup import back_up_to
from plugins.commands.backups import taking
from plugins.commands.backups.opening import open_backup
from plugins.commands.restore import restore_into
from plugins.commands.verify import differences
from plugins.testing import Client, empty_database, serving
from tests.support.data_fixtures import opened
from tests.support.old_database import FOLDER, read_documents, restore

pytestmark = pytest.mark.gen_test(timeout=120)
PATHS = sorted(FOLDER.glob("*.json.gz"))
# technical records come and go: leases, sessions, what was read
PASSING = ("core_", "auth_")


@pytest.fixture
def own_mongodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A MongoDB that keeps its past for a backup, as the command lets it."""
    folder = tmp_path_factory.mktemp("mongodb")
    embedded = acquire(folder)
    try:
        with snapshot_history(folder):
            yield embedded.uri
    finally:
        embedded.release_and_wait(15)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name.removesuffix(".json.gz"))
async def test_a_database_of_an_older_version_is_upgraded(path: Path, mongodb_uri: str, tmp_path: Path) -> None:
    before = read_documents(path)
    async with empty_database(mongodb_uri) as name:
        driver = opened("pymongo", mongodb_uri, name)
        try:
            await restore(driver, before)
            async with serving(mongodb_uri, tmp_path, mongodb_database=name) as server:
                admin = await Client(server.url).log_in("admin")
                migrations = server.service.part(Migrations)
                await migrations.run_due(tell=lambda stage, progress: None)
                assert [one for one in await migrations.states(count=True) if one.left or one.failure] == []
                assert await differences(driver) == []
                lost = {
                    collection: len(gone)
                    for collection, rows in before.items()
                    if not collection.startswith(PASSING)
                    and (
                        gone := {row["_id"] for row in rows} - {row["_id"] for row in await driver.find(collection, {})}
                    )
                }
                assert lost == {}
                lists = [one for one in server.catalogue.routes if one.paged and not one.parameters and one.reads]
                codes = {one.path: (await admin.get(one.path)).code for one in lists}
                assert {at: code for at, code in codes.items() if code not in (0, 40001)} == {}
        finally:
            await driver.close()


async def test_a_backup_of_an_older_version_is_restored_and_the_next_start_upgrades_it(
    own_mongodb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, backup, mongodb_uri = read_documents(PATHS[0]), tmp_path / "old.backup", own_mongodb
    async with empty_database(mongodb_uri) as old, empty_database(mongodb_uri) as new:
        settings = Settings(_env_file=None, data_dir=tmp_path, mongodb_database=old, demo=True)
        driver = opened("pymongo", mongodb_uri, old)
        try:
            await restore(driver, before)
        finally:
            await driver.close()
        with monkeypatch.context() as at_that_time, backup.open("wb") as output:
            at_that_time.setattr(taking, "VERSION", "0.0.1")
            await back_up_to(output, settings, mongodb_uri)
        with backup.open("rb") as source:
            opened_backup = open_backup(source, backup.name, None)
            manifest = opened_backup.check()
            assert manifest["version"] == "0.0.1"
            await restore_into(new, opened_backup, settings, mongodb_uri)
        restored = {name: one["documents"] for name, one in manifest["collections"].items() if one["documents"]}
        assert restored == {name: len(rows) for name, rows in before.items()}
        async with serving(mongodb_uri, tmp_path, mongodb_database=new) as server:
            await server.service.part(Migrations).run_due(tell=lambda stage, progress: None)
            assert await differences(server.service.database.driver) == []
