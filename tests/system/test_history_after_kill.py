"""`kill -9` of the server, then of `mongod`, amid changes: the history of every record is exactly what was written."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from config.database import open_driver
from config.embedded import acquire
from handlers.data.database import Database
from handlers.data.history import CHANGES, total_changes
from plugins.crm.records import LEADS
from plugins.testing import Client, eventually, expect
from tests.support.server_process import ServerProcess, environment, spawn

pytestmark = pytest.mark.gen_test(timeout=60)
LEADS_AT = "/api/v1/crm/leads"
WRITERS, KILL_SERVER_AFTER, KILL_MONGOD_AFTER, WRITES = 4, 80, 160, 240
FIELDS = ("company", "remark")


class Writing:
    """Writers that change one lead each, through whichever server runs; `seen` is each state that was acknowledged."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self._env = env
        self._folder = folder
        self._starts = 0
        self.server: ServerProcess
        self.admin: Client
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}

    async def start(self) -> None:
        self._starts += 1
        self.server = spawn(self._env, self._folder / f"server-{self._starts}")
        self.admin = await Client(await self.server.url()).log_in("admin")

    async def kill_server(self) -> None:
        self.server.process.kill()
        self.server.process.wait()
        await self.start()

    async def write_until(self, count: int) -> None:
        """Change leads until so many changes were acknowledged."""
        await asyncio.gather(*(self._write(n, count) for n in range(WRITERS)))

    async def _write(self, n: int, count: int) -> None:
        chance, lead = random.Random(n), None
        while len(self.seen) < count:
            try:
                lead = lead or expect(await self.admin.get(f"{LEADS_AT}?q=writer-{n}"))["items"][0]
                given = {name: f"{chance.random()}" for name in chance.sample(FIELDS, chance.randint(1, 2))}
                reply = await self.admin.patch(f"{LEADS_AT}/{lead['id']}", {"version": lead["version"], **given})
            except (AssertionError, HTTPClientError, OSError):
                lead = None
                await asyncio.sleep(0.05)
                continue
            if reply.code:
                lead = None
                continue
            lead = reply.data
            self.seen[lead["id"], lead["version"]] = lead


async def test_the_history_is_what_was_written_after_kills_of_server_and_mongod(
    tmp_path: Path,
) -> None:
    own_folder = tmp_path / "mongodb"
    own_folder.mkdir()
    mongodb = acquire(own_folder)
    env = environment(mongodb.uri, tmp_path, PLUGINS="auth,rbac,crm")
    driver = open_driver("pymongo", mongodb.uri, env["TRADEWIND_MONGODB_DATABASE"], 20_000)
    writing = Writing(env, tmp_path)
    try:
        await writing.start()
        for n in range(WRITERS):
            expect(await writing.admin.post(LEADS_AT, {"name": f"writer-{n}", "phone": f"1380000000{n}"}))
        for count, kill in ((KILL_SERVER_AFTER, writing.kill_server), (KILL_MONGOD_AFTER, None)):
            writers = asyncio.create_task(writing.write_until(count + 40))
            await eventually(lambda count=count: _reached(writing, count), seconds=30)  # type: ignore[misc]  # bound now
            if kill is not None:
                await kill()
            else:
                status = await driver.command({"serverStatus": 1})
                assert str(own_folder).encode() in Path(f"/proc/{status['pid']}/cmdline").read_bytes()
                os.kill(int(status["pid"]), signal.SIGKILL)
            await writers
        await writing.write_until(WRITES)
        await _check(Database(driver, (LEADS, CHANGES)), writing.seen)
    finally:
        writing.server.process.kill()
        writing.server.process.wait()
        await driver.close()
        mongodb.release_and_wait(15)


async def _reached(writing: Writing, count: int) -> bool:
    return len(writing.seen) >= count


async def _check(database: Database, seen: dict[tuple[str, int], dict[str, Any]]) -> None:
    rows = await database.driver.find(LEADS.name, {})
    assert len(rows) == WRITERS
    for row in rows:
        changes = await database.history.read(LEADS, row, 0, total_changes(row))
        assert [change.version for change in changes] == list(range(row["version"], 0, -1))
        state: dict[str, Any] = {}
        for change in reversed(changes):
            assert {name: state.get(name) for name in change.before} == change.before
            state |= change.after
            acknowledged = seen.pop((str(row["_id"]), change.version), None)
            if acknowledged is not None:
                assert {name: state.get(name) for name in FIELDS} == {name: acknowledged[name] for name in FIELDS}
        assert {name: state.get(name) for name in LEADS.recorded} == {name: row.get(name) for name in LEADS.recorded}
    assert seen == {}
