"""Three instances are killed at random while records change, and the receiver fails in every way.

Every change arrives, in order, none that is not committed, and none for an account that may not see it.
"""

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from plugins.testing import Client, eventually, expect, unique
from tests.api.webhook.receivers import Message, Receiver, receiving
from tests.support.server_process import ServerProcess, environment, spawn

pytestmark = pytest.mark.gen_test(timeout=60)
CUSTOMERS, ACCOUNTS, HOOKS = "/api/v1/crm/customers", "/api/v1/system/service-accounts", "/api/v1/system/webhooks"
FAILURES, FAILS_OF_TEN = (500, 302, 404, 0), 1  # 0 closes the connection
RECORDS, KILLS, KILL_SECONDS, PAUSE_SECONDS = 8, 6, (0.5, 2.0), (0.1, 0.3)


@dataclass
class Instances:
    """Three processes on one database; one that is killed is started again."""

    env: dict[str, str]
    folder: Path
    processes: dict[int, ServerProcess] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    kills: int = 0

    async def start(self, place: int) -> None:
        """Start the instance of a place."""
        process = spawn(self.env, self.folder / unique("instance"))
        self.processes[place] = process
        self.urls[place] = await process.url()

    async def kill_at_random(self) -> None:
        """Kill one after the other, and start each again."""
        while self.kills < KILLS:
            await asyncio.sleep(random.uniform(*KILL_SECONDS))
            place = random.choice(list(self.urls))
            del self.urls[place]
            await self.processes[place].stop(signal.SIGKILL)
            self.kills += 1
            await self.start(place)

    def any_url(self) -> str:
        """The address of one that runs."""
        return random.choice(list(self.urls.values()))


@asynccontextmanager
async def three(uri: str, folder: Path) -> AsyncIterator[Instances]:
    """Three instances, until the block ends."""
    env = environment(uri, folder, PLUGINS="auth,rbac,system,crm,webhook", WEBHOOK_NETWORKS="127.0.0.0/8")
    found = Instances(env, folder)
    try:
        for place in range(3):
            await found.start(place)
        yield found
    finally:
        for one in found.processes.values():
            one.process.kill()
            one.process.wait()


async def change(instances: Instances, token: str, record: str) -> int | None:
    """Rename a record; the version that was acknowledged, or None if nobody knows."""
    try:
        client = Client(instances.any_url(), token)
        version = expect(await client.get(f"{CUSTOMERS}/{record}"))["version"]
        body = {"version": version, "name": unique("renamed")}
        return int(expect(await client.patch(f"{CUSTOMERS}/{record}", body))["version"])
    except (OSError, AssertionError):
        await asyncio.sleep(0.1)
        return None


async def work(instances: Instances, token: str, record: str) -> set[int]:
    """Change a record until enough instances were killed; return the acknowledged versions."""
    made: set[int | None] = {1}
    while instances.kills < KILLS:
        made.add(await change(instances, token, record))
        await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
    return {one for one in made if one is not None}


async def subscribed(instances: Instances, receiver: Receiver) -> Client:
    """An administrator, once every instance knows of the webhook."""
    admin = await Client(instances.any_url()).log_in("admin")
    role = expect(await admin.get("/api/v1/system/menus/all"))
    menus = [menu["id"] for menu in flat(role) if menu["permission"] == "crm:customer:read"]
    body = {"code": "reader", "name": "reader", "data_scope": "all", "menu_ids": menus}
    role_id = expect(await admin.post("/api/v1/system/roles", body))["id"]
    for name, role_ids in (("receiver", [role_id]), ("blind", [])):
        account_id = expect(await admin.post(ACCOUNTS, {"username": name, "role_ids": role_ids}))["id"]
        hook = {"name": name, "url": f"{receiver.url}/{name}", "events": ["crm_customers.*"], "account_id": account_id}
        expect(await admin.post(HOOKS, hook))
    for url in instances.urls.values():

        async def sends(url: str = url) -> bool:
            made = expect(await Client(url, admin.token).post(CUSTOMERS, {"name": unique("first")}))
            await asyncio.sleep(2.5)
            return bool(receiver.of(made["id"]))

        await eventually(sends)
    return admin


def flat(menus: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for menu in menus for one in (menu, *flat(menu["children"]))]


def failing_at_first() -> Callable[[Message], int]:
    """An answer that refuses the first attempt of some messages, in one way after the other: the next is in 5 s."""
    failed: dict[str, int] = {}

    def answer(message: Message) -> int:
        name = message.headers["webhook-id"]
        if name in failed or random.randrange(10) >= FAILS_OF_TEN:
            return 200
        failed[name] = FAILURES[len(failed) % len(FAILURES)]
        return failed[name]

    return answer


async def test_every_change_arrives_in_order_though_instances_are_killed(mongodb_uri: str, tmp_path: Path) -> None:
    async with receiving() as receiver, three(mongodb_uri, tmp_path) as instances:
        admin = await subscribed(instances, receiver)
        receiver.answer = failing_at_first()
        token = str(admin.token)
        records = [expect(await admin.post(CUSTOMERS, {"name": unique("customer")}))["id"] for _ in range(RECORDS)]
        killing = asyncio.create_task(instances.kill_at_random())
        acknowledged = await asyncio.gather(*(work(instances, token, one) for one in records))
        await killing
        for record, versions in zip(records, acknowledged, strict=True):

            async def all_arrived(record: str = record, versions: set[int] = versions) -> bool:
                return versions <= {one.event["data"]["version"] for one in receiver.of(record)}

            await eventually(all_arrived, seconds=120)
            arrived = [one.event["data"]["version"] for one in receiver.of(record)]
            first = list(dict.fromkeys(arrived))
            assert first == sorted(first)
            client = Client(instances.any_url(), token)
            history = expect(await client.get(f"{CUSTOMERS}/{record}/history?page_size=200"))["items"]
            assert set(arrived) <= {one["version"] for one in history}
            assert len({one.headers["webhook-id"] for one in receiver.of(record)}) == len(first)
        assert {one.path for one in receiver.messages} == {"/receiver"}
