"""`kill -9` of the server amid a handover: another instance goes on, and nothing is lost or done twice."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from config.database import open_driver
from handlers.data.collection import new_id
from plugins.crm.records import LEADS
from plugins.testing import Client, People, eventually, expect
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
COUNT = 800
USERS = "/api/v1/system/users"


async def test_a_handover_goes_on_elsewhere_after_a_kill(mongodb_uri: str, tmp_path: Path) -> None:
    plugins = "auth,rbac,system,crm,notification"
    env = environment(mongodb_uri, tmp_path, PLUGINS=plugins, HANDOVER_RESUME_SECONDS="1")
    driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 20_000)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(driver.close)
        started = (stack.enter_async_context(server_process(env, tmp_path / name)) for name in ("first", "second"))
        first, second = await asyncio.gather(*started)
        admins = [await Client(await server.url()).log_in("admin") for server in (first, second)]
        people = People(admins[1])
        leaver, receiver = await people.account(), await people.account()
        row = {**LEADS.defaults, "owner_id": leaver["id"], "creator_id": 1, "deleted": False, "version": 1}
        await driver.insert(LEADS.name, [{**row, "_id": new_id(), "name": f"lead {n}"} for n in range(COUNT)])
        at = f"{USERS}/{leaver['id']}"
        asked = asyncio.create_task(admins[0].post(f"{at}/handover", {"to": receiver["id"]}))

        async def status(*wanted: str) -> Any:
            handover = expect(await admins[1].get(f"{at}/holdings"))["handover"]
            return handover if handover and handover["items"] and handover["status"] in wanted else None

        amid = await eventually(lambda: status("running"), seconds=20)
        first.process.kill()
        with suppress(HTTPClientError, OSError):
            await asked
        assert amid["items"][0]["count"] < COUNT
        done = await eventually(lambda: status("finished", "failed"), seconds=30)
        assert (done["status"], [item["count"] for item in done["items"]]) == ("finished", [COUNT])
        moved = {"owner_id": receiver["id"], "version": 2, "shared_with": [receiver["id"]]}
        assert await driver.count(LEADS.name, moved) == COUNT
        assert await driver.count("notification_messages", {"user_id": receiver["id"], "kind": "handover"}) == 1
