"""Thirty people and a month of requests through flows of all kinds, while instances are killed at random.

Every request ends, nobody decides on their own, and the trail replays to the state that is stored. `-s` prints the figures.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config.database import Driver, open_driver
from plugins.approval.states import TASK_STATES
from plugins.testing import Client, People
from tests.api.approval.flows import AT, EVERYTHING, INSTANCES, define, id_of, node, several
from tests.experiments.instances import Instances, three_instances
from tests.support.server_process import environment

pytestmark = pytest.mark.gen_test(timeout=600)
PEOPLE, DAYS, REQUESTS_A_DAY, SEED = 30, 30, 3, 41
KILLS, KILL_SECONDS, LAST_ROUNDS = 3, 6.0, 60
ENDED = ("approved", "rejected", "returned", "withdrawn")
DECISIONS = {name: one.target for name, one in TASK_STATES.transitions.items() if one.decides}


class Month:
    """The company, its flows, and what its people do. What a person sends is sent again where an instance is killed."""

    def __init__(self, instances: Instances, driver: Driver, admin: Client, team: Sequence[Client]) -> None:
        self.instances, self.driver, self.chance = instances, driver, random.Random(SEED)
        self.admin, self.team = admin, team
        self.tokens = {id_of(one): str(one.token) for one in (admin, *team)}
        self.away: list[tuple[int, str]] = []
        self.answers: Counter[int] = Counter()

    async def do(self, user_id: int, path: str, /, **body: Any) -> Any:
        """Let a person do something; return the data, or None if it is refused."""
        reply = await self.instances.send(self.tokens[user_id], path, body)
        self.answers[reply.code] += 1
        return reply.data if reply.code == 0 else None

    def anybody(self) -> int:
        """A person by chance."""
        return id_of(self.chance.choice(self.team))

    async def pending(self) -> list[Mapping[str, Any]]:
        """What waits for somebody."""
        return await self.driver.find("approval_instances", {"status": "pending"})

    async def live_a_day(self, flows: Sequence[Mapping[str, Any]]) -> None:
        """Let some ask, some decide, one be away, and some time pass."""
        asking = [self.ask(self.chance.choice(flows)) for _ in range(REQUESTS_A_DAY)]
        await asyncio.gather(*asking, self.be_away())
        waiting = await self.pending()
        for one in waiting:
            if one.get("due") is not None and self.chance.random() < 0.3:
                await self.pass_time(one)
        await asyncio.gather(*(self.decide(one) for one in waiting if self.chance.random() < 0.7))

    async def pass_time(self, approval: Mapping[str, Any]) -> None:
        """Let the deadlines of an approval be over, unless it has changed since."""
        past = datetime.now(UTC) - timedelta(seconds=1)
        visits = [{**one, **({"due_at": past} if one.get("due_at") else {})} for one in approval["visits"]]
        as_read = {"_id": approval["_id"], "version": approval["version"]}
        await self.driver.update_one("approval_instances", as_read, {"$set": {"due": past, "visits": visits}})

    async def ask(self, flow: Mapping[str, Any]) -> None:
        """Make a request, and submit it."""
        me, amount = self.anybody(), str(self.chance.choice((5, 500, 5000)))
        draft = {"definition_id": flow["id"], "title": f"request of {me}", "record": {"amount": amount}}
        made = await self.do(me, INSTANCES, **draft)
        if made is not None:
            await self.do(me, f"{INSTANCES}/{made['id']}/submit")

    async def be_away(self) -> None:
        """Let a person delegate for a while."""
        now, me = datetime.now(UTC), self.anybody()
        span = {"starts_at": now.isoformat(), "ends_at": (now + timedelta(seconds=20)).isoformat()}
        await self.do(me, f"{AT}/delegations", delegate_id=self.anybody(), **span)

    async def decide(self, approval: Mapping[str, Any]) -> None:
        """Let one of those who are asked do something, by chance, or its initiator."""
        one, asked = (
            f"{INSTANCES}/{approval['_id']}",
            [task for task in approval["tasks"] if task["status"] == "pending"],
        )
        if not asked:
            return
        task = self.chance.choice(asked)
        action = self.chance.choices(("agree", "reject", "send-back", "transfer", "add-signer"), (70, 8, 8, 8, 6))[0]
        body: dict[str, Any] = {"comment": action, "node": task["node"]}
        body |= {"user_id": self.anybody()} if action in ("transfer", "add-signer") else {}
        body |= {"place": self.chance.choice(("before", "after"))} if action == "add-signer" else {}
        await self.do(task["user_id"], f"{one}/{action}", **body)
        if self.chance.random() < 0.05:
            await self.do(approval["initiator_id"], f"{one}/withdraw")
        if action == "send-back":
            await self.do(approval["initiator_id"], f"{one}/submit")

    async def finish(self) -> None:
        """Let everybody who is asked agree until nothing waits."""
        for _ in range(LAST_ROUNDS):
            waiting = await self.pending()
            if not waiting:
                return
            tasks = [(one["_id"], task) for one in waiting for task in one["tasks"] if task["status"] == "pending"]
            acts = (self.do(task["user_id"], f"{INSTANCES}/{id}/agree", node=task["node"]) for id, task in tasks)
            await asyncio.gather(*acts)


async def flows_of_all_kinds(admin: Client, team: Sequence[Client]) -> list[dict[str, Any]]:
    """Sequences, quorums, branches, lanes, deadlines with each rule, and people who agreed just before."""
    a, b, c, d, e = team[:5]
    small = {"name": "small", "conditions": [{"field": "amount", "op": "lt", "value": "100"}], "nodes": ["one"]}
    large = {"name": "large", "conditions": [], "nodes": ["lanes"]}
    lanes = {"key": "lanes", "name": "lanes", "lanes": [{"name": key, "nodes": [key]} for key in ("two", "three")]}
    branches = [{"key": "by", "name": "by amount", "branches": [small, large]}, lanes]
    flows = [
        [node("one", a, initiator_leader=1), node("two", b, c, mode="all")],
        [node("one", a, b, c, d, mode="quorum:2", on_reject="back"), node("two", e)],
        [*branches, node("one", a), node("two", b, c), node("three", d, e, mode="all")],
        *([{**node("one", a, b), "deadline": {"hours": 1, "then": then}}] for then in ("agree", "escalate", "return")),
    ]
    made = [await define(admin, *nodes) for nodes in flows]
    return [*made, await define(admin, node("one", a), node("two", a, b), repeated="skip")]


async def test_every_request_of_a_month_ends_by_others_and_its_trail_replays(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac,system,notification,approval")
    async with AsyncExitStack() as stack:
        instances = await stack.enter_async_context(three_instances(env, tmp_path))
        driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 10_000)
        stack.push_async_callback(driver.close)
        admin = await Client(instances.urls[0]).log_in("admin")
        people = People(admin)
        below = await people.department(await people.department())
        team = await several(people, PEOPLE, EVERYTHING, department_id=below)
        month, flows = Month(instances, driver, admin, team), await flows_of_all_kinds(admin, team)
        async with asyncio.TaskGroup() as meanwhile:
            meanwhile.create_task(instances.kill_at_random(KILLS, KILL_SECONDS))
            for _ in range(DAYS):
                await month.live_a_day(flows)
        await month.finish()
        rows = await driver.find("approval_instances", {"definition_id": {"$ne": None}})
        states = Counter(row["status"] for row in rows)
        print(f"\n{len(rows)} requests, {KILLS} kills, {dict(states)}, answers {dict(month.answers)}")
        assert {*states} <= {*ENDED, "draft"}
        assert states["approved"] > len(rows) / 3
        for row in rows:
            check_decisions(row)
            check_trail(row)


def check_decisions(row: Mapping[str, Any]) -> None:
    """Assert that others decided, nobody twice in a visit, and each decision of the history is one of a task."""
    decided = [task for task in row["tasks"] if task["status"] in DECISIONS.values() and not task.get("repeated")]
    assert row["initiator_id"] not in {task["user_id"] for task in decided}
    assert max(Counter((task["round"], task["user_id"]) for task in decided).values(), default=1) == 1
    steps = Counter((one["user_id"], one["node"], DECISIONS.get(one["action"])) for one in row["history"])
    tasks = Counter((one["user_id"], one["node"], one["status"]) for one in decided)
    assert {key: count for key, count in steps.items() if key[2]} == tasks


def check_trail(row: Mapping[str, Any]) -> None:
    """Assert that the steps, one after the other, lead to the state that is stored; who acts does so while it waits."""
    steps, state = row["history"], "draft"
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        action = step["action"]
        assert (state == "pending") == (action != "submit"), (row["_id"], step)
        state = "pending"
        if action == "withdraw":
            state = "withdrawn"
        elif action in ("return", "overdue-return") or (action, step["to"]) == ("send-back", "initiator"):
            state = "returned"
        elif action in ("reject", "overdue-reject"):  # others may still agree
            again = following is not None and following["action"] == "submit"
            state = "returned" if again or (following is None and row["status"] == "returned") else state
            state = "rejected" if following is None and state == "pending" else state
        elif action in ("agree", "overdue-agree") and following is None:
            state = "approved"
    assert state == row["status"], (row["_id"], state, row["status"], [one["action"] for one in steps])
