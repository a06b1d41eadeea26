"""Sub-administrators, flow editors and leaders act at random: none ends up deciding, or copied, where they had no right.

Whoever is asked or copied may read the record, its children and its files, so this is about reading too. A leader has a
right to decide for everybody below them. `TRADEWIND_TEST_SEQUENCES` sets the number of sequences.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from handlers.data.database import utc_now
from plugins.approval.people import load_staff
from plugins.approval.records import INSTANCES as APPROVALS
from plugins.approval.requests import find_definition
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, People, Reply, expect, unique
from tests.api.approval.flows import DEFINITIONS, EVERYTHING, act, ask, business_type, id_of, node, read
from tests.api.approval.test_people import delegate
from tests.api.approval.test_who_decides import EDITING
from tests.api.rbac.branch import DEPARTMENTS, MANAGING, ROLES, USERS, change

pytestmark = pytest.mark.gen_test(timeout=600)
SEQUENCES, STEPS = int(os.environ.get("TRADEWIND_TEST_SEQUENCES", "8")), 24
AMOUNTS = ("10.00", "900.00")
ADMINISTRATION = [*MANAGING, "system:user:handover", "approval:instance:reassign"]
Step = Callable[["Company"], Awaitable[Reply]]
Right = tuple[str, int]  # a request of this kind and amount, or the id of one under way; and who made it
Held = Mapping[int, set[Right]]


@dataclass
class Company:
    """Departments with their leaders, people, roles, flows and requests; and the accounts that the attacker controls."""

    running: Running
    people: People
    chance: random.Random
    departments: list[int]
    persons: list[int]
    foreigners: frozenset[int]
    roles: list[int]
    biz_types: list[str]
    flows: list[str]
    deleted: list[str]
    requests: list[str]
    attacker: Client
    steps: tuple[Step, ...]
    controlled: dict[int, Client] = field(default_factory=dict)

    def one(self, things: Sequence[Any]) -> Any:
        return self.chance.choice(things)

    @property
    def client(self) -> Client:
        """The attacker, mostly, or an account that they control."""
        chosen: Client = self.one([self.attacker, self.attacker, *self.controlled.values()])
        return chosen

    @property
    def person(self) -> int:
        """Anybody, the attacker more often than others."""
        return int(self.one([*self.persons, *[id_of(self.attacker)] * 3]))

    def several(self, things: Sequence[Any]) -> list[Any]:
        return self.chance.sample(things, self.chance.randint(0, 2))


async def found(running: Running, people: People, seed: int, chance: random.Random) -> Company:
    """top ── branch ── inner, leaf; top ── foreign. The attacker belongs to the branch; some lead `inner`."""
    top = await people.department()
    branch, foreign = await people.department(top), await people.department(top)
    inner, leaf = await people.department(branch), await people.department(branch)
    plain, named = await people.role(EVERYTHING), await people.role(EVERYTHING)
    power, steps, leads = ATTACKERS[seed % len(ATTACKERS)]
    own = await people.role([*EVERYTHING, *power], "self" if power is EDITING else "department_and_below")
    places = [(plain, place) for place in (branch, inner, leaf, foreign, foreign, branch, inner, leaf)]
    persons = [(await people.account([role], place))["id"] for role, place in (*places, (named, branch))]
    head, _, deputy, stranger, chief, *_ = persons
    user = await people.account([own], branch)
    attacker = await people.admin.log_in(user["username"])
    leaders = {top: chief, foreign: chief, branch: head, **({inner: user["id"]} if leads else {})}
    for department, leader in leaders.items():
        expect(await change(people.admin, f"{DEPARTMENTS}/{department}", leader_user_id=leader))
    biz_types = [await business_type(people.admin) for _ in range(2)]
    large = [{"field": "amount", "op": "gte", "value": "100.00"}]
    board, leading, by_role = (
        {"users": [chief]},
        {"initiator_leader": 1},
        {"roles": [named], "users": [head]},
    )
    flows = [
        await define(people.admin, biz_types[0], 10, [leading, board], large, copies={"users": [deputy]}),
        await define(people.admin, biz_types[0], 100, [leading], [], copies={"roles": [named]}),
        await define(people.admin, biz_types[1], 10, [board, by_role], large),
        await define(people.admin, biz_types[1], 100, [by_role], []),
    ]
    if chance.random() < 0.5:  # the attacker is asked about small amounts, by right
        flows.append(await define(people.admin, biz_types[1], 50, [{"users": [user["id"]]}], []))
    clients = [await client_of(people, one) for one in (persons[1], stranger)]
    asked = [({"id": flow}, {"amount": AMOUNTS[1]}) for flow in (flows[0], flows[2])]
    requests = [(await ask(client, flow, record=record))["id"] for client in clients for flow, record in asked]
    await delegate(clients[1], await client_of(people, deputy))
    return Company(
        running,
        people,
        chance,
        [top, branch, inner, leaf, foreign],
        persons,
        frozenset({stranger, chief}),
        [plain, named],
        biz_types,
        flows,
        [],
        requests,
        attacker,
        steps,
    )


async def client_of(people: People, id: int) -> Client:
    return await people.admin.log_in(expect(await people.admin.get(f"{USERS}/{id}"))["username"])


async def define(
    admin: Client, biz_type: str, priority: int, nodes: list[Any], conditions: list[Any], **values: Any
) -> str:
    body = {
        "name": unique("flow"),
        "biz_type": biz_type,
        "priority": priority,
        "nodes": [node(f"n{number}", **approvers) for number, approvers in enumerate(nodes)],
        "conditions": conditions,
        **values,
    }
    return str(expect(await admin.post(DEFINITIONS, body))["id"])


# -- steps


async def lead(at: Company) -> Reply:
    return await update(at, f"{DEPARTMENTS}/{at.one(at.departments)}", leader_user_id=at.person)


async def make_department(at: Company) -> Reply:
    body = {"name": unique("made"), "parent_id": at.one(at.departments), "leader_user_id": at.one([None, at.person])}
    return await kept(at.departments, await at.client.post(DEPARTMENTS, body))


async def move_department(at: Company) -> Reply:
    return await update(at, f"{DEPARTMENTS}/{at.one(at.departments)}", parent_id=at.one(at.departments))


async def move_person(at: Company) -> Reply:
    return await update(at, f"{USERS}/{at.one(at.persons)}", department_id=at.one(at.departments))


async def give_roles(at: Company) -> Reply:
    own = expect(await at.people.admin.get(f"{USERS}/{id_of(at.attacker)}"))["role_ids"]
    id = at.person
    roles = [*(own if id == id_of(at.attacker) else ()), *at.several(at.roles)]
    return await update(at, f"{USERS}/{id}", role_ids=list(dict.fromkeys(roles)))


async def switch_role(at: Company) -> Reply:
    return await update(at, f"{ROLES}/{at.one(at.roles)}", status=at.one(["enabled", "disabled"]))


async def hire(at: Company) -> Reply:
    body = {
        "username": unique("hired"),
        "password": PASSWORD,
        "must_change_password": False,
        "role_ids": at.several(at.roles),
        "department_id": at.one(at.departments),
    }
    reply = await at.client.post(USERS, body)
    if reply.code == 0:
        at.persons.append(reply.data["id"])
        at.controlled[reply.data["id"]] = await at.people.admin.log_in(body["username"])
    return reply


async def take_over(at: Company) -> Reply:
    id, password = at.one(at.persons), unique(f"{PASSWORD}-")
    reply = await update(at, f"{USERS}/{id}", password=password, must_change_password=False)
    if reply.code == 0:
        body = {"username": expect(await at.people.admin.get(f"{USERS}/{id}"))["username"], "password": password}
        entered = await Client(at.attacker.url).post("/api/v1/auth/login", body)
        if entered.code == 0:
            at.controlled[id] = Client(at.attacker.url, entered.data["accessToken"], entered.data)
    return reply


async def hand_over(at: Company) -> Reply:
    chosen = at.several(["rbac_departments", "approval_definitions", "approval_instances", "approval_delegations"])
    body = {"to": at.person, **({"collections": chosen} if chosen else {})}
    return await at.client.post(f"{USERS}/{at.one([*at.persons, id_of(at.attacker)])}/handover", body)


async def reassign(at: Company) -> Reply:
    asked = await read(at.people.admin, {"id": at.one(at.requests)})
    body = {"from_user_id": asked["tasks"][-1]["user_id"], "user_id": at.person}
    return await act(at.client, asked, "reassign", **body)


async def make_flow(at: Company) -> Reply:
    body = {"name": unique("flow"), "biz_type": at.one(at.biz_types), **flow_values(at)}
    return await kept(at.flows, await at.client.post(DEFINITIONS, body))


async def change_flow(at: Company) -> Reply:
    values = {**flow_values(at), "biz_type": at.one(at.biz_types), "enabled": at.one([True, False])}
    return await update(at, f"{DEFINITIONS}/{at.one(at.flows)}", **dict([at.one([*values.items()])]))


async def delete_flow(at: Company) -> Reply:
    id = at.one(at.flows)
    reply = await at.client.delete(f"{DEFINITIONS}/{id}")
    if reply.code == 0:
        at.deleted.append(id)
    return reply


async def restore_flow(at: Company) -> Reply:
    return await at.client.post(f"{DEFINITIONS}/{at.one(at.deleted or at.flows)}/restore")


def flow_values(at: Company) -> dict[str, Any]:
    """Any flow: who is asked and copied, about what, and before which others."""

    def approvers() -> dict[str, Any]:
        ways: Sequence[dict[str, Any]] = (
            {"users": [at.person]},
            {"roles": [at.one(at.roles)]},
            {"department_leader": at.one(at.departments)},
            {"initiator_leader": at.chance.randint(1, 3)},
        )
        return dict(at.one(ways))

    least = {"field": "amount", "op": at.one(["gte", "lt"]), "value": at.one(["100.00", "5000.00"])}
    return {
        "nodes": [node(f"n{number}", **approvers()) for number in range(at.chance.randint(1, 2))],
        "copies": at.one([{}, approvers()]),
        "conditions": at.one([[], [least]]),
        "priority": at.one([1, 60, 500]),
    }


async def update(at: Company, path: str, **values: Any) -> Reply:
    """PATCH with the current version, which the caller may not be able to read."""
    found = await at.people.admin.get(path)
    version = found.data["version"] if found.code == 0 else 1
    return await at.client.patch(path, {**values, "version": version})


async def kept(things: list[Any], reply: Reply) -> Reply:
    if reply.code == 0:
        things.append(reply.data["id"])
    return reply


ADMINISTERING: tuple[Step, ...] = (
    *(lead, make_department, move_department, move_person, give_roles, switch_role, hire),
    *(take_over, hand_over, reassign),
)
EDITS: tuple[Step, ...] = (make_flow, change_flow, delete_flow, restore_flow)
# what they may do, their steps, and whether they lead; whoever may do both could appoint an accomplice
ATTACKERS: Sequence[tuple[list[str], tuple[Step, ...], bool]] = (
    (ADMINISTRATION, ADMINISTERING, False),
    (EDITING, EDITS, False),
    (ADMINISTRATION, ADMINISTERING, True),
    (EDITING, EDITS, True),
)


# -- who decides


async def held(at: Company, initiators: Sequence[int]) -> Held:
    """Whom the flows would ask or copy about requests of these people, and about those under way."""
    service, found = at.running.service, defaultdict[int, set[Right]](set)
    for initiator in initiators:
        for biz_type, amount in ((kind, amount) for kind in at.biz_types for amount in AMOUNTS):
            flow = await find_definition(service, biz_type, {"amount": amount})
            for user_id in await named(at, flow, initiator) if flow else ():
                found[user_id].add((f"{biz_type} {amount}", initiator))
    for one in await service.database.store(APPROVALS).find({"_id": {"$in": [*map(APPROVALS.parse_id, at.requests)]}}):
        asked = {*one["todo"], *one["copied"], *await named(at, {**one, "copies": {}}, one["initiator_id"])}
        for user_id in asked if one["status"] == "pending" else ():
            found[user_id].add((str(one["id"]), one["initiator_id"]))
    return found


async def named(at: Company, flow: Mapping[str, Any], initiator: int) -> set[int]:
    service, about = at.running.service, {"initiator_id": initiator, "behind": [initiator]}
    staff = await load_staff(service, [*flow["nodes"], flow], [initiator], utc_now())
    asked = [staff.panel(one, about) for one in flow["nodes"]]
    return {*(one.user_id for panel in asked for one in panel.people), *staff.named(flow["copies"], initiator)}


async def led(at: Company, initiators: Sequence[int]) -> set[int]:
    """Those of the initiators whom the attacker leads."""
    led = {id for id in at.departments if (await department(at, id))["leader_user_id"] == id_of(at.attacker)}
    users = [expect(await at.people.admin.get(f"{USERS}/{id}")) for id in initiators]
    above = {id: (await department(at, id))["ancestors"] for id in at.departments}
    return {one["id"] for one in users if led & {one["department_id"], *above[one["department_id"]]}}


async def department(at: Company, id: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = expect(await at.people.admin.get(f"{DEPARTMENTS}/{id}"))
    return found


def gains(at: Company, before: Held, after: Held, below: set[int]) -> Iterator[tuple[int, Right]]:
    """Yield what the attacker gained; of accounts that they control, what belongs to people outside their data scope."""
    me = id_of(at.attacker)
    for user_id in (me, *at.controlled):
        for right in after.get(user_id, ()):
            counts = right[1] not in below if user_id == me else right[1] in at.foreigners
            if counts and right not in before.get(me, ()):
                yield user_id, right


async def test_nobody_ends_up_deciding_what_they_had_no_right_to(tradewind: Running, people: People) -> None:
    done: Counter[str] = Counter()
    for seed in range(SEQUENCES):
        at = await found(tradewind, people, seed, random.Random(seed))
        initiators, steps = at.persons[1:4], []
        before, below = await held(at, initiators), await led(at, initiators)
        for number in range(STEPS):
            step = at.one(at.steps)
            reply = await step(at)
            assert reply.status < 500, reply.body
            steps.append((step.__name__, reply.code))
            done[f"{step.__name__} {'refused' if reply.code else 'done'}"] += 1
            if number % 6 == 5:
                assert [*gains(at, before, await held(at, initiators), below)] == [], (seed, steps)
    names = {one.__name__ for one in (*ADMINISTERING, *EDITS)}
    assert {name for name in names if done[f"{name} done"]} == names, done
    assert sum(count for name, count in done.items() if name.endswith("refused")) > SEQUENCES * STEPS / 4, done
