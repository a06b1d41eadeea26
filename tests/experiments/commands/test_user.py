"""`scripts/user`: who is locked out, the last super administrator too, is let in from the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from handlers.operations.operation_log import OPERATION_LOGS
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, eventually, expect
from tests.support.commands import run_command
from tests.support.servers import PASSWORD_PATH, PROFILE, instances, try_login

pytestmark = pytest.mark.gen_test(timeout=60)


async def run(server: Running, uri: str, *arguments: str) -> tuple[int, str]:
    """The command on the server's database: exit code and output."""
    name = server.service.settings.mongodb_database
    settings = {"mongodb_uri": uri, "mongodb_database": name, "bcrypt_cost": "4"}
    done = await run_command("plugins.commands.user", "--demo", *arguments, **settings)
    return done.code, done.output + done.errors


async def noted(server: Running, name: str) -> dict[str, Any]:
    (entry,) = await server.service.database.store(OPERATION_LOGS).find({"path": f"scripts/user {name} admin"})
    return entry


async def test_the_last_super_administrator_is_unlocked(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}) as (server,):
        for _ in range(5):
            expect(await try_login(server.url, "admin"), 40010)
        expect(await try_login(server.url, "admin", PASSWORD), 42300)
        assert await run(server, mongodb_uri, "unlock", "admin") == (0, "admin is unlocked.\n")
        expect(await try_login(server.url, "admin", PASSWORD))
        entry = await noted(server, "unlock")
        assert (entry["user_id"], entry["username"], entry["resource_id"]) == (0, "system", "1")


async def test_a_new_password_ends_every_session_and_must_be_changed(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}) as (server,):
        before = await Client(server.url).log_in("admin")
        code, output = await run(server, mongodb_uri, "reset-password", "admin")
        found = re.fullmatch(r"The new password of admin is (\S+) and must be changed at the next log-in\.\n", output)
        assert code == 0
        assert found, output
        expect(await try_login(server.url, "admin", PASSWORD), 40010)

        async def out() -> bool:
            return (await before.get(PROFILE)).code == 40100

        await eventually(out)
        again = await Client(server.url).log_in("admin", found.group(1))
        expect(await again.get("/api/v1/system/users"), 40301)
        fresh = "Another-horse-9"
        expect(await again.put(PASSWORD_PATH, {"old_password": found.group(1), "new_password": fresh}))
        admin = await Client(server.url).log_in("admin", fresh)
        expect(await admin.get("/api/v1/system/users"))
        entry = await noted(server, "reset-password")
        assert found.group(1) not in str(entry)


async def test_a_name_that_nobody_has_is_reported(tradewind: Running, mongodb_uri: str) -> None:
    code, output = await run(tradewind, mongodb_uri, "unlock", "nobody-of-that-name")
    assert (code, output) == (1, "user: nobody is called nobody-of-that-name\n")


async def test_an_account_is_created_and_becomes_a_super_administrator(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}) as (server,):
        admin = await Client(server.url).log_in("admin")
        expect(await admin.post("/api/v1/system/roles", {"code": "sales", "name": "Sales"}))
        code, output = await run(
            server, mongodb_uri, "create", "chen", "--role", "sales", "--real-name", "陈伟", "--json"
        )
        assert code == 0, output
        made = json.loads(output)
        assert made["username"] == "chen"
        first = await Client(server.url).log_in("chen", made["password"])
        expect(await first.put(PASSWORD_PATH, {"old_password": made["password"], "new_password": "Another-horse-9"}))
        chen = await Client(server.url).log_in("chen", "Another-horse-9")
        expect(await chen.get("/api/v1/system/users"), 40300)
        assert await run(server, mongodb_uri, "super", "chen") == (0, "chen is a super administrator.\n")

        async def may() -> bool:
            return (await chen.get("/api/v1/system/users")).code == 0

        await eventually(may)
        (row,) = expect(await admin.get("/api/v1/system/users?q=chenwei"))["items"]
        assert (row["real_name"], row["role_names"], row["is_super"]) == ("陈伟", ["Sales"], True)
        assert (await run(server, mongodb_uri, "super", "chen", "--off"))[0] == 0
        assert await run(server, mongodb_uri, "super", "admin", "--off") == (
            1,
            "user: the built-in super administrator stays one\n",
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "admin"], "user: username: Already exists\n"),
        (["create", "no good"], "user: username 'no good': has the wrong format\n"),
        (["create", "li", "--role", "nobody"], "user: no role has the code nobody\n"),
        (["create", "li", "--department", "nowhere"], "user: no department has the code nowhere\n"),
    ],
)
async def test_an_account_that_cannot_be_made_is_a_sentence(
    tradewind: Running, mongodb_uri: str, arguments: list[str], sentence: str
) -> None:
    assert await run(tradewind, mongodb_uri, *arguments) == (1, sentence)
