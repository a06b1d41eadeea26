"""Random flows and random actions, against a reference model that fits on half a page."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, People, expect
from tests.api.approval.flows import act, ask, configured, define, id_of, node, read, several, waiting

pytestmark = pytest.mark.gen_test(timeout=120)
ACTIONS = ("agree", "agree", "agree", "reject", "send-back", "transfer", "withdraw", "submit")
STEPS = 25


@dataclass
class Model:
    """An approval: its current node, and the decisions of the approvers there."""

    nodes: list[dict[str, Any]]
    status: str = "pending"
    at: int = 0
    answers: dict[int, str | None] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()

    def enter(self, at: int) -> bool:
        self.at, self.status, self.answers = at, "pending", dict.fromkeys(self.nodes[at]["approvers"]["users"])
        return True

    def end(self, status: str) -> bool:
        self.status, self.answers = status, {}
        return True

    @property
    def waiting(self) -> set[int]:
        return {person for person, answer in self.answers.items() if answer is None}

    def act(self, who: int, action: str, initiator: int, to: Any) -> bool:
        if action == "submit":
            return who == initiator and self.status in ("returned", "withdrawn") and self.enter(0)
        if action == "withdraw":
            return who == initiator and self.status == "pending" and self.end("withdrawn")
        if who not in self.waiting or (action == "transfer" and (to in self.answers or to in self.left_out)):
            return False
        if action == "transfer":
            del self.answers[who]
            self.answers[to] = None
            return True
        if action == "send-back":
            return self.end("returned") if to is None else to < self.at and self.enter(to)
        self.answers[who] = action
        return self.judge(self.nodes[self.at])

    def judge(self, node: dict[str, Any]) -> bool:
        given, mode = list(self.answers.values()), node["mode"]
        need = {"any": 1, "all": len(given)}.get(mode) or min(int(mode[-1]), len(given))
        if given.count("agree") >= need:
            return self.enter(self.at + 1) if self.at + 1 < len(self.nodes) else self.end("approved")
        if len(given) - given.count("reject") < need or (mode == "any" and "reject" in given):
            return self.end("returned" if node["on_reject"] == "back" else "rejected")
        return True


@pytest.fixture(scope="module")
def team(io_loop: IOLoop, people: People) -> list[Client]:
    """An initiator and four approvers."""
    clients: list[Client] = io_loop.run_sync(lambda: several(people, 5))
    return clients


@pytest.mark.parametrize("own_requests", ["ask", "leave_out"])
@pytest.mark.parametrize("seed", range(3))
async def test_random_actions_do_what_the_model_says(
    seed: int, own_requests: str, admin: Client, team: list[Client]
) -> None:
    async with configured(admin, approval_own_requests=own_requests):
        await act_at_random(random.Random(seed), admin, team, own_requests == "leave_out")


async def act_at_random(chance: random.Random, admin: Client, team: list[Client], left_out: bool) -> None:
    """Call random actions on one approval."""
    initiator = team[0]
    nodes = [
        node(
            f"n{number}",
            *chance.sample(team[1:], size),
            mode=chance.choice(("any", "all", *(f"quorum:{least}" for least in (2, 3) if least <= size))),
            on_reject=chance.choice(("end", "back")),
        )
        for number, size in enumerate(chance.choices((1, 2, 3, 4), k=chance.randint(1, 3)))
    ]
    made = await ask(initiator, await define(admin, *nodes))
    model = Model(nodes, left_out=frozenset({id_of(initiator)} if left_out else ()))
    model.enter(0)
    for _ in range(STEPS):
        who, action = chance.choice(team), chance.choice(ACTIONS)
        to = id_of(chance.choice(team)) if action == "transfer" else chance.choice([None, *range(len(nodes))])
        body = {"user_id": to} if action == "transfer" else {}
        if action == "send-back" and to is not None:
            body = {"to": f"n{to}"}
        reply = await act(who, made, action, **body)
        assert (reply.code == 0) == model.act(id_of(who), action, id_of(initiator), to), (action, body, reply.body)
        now = await read(initiator, made)
        assert (now["status"], waiting(now)) == (model.status, model.waiting)
        assert now["node"] == (f"n{model.at}" if model.status == "pending" else None)
    assert len((await read(initiator, made))["history"]) == now["version"] - 1


async def test_the_history_has_every_step(admin: Client, team: list[Client]) -> None:
    initiator, first, second, *_ = team
    made = await ask(initiator, await define(admin, node("one", first), node("two", second)))
    expect(await act(first, made, "agree", comment="fine"))
    expect(await act(second, made, "send-back", to="one"))
    steps = [(step["user_id"], step["action"], step["node"]) for step in (await read(initiator, made))["history"]]
    assert steps == [
        (id_of(initiator), "submit", None),
        (id_of(first), "agree", "one"),
        (id_of(second), "send-back", "two"),
    ]
