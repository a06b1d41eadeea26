"""Random flows, requests, absences and delegations, against the model; some of them over HTTP.

`TRADEWIND_TEST_FLOWS=100000` makes more flows than the 20,000 that take two minutes.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.api import utc_now
from plugins.boot.runtime import Running
from plugins.hrm.leave_records import LEAVES
from plugins.testing import Client, People, expect
from tests.api.approval.flows import AT, DEFINITIONS, act, business_type, define, draft, id_of, read, several
from tests.api.approval.test_people import FUTURE, PAST
from tests.declarations.approval.engine_driver import stored
from tests.declarations.approval.flow_model import BOSS, Ask, Company, Flow, Lanes, begin, random_company, random_flow
from tests.declarations.approval.test_flow_model import ACTIONS, AMOUNTS, check, compare

FLOWS = int(os.environ.get("TRADEWIND_TEST_FLOWS", "20000"))
SHARES, OVER_HTTP = 8, max(20, FLOWS // 500)
EACH = FLOWS // SHARES
pytestmark = pytest.mark.gen_test(timeout=600)


@pytest.mark.parametrize("share", range(SHARES))
def test_random_flows_ask_and_end_as_the_model_says(share: int) -> None:
    ends = Counter(compare(seed) for seed in range(share * EACH, (share + 1) * EACH))
    print(dict(ends))
    assert all(ends[end] > EACH / 50 for end in ("refused", "approved", "rejected", "returned"))


def test_the_check_of_branches_finds_what_trying_every_amount_finds() -> None:
    counts = Counter(min(check(seed), 1) for seed in range(FLOWS // 4))
    print(dict(counts))
    assert min(counts[0], counts[1]) > FLOWS / 100


@pytest.fixture(scope="module")
def team(io_loop: IOLoop, people: People) -> list[Client]:
    clients: list[Client] = io_loop.run_sync(lambda: several(people, 6))
    return clients


@pytest.mark.parametrize("seed", range(OVER_HTTP))
async def test_random_flows_over_http_ask_and_end_as_the_model_says(
    seed: int, admin: Client, team: list[Client], tradewind: Running
) -> None:
    chance = random.Random(seed)
    clients = {BOSS: admin, **dict(enumerate(team, 2))}
    company = random_company(chance)
    company.gone, company.leaders = set(), {}  # their accounts are used again, and have no department
    flow, skip = random_flow(chance, company.people), chance.random() < 0.4
    for step in asking(flow):
        step.level = 0
    amount, initiator = chance.choice(AMOUNTS), chance.choice(company.people)
    model = begin(flow, amount, company, initiator, skip)
    async with living(company, clients, tradewind):
        kind = await business_type(admin)
        nodes = [_with_ids(node, clients) for node in stored(flow)]
        off = await define(admin, *nodes, biz_type=kind, repeated="skip" if skip else "ask", enabled=False)
        on = await admin.patch(f"{DEFINITIONS}/{off['id']}", {"version": off["version"], "enabled": True})
        if on.code:  # the check refuses it: see the other test
            return
        made = await draft(clients[initiator], off, record={"amount": str(amount)})
        submitted = await act(clients[initiator], made, "submit")
        assert (submitted.code == 0) == (model is not None)
        names = {id_of(client): number for number, client in clients.items()}
        for _ in range(15 if model is not None else 0):
            now = await read(clients[initiator], made)
            waiting = {(one["node"], names[one["user_id"]]) for one in now["tasks"] if one["status"] == "pending"}
            assert model is not None
            assert (now["status"], waiting) == (model.status, model.waiting)
            if not waiting:
                break
            key, who = chance.choice(sorted(waiting))
            action, keys = chance.choice(ACTIONS), [node["key"] for node in now["nodes"]]
            to = chance.choice(keys) if action == "send-back" else chance.choice(company.people)
            body: dict[str, Any] = {"send-back": {"to": to}}.get(action, {})
            body = {"user_id": id_of(clients[int(to)])} if action == "transfer" else body
            reply = await act(clients[who], made, action, node=key, **body)
            assert (reply.code == 0) == model.act(who, key, action, to), (action, reply.body)


def asking(flow: Flow) -> Iterator[Ask]:
    """The nodes of a flow that ask people."""
    for step in flow:
        if isinstance(step, Ask):
            yield step
        else:
            parts = step.lanes if isinstance(step, Lanes) else [part for _, _, part in step.cases]
            for part in parts:
                yield from asking(part)


def _with_ids(node: dict[str, Any], clients: Mapping[int, Client]) -> dict[str, Any]:
    """Name accounts where the model names people by number, and no leaders."""
    for name in ("approvers", "substitutes"):
        if node.get(name):
            node[name] = {"users": [id_of(clients[one]) for one in node[name]["users"]]}
    return node


@asynccontextmanager
async def living(company: Company, clients: Mapping[int, Client], running: Running) -> AsyncIterator[None]:
    """Let people delegate and be on leave as in the company, and undo it."""
    now, store = utc_now(), running.service.database.store(LEAVES)
    span = {"starts_at": now - timedelta(hours=1), "ends_at": now + timedelta(hours=1), "status": "approved"}
    leaves = [await store.create({"type": "annual", "user_id": id_of(clients[one]), **span}) for one in company.away]
    made = []
    for one, to in company.delegates.items():
        body = {"delegate_id": id_of(clients[to]), "starts_at": PAST, "ends_at": FUTURE}
        made.append((clients[one], expect(await clients[one].post(f"{AT}/delegations", body))["id"]))
    try:
        yield
    finally:
        for client, id in made:
            expect(await client.delete(f"{AT}/delegations/{id}"))
        for leave in leaves:
            await store.delete(leave["id"])
