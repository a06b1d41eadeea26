"""`doctor` looks at the storage of files and at the folder of backups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.database import open_driver
from config.settings import Settings
from plugins.commands.diagnosis.findings import Finding, as_table
from plugins.commands.diagnosis.storage import check_backups, check_storage
from plugins.files.records import OBJECTS
from plugins.files.settings import FilesSettings
from plugins.testing import empty_database
from tests.support.s3_stand_in import S3Server

pytestmark = pytest.mark.gen_test(timeout=30)
KEYS = {name: f"20261120-{number * 32}.pdf" for name, number in (("public", "1"), ("private", "2"))}


async def findings(uri: str, folder: Path, files: dict[str, Any]) -> list[Finding]:
    """What is found with a file in each bucket."""
    async with empty_database(uri) as name:
        driver = open_driver("pymongo", uri, name, 5000)
        rows = [{"_id": key, "visibility": bucket, "state": "stored"} for bucket, key in KEYS.items()]
        await driver.insert(OBJECTS.name, rows)
        settings, own = Settings(_env_file=None, demo=True, data_dir=folder), FilesSettings(_env_file=None, **files)
        try:
            return [one async for one in check_storage(driver, settings, own)]
        finally:
            await driver.close()


def filled(s3: S3Server) -> dict[str, Any]:
    """The settings for two buckets with a file each."""
    files = s3.buckets()
    for bucket, key in KEYS.items():
        s3.client.put_object(Bucket=files[f"s3_{bucket}_bucket"], Key=key, Body=b"%PDF")
    return files


async def test_buckets_that_are_as_they_should_be_are_no_finding(
    mongodb_uri: str, tmp_path: Path, s3: S3Server
) -> None:
    assert await findings(mongodb_uri, tmp_path, filled(s3)) == []


async def test_a_public_bucket_that_nobody_may_read_is_found(mongodb_uri: str, tmp_path: Path, s3: S3Server) -> None:
    files = filled(s3)
    found = await findings(mongodb_uri, tmp_path, {**files, "s3_public_url": f"{s3.endpoint}/elsewhere"})
    assert [(one.level, one.subject) for one in found] == [("error", files["s3_public_bucket"])]


async def test_a_private_bucket_that_everybody_may_read_is_found(
    mongodb_uri: str, tmp_path: Path, s3: S3Server
) -> None:
    files = filled(s3)
    s3.client.put_object_acl(Bucket=files["s3_private_bucket"], Key=KEYS["private"], ACL="public-read")
    found = await findings(mongodb_uri, tmp_path, files)
    assert [(one.level, one.subject) for one in found] == [("error", files["s3_private_bucket"])]


async def test_a_storage_out_of_reach_is_found(mongodb_uri: str, tmp_path: Path, s3: S3Server) -> None:
    files = {**s3.buckets(), "s3_private_bucket": "gone"}
    assert [one.subject for one in await findings(mongodb_uri, tmp_path, files)] == ["s3"]


def test_scheduled_backups_need_a_folder_and_want_a_key(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()

    def found(**settings: Any) -> list[str]:
        return [
            one.subject for one in check_backups(Settings(_env_file=None, demo=True, data_dir=tmp_path, **settings))
        ]

    key = {"backup_key": "Zq8-one-key-of-these-tests-that-is-long-enough"}
    assert found() == []
    assert found(backup_hours=24, **key) == []
    assert found(backup_hours=24) == ["TRADEWIND_BACKUP_KEY"]
    nowhere = tmp_path / "a-file" / "backups"
    assert found(backup_hours=24, backup_folder=str(nowhere), **key) == [str(nowhere)]


def test_of_one_check_the_table_shows_five() -> None:
    shown = as_table([Finding("note", "many", f"one-{number}", "look") for number in range(9)]).splitlines()
    assert len(shown) == 7
    assert shown[5].split() == ["note", "many", "4", "more", "--json", "names", "them"]
