"""With the setting, an unknown name is locked like an account, and responses do not differ."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from plugins.auth.records import UNKNOWN_NAMES
from plugins.boot.runtime import Running
from plugins.rbac.api import USERS
from plugins.testing import PASSWORD, expect, unique
from tests.support.servers import instances, logged, try_login

pytestmark = pytest.mark.gen_test(timeout=60)


@asynccontextmanager
async def discreet(uri: str, folder: Path) -> AsyncIterator[Running]:
    async with instances(uri, folder, {}, lock_unknown_names=True) as (server,):
        yield server


async def test_a_name_that_nobody_has_is_locked_like_an_account(mongodb_uri: str, tmp_path: Path) -> None:
    async with discreet(mongodb_uri, tmp_path) as server:
        seen = {}
        for name in ("admin", unique("nobody")):
            replies = [await try_login(server.url, name) for _ in range(7)]
            seen[name] = [(reply.status, reply.json) for reply in replies]
            assert [reply.code for reply in replies] == [*[40010] * 5, *[42300] * 2]
            assert 14 * 60 < int(replies[-1].headers["Retry-After"]) <= 15 * 60
        first, second = seen.values()
        assert first == second
        expect(await try_login(server.url, unique("nobody")), 40010)
        assert len(await logged(server, event="lockout")) == 2


async def test_of_many_guesses_at_once_as_many_count_for_either(mongodb_uri: str, tmp_path: Path) -> None:
    async with discreet(mongodb_uri, tmp_path) as server:
        for name in ("admin", unique("nobody")):
            replies = await asyncio.gather(*(try_login(server.url, name) for _ in range(12)))
            assert sorted(reply.code for reply in replies) == [40010] * 5 + [42300] * 7


async def test_failures_of_either_are_forgotten_after_the_time_of_a_lock(mongodb_uri: str, tmp_path: Path) -> None:
    async with discreet(mongodb_uri, tmp_path) as server:
        name = unique("nobody")
        for one in ("admin", name):
            for _ in range(4):
                expect(await try_login(server.url, one), 40010)
        for collection in (USERS, UNKNOWN_NAMES):
            store = server.service.database.store(collection)
            for record in await server.service.database.driver.find(collection.name, {"failed_at": {"$ne": None}}):
                earlier = record["failed_at"] - timedelta(minutes=15)
                await store.update_unversioned({"_id": record["_id"]}, {"$set": {"failed_at": earlier}})
        for one in ("admin", name):
            codes = [(await try_login(server.url, one)).code for _ in range(6)]
            assert codes == [*[40010] * 5, 42300]


async def test_a_locked_name_lets_its_account_in_again_by_an_administrator_alone(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with discreet(mongodb_uri, tmp_path) as server:
        for _ in range(5):
            expect(await try_login(server.url, "admin"), 40010)
        expect(await try_login(server.url, "admin", PASSWORD), 42300)
        await server.service.database.store(USERS).update(1, {"failures": 0, "locked_until": None})
        expect(await try_login(server.url, "admin", PASSWORD))


async def test_unknown_names_are_kept_hashed_and_for_a_while(mongodb_uri: str, tmp_path: Path) -> None:
    async with discreet(mongodb_uri, tmp_path) as server:
        name = unique("nobody")
        expect(await try_login(server.url, name), 40010)
        driver = server.service.database.driver
        (kept,) = await driver.find(UNKNOWN_NAMES.name, {})
        assert name not in str(kept)
        assert kept["expires_at"] - kept["failed_at"] == timedelta(minutes=15)
        assert any("expire" in index["name"] for index in await driver.list_indexes(UNKNOWN_NAMES.name))


async def test_without_the_setting_a_name_that_nobody_has_is_never_locked(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}) as (server,):
        name = unique("nobody")
        assert [(await try_login(server.url, name)).code for _ in range(7)] == [40010] * 7
        assert await server.service.database.driver.find(UNKNOWN_NAMES.name, {}) == []
