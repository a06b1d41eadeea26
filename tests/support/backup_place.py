"""A server with its embedded database, and what an operator does beside it: backups, restores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.database import Driver, open_driver
from config.embedded import Embedded
from config.embedded.replica_set import snapshot_history
from config.settings import Settings
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.commands.backup import back_up_to
from plugins.commands.backups.keys import Key
from plugins.commands.backups.opening import open_backup
from plugins.commands.restore import restore_into
from plugins.testing import serving
from tests.support.commands import run_command

NAMES = ("auth", "rbac", "system", "files")
PLUGINS = load_plugins(NAMES)
DATABASE = "original"
KEY = "one-key-of-these-tests-that-encrypts-backups"


@dataclass(frozen=True)
class Place:
    """A server with its embedded database, and what an operator does beside it."""

    server: Running
    embedded: Embedded
    folder: Path

    @property
    def driver(self) -> Driver:
        return self.server.service.database.driver

    @property
    def settings(self) -> Settings:
        chosen: dict[str, Any] = {"data_dir": self.folder, "mongodb_database": DATABASE, "plugins": NAMES, "demo": True}
        return Settings(_env_file=None, **chosen)

    async def backup(self, name: str, key: str = "") -> Path:
        path = self.folder / name
        with snapshot_history(self.folder), path.open("wb") as output:
            await back_up_to(output, self.settings, self.embedded.uri, Key(key) if key else None)
        return path

    async def restore(self, path: Path, name: str, keeps: bool = True) -> dict[str, Any]:
        with path.open("rb") as source:
            backup = open_backup(source, path.name, Key(KEY), unencrypted=True)
            backup.check()
            await restore_into(name, backup, self.settings, self.embedded.uri, keeps)
            return backup.manifest

    async def command(self, name: str, *arguments: str) -> tuple[int, str]:
        """Run a command: exit code and output."""
        ours = {"data_dir": str(self.folder), "mongodb_database": DATABASE, "plugins": ",".join(NAMES), "demo": "true"}
        done = await run_command(f"plugins.commands.{name}", *arguments, folder=self.folder, **ours)
        return done.code, done.output + done.errors

    @asynccontextmanager
    async def database(self, name: str) -> AsyncIterator[Driver]:
        driver = open_driver("pymongo", self.embedded.uri, name, 10_000)
        try:
            yield driver
        finally:
            await driver.close()

    async def databases(self) -> set[str]:
        async with self.database("admin") as driver:
            return {one["name"] for one in (await driver.command({"listDatabases": 1, "nameOnly": True}))["databases"]}


@asynccontextmanager
async def opened(embedded: Embedded, folder: Path) -> AsyncIterator[Place]:
    async with serving(embedded.uri, folder, PLUGINS, mongodb_database=DATABASE) as server:
        yield Place(server, embedded, folder)


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

    async def repeat() -> None:
        while True:
            await transfer(driver)

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
