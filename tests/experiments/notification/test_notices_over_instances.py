"""Many notices over three instances that are killed, to channels that fail in every way: none is lost, none comes twice.

`TRADEWIND_TEST_NOTICES` says how many, 100000 before a release; `-s` prints the figures.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter, deque
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from config.database import Driver, open_driver
from plugins.commands.mail_simulator import MailSimulator, receiving_mail
from plugins.commands.wecom_simulator import Simulator, simulating
from plugins.testing import PASSWORD, Client, eventually, expect
from tests.experiments.instances import Instances, three_instances
from tests.support.server_process import environment

pytestmark = pytest.mark.gen_test(timeout=1800)
NOTICES = int(os.environ.get("TRADEWIND_TEST_NOTICES", "2000"))
PEOPLE, DEAD, QUIET = 200, 10, 10
KILLS, KILL_SECONDS, MEASURED_SECONDS = 4, 4.0, 10.0
AT = "/api/v1/notifications"
FAULTS = ("421 4.3.2 busy", "451 4.3.0 later", "drop", "")


def environment_of(uri: str, folder: Path, mail: MailSimulator, wecom: Simulator) -> dict[str, str]:
    """The settings of instances that send to these stand-ins."""
    return environment(
        uri,
        folder,
        PLUGINS="auth,rbac,system,notification",
        NOTIFICATION_SMTP=f"smtp://127.0.0.1:{mail.port}?from=no-reply@example.com",
        WECOM_CORP_ID=wecom.corp_id,
        WECOM_AGENT_ID=wecom.agent_id,
        WECOM_SECRET=wecom.secret,
        WECOM_REDIRECT_URI=f"{wecom.url}/callback",
        WECOM_API_BASE=wecom.url,
    )


async def fail_in_every_way(mail: MailSimulator, wecom: Simulator, sent: asyncio.Event) -> None:
    """Change the fault of each channel every second until everything was handed over, then heal them."""
    while not sent.is_set():
        mail.broken = random.choice(FAULTS)
        wecom.broken, wecom.delay = random.choice(["", "", "error", "garbage"]), random.choice([0, 0, 0.5])
        if random.random() < 0.2:
            wecom.forget_tokens()
        await asyncio.sleep(1)
    mail.broken = wecom.broken = ""
    wecom.delay = 0


async def hire(admin: Client, driver: Driver, wecom: Simulator) -> list[int]:
    """People: the first with addresses that do not exist, then some with quiet hours, then every second one in WeCom."""
    now = datetime.now(ZoneInfo("Asia/Shanghai"))
    quiet = {f"quiet_{name}": f"{now + timedelta(hours=hours):%H:%M}" for name, hours in (("from", -1), ("to", 3))}
    ids = []
    for place in range(PEOPLE):
        body = {"username": f"person-{place}", "password": PASSWORD, "email": f"p{place}@example.com", "role_ids": []}
        ids.append(expect(await admin.post("/api/v1/system/users", body))["id"])
        if DEAD <= place < DEAD + QUIET:
            await driver.update_one("notification_preferences", {"_id": ids[-1]}, {"$set": quiet}, upsert=True)
        elif place >= DEAD and place % 2:
            wecom.members = {**wecom.members, f"m{place}": f"m{place}"}
            await driver.update_one("rbac_users", {"_id": ids[-1]}, {"$set": {"wecom_user_id": f"m{place}"}})
    return ids


async def notify_all(instances: Instances, token: str, ids: list[int]) -> None:
    """Send the notices, to everybody at once."""

    async def one(number: int) -> None:
        expect(await instances.send(token, AT, {"user_ids": ids, "title": f"notice {number}"}))

    for start in range(0, NOTICES // len(ids), 4):
        await asyncio.gather(*(one(number) for number in range(start, min(start + 4, NOTICES // len(ids)))))


async def waits(instances: Instances, token: str, sent: asyncio.Event) -> list[float]:
    """Measure requests until the event; seconds, the shortest first."""
    measured = []
    while not sent.is_set():
        began = time.monotonic()
        try:
            expect(await Client(random.choice(instances.urls), token).get(f"{AT}/unread-count"))
            measured.append(time.monotonic() - began)
        except (OSError, AssertionError, IndexError):
            pass
        await asyncio.sleep(0.05)
    return sorted(measured)


async def p99_for(instances: Instances, token: str, seconds: float) -> float:
    """Measure requests for so long, and return what one in a hundred waits longer than."""
    ended = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, ended.set)
    measured = await waits(instances, token, ended)
    return measured[int(len(measured) * 0.99)] if measured else 0.0


async def test_none_is_lost_and_none_comes_twice(mongodb_uri: str, tmp_path: Path) -> None:
    mail, wecom = MailSimulator(mails=deque()), Simulator(messages=deque())
    mail.refused = {f"p{place}@example.com": "550 5.1.1 no such mailbox" for place in range(DEAD)}
    sent, quiet_for = asyncio.Event(), timedelta(hours=2)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(receiving_mail(mail))
        await stack.enter_async_context(simulating(wecom))
        env = environment_of(mongodb_uri, tmp_path, mail, wecom)
        instances = await stack.enter_async_context(three_instances(env, tmp_path))
        admin = await Client(instances.urls[0]).log_in("admin")
        driver = open_driver("pymongo", mongodb_uri, instances.env["TRADEWIND_MONGODB_DATABASE"], 10_000)
        ids = await hire(admin, driver, wecom)
        token = str(admin.token)
        before, began = await p99_for(instances, token, MEASURED_SECONDS), time.monotonic()
        faults = asyncio.create_task(fail_in_every_way(mail, wecom, sent))
        kills = asyncio.create_task(instances.kill_at_random(KILLS, KILL_SECONDS))
        await notify_all(instances, token, ids)
        await kills
        sent.set()
        await faults
        # the hours between two attempts are skipped
        again = {"state": "waiting", "waits_for": "retry"}
        await driver.update_many("notification_deliveries", again, {"$set": {"next_at": datetime.now(UTC)}})
        during = await p99_for(instances, token, MEASURED_SECONDS)  # what waited is sent now

        async def only_quiet_wait() -> bool:
            soon = {"state": "waiting", "next_at": {"$lt": datetime.now(UTC) + quiet_for}}
            return await driver.count("notification_deliveries", soon) == 0

        await eventually(only_quiet_wait, seconds=1200, every=2)
        messages = await driver.find("notification_messages", {"kind": "announcement"})
        rows = await driver.find("notification_deliveries", {"kind": "announcement"})
        await driver.close()
        spent = time.monotonic() - began
    check(ids, messages, rows, mail, wecom)
    states = Counter((row["channel"], row["state"], row.get("rule")) for row in rows)
    repeated = len(mail.mails) - len({one.message["Message-ID"] for one in mail.mails})
    waited = f"p99 {before:.3f} s before and {during:.3f} s while they are sent"
    print(f"\n{len(messages)} notices, {spent:.0f} s, repeated mails {repeated}, {waited}: {dict(states)}")


def check(ids: list[int], messages: Any, rows: Any, mail: MailSimulator, wecom: Simulator) -> None:
    """Assert that each healthy person got each notice once, the quiet ones none, the dead ones none."""
    place = {id: number for number, id in enumerate(ids)}
    assert len(messages) == NOTICES // len(ids) * len(ids)
    assert len({(row["message"], row["channel"]) for row in rows}) == len(rows) == 2 * len(messages)
    by_mail = {
        str(one["_id"]) for one in messages if place[one["user_id"]] >= DEAD + QUIET and not place[one["user_id"]] % 2
    }
    arrived = {str(one.message["Message-ID"]).partition(".")[0].removeprefix("<") for one in mail.mails}
    assert {one for one in by_mail if one not in arrived} == set()
    assert {one for one in arrived if one not in by_mail} <= {
        str(one["_id"]) for one in messages if place.get(one["user_id"], -1) < 0
    }
    cards = Counter((one["touser"], one["text"]["content"]) for one in wecom.messages)
    expected = [one for one in messages if place[one["user_id"]] >= DEAD + QUIET and place[one["user_id"]] % 2]
    assert set(cards.values()) <= {1}
    assert len(cards) == len(expected)
