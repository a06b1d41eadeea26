"""Who decides is a right: nobody makes themselves leader, approver, copied person or receiver, or takes it with an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, People, Reply, eventually, expect, unique
from tests.api.approval.flows import (
    DEFINITIONS,
    EVERYTHING,
    INSTANCES,
    act,
    ask,
    business_type,
    define,
    draft,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.approval.test_people import delegate
from tests.api.rbac.branch import DEPARTMENTS, MANAGING, ROLES, USERS, account, change

pytestmark = pytest.mark.gen_test(timeout=60)
EDITING = [f"approval:definition:{action}" for action in ("list", "read", "create", "update", "delete", "restore")]
LOGS = "/api/v1/system/operation-logs"
Record = dict[str, Any]


@dataclass
class Firm:
    """Two branches. A sub-administrator of the first may manage its people and hand over their work."""

    people: People
    branch: int
    foreign: int
    role: int
    deputy: Client

    @property
    def admin(self) -> Client:
        return self.people.admin

    async def colleague(self, department: int | None = None) -> Client:
        """Somebody of the branch, or of another department, who may only ask and decide."""
        return await self.people.person(EVERYTHING, department_id=department or self.branch)

    async def lead(self, department: int, leader: Client) -> Reply:
        reply: Reply = await change(self.admin, f"{DEPARTMENTS}/{department}", leader_user_id=id_of(leader))
        expect(reply)
        return reply

    async def hand_over(self, of: Client, to: Client, by: Client | None = None, **body: Any) -> Reply:
        return await (by or self.deputy).post(f"{USERS}/{id_of(of)}/handover", {"to": id_of(to), **body})


@pytest.fixture
def firm(io_loop: IOLoop, people: People) -> Firm:
    made: Firm = io_loop.run_sync(lambda: found(people))
    return made


async def found(people: People) -> Firm:
    branch, foreign = await people.department(), await people.department()
    permissions = [*MANAGING, "system:user:handover", *EVERYTHING, "approval:instance:reassign"]
    role = await people.role(permissions, "department_and_below")
    user = await people.account([role], branch)
    return Firm(people, branch, foreign, role, await people.admin.log_in(user["username"]))


async def exemption(admin: Client, reply: Reply) -> str | None:
    """The rule that the operation log says a super administrator was exempt from."""
    expect(reply)

    async def logged() -> Any:
        return expect(await admin.get(f"{LOGS}?request_id={reply.headers['X-Request-ID']}"))["items"]

    (entry,) = await eventually(logged)
    found: str | None = entry["exemption"]
    return found


# -- leaders


async def test_nobody_makes_themselves_leader(firm: Firm) -> None:
    me = id_of(firm.deputy)
    expect(await change(firm.deputy, f"{DEPARTMENTS}/{firm.branch}", leader_user_id=me), 40300)
    below = {"name": "x", "parent_id": firm.branch, "leader_user_id": me}
    expect(await firm.deputy.post(DEPARTMENTS, below), 40300)
    other = await firm.colleague()
    led = expect(await change(firm.deputy, f"{DEPARTMENTS}/{firm.branch}", leader_user_id=id_of(other)))
    assert led["leader_user_id"] == id_of(other)


async def test_a_leader_keeps_the_place_that_others_gave_and_may_give_it_up(firm: Firm) -> None:
    await firm.lead(firm.branch, firm.deputy)
    same = {"leader_user_id": id_of(firm.deputy), "name": unique("branch")}
    expect(await change(firm.deputy, f"{DEPARTMENTS}/{firm.branch}", **same))
    expect(await change(firm.deputy, f"{DEPARTMENTS}/{firm.branch}", leader_user_id=None))


async def test_nobody_moves_a_department_or_a_person_under_their_own_lead(firm: Firm) -> None:
    led, beside = [await firm.people.department(firm.branch) for _ in range(2)]
    await firm.lead(led, firm.deputy)
    person = await firm.colleague(beside)
    expect(await change(firm.deputy, f"{DEPARTMENTS}/{beside}", parent_id=led), 40300)
    expect(await change(firm.deputy, f"{USERS}/{id_of(person)}", department_id=led), 40300)
    await firm.lead(firm.branch, firm.deputy)
    expect(await change(firm.deputy, f"{USERS}/{id_of(person)}", department_id=led))
    expect(await change(firm.deputy, f"{DEPARTMENTS}/{beside}", parent_id=led))


async def test_a_super_administrator_who_makes_themselves_leader_is_logged(firm: Firm) -> None:
    assert await exemption(firm.admin, await firm.lead(firm.branch, firm.admin)) == "named_oneself"
    assert await exemption(firm.admin, await firm.lead(firm.foreign, firm.deputy)) is None


# -- handovers, and control of accounts


async def test_nobody_receives_what_they_hand_over(firm: Firm) -> None:
    leaver, heir = await firm.colleague(), await firm.colleague()
    asked = await ask(await firm.colleague(), await define(firm.admin, node("first", leaver)))
    for dry_run in (True, False):
        expect(await firm.hand_over(leaver, firm.deputy, dry_run=dry_run), 40300)
    assert waiting(await read(firm.admin, asked)) == {id_of(leaver)}
    flow = asked["definition_id"]
    expect(await firm.admin.delete(f"{DEFINITIONS}/{flow}"))
    expect(await firm.hand_over(leaver, heir))
    assert waiting(await read(firm.admin, asked)) == {id_of(heir)}
    assert await exemption(firm.admin, await firm.hand_over(heir, firm.admin, firm.admin)) == "named_oneself"


async def _leads_elsewhere(firm: Firm, who: Client) -> None:
    await firm.lead(firm.foreign, who)


async def _is_named_in_a_flow(firm: Firm, who: Client) -> None:
    await define(firm.admin, node("first", who))


async def _is_copied_by_a_flow(firm: Firm, who: Client) -> None:
    await define(firm.admin, node("first", firm.admin), copies={"users": [id_of(who)]})


async def _is_asked_elsewhere(firm: Firm, who: Client) -> None:
    flow = await define(firm.admin, node("first", who))
    await ask(await firm.colleague(firm.foreign), flow)
    expect(await firm.admin.delete(f"{DEFINITIONS}/{flow['id']}"))


async def _will_be_asked_elsewhere(firm: Firm, who: Client) -> None:
    flow = await define(firm.admin, node("first", firm.admin), node("second", who))
    await ask(await firm.colleague(firm.foreign), flow)
    expect(await firm.admin.delete(f"{DEFINITIONS}/{flow['id']}"))


async def _stands_in_elsewhere(firm: Firm, who: Client) -> None:
    await delegate(await firm.colleague(firm.foreign), who)


async def _is_asked_by_role(firm: Firm, who: Client) -> None:
    role = await firm.people.role()
    await define(firm.admin, node("first", firm.admin, roles=[role]))
    before = expect(await firm.admin.get(f"{USERS}/{id_of(who)}"))
    expect(await change(firm.admin, f"{USERS}/{id_of(who)}", role_ids=[*before["role_ids"], role]))


PLACES = (
    _leads_elsewhere,
    _is_named_in_a_flow,
    _is_copied_by_a_flow,
    _is_asked_elsewhere,
    _will_be_asked_elsewhere,
    _stands_in_elsewhere,
    _is_asked_by_role,
)


@pytest.mark.parametrize("place", PLACES, ids=lambda one: one.__name__[1:])
async def test_a_sub_administrator_neither_hands_over_nor_takes_over_decisions_beyond_their_reach(
    firm: Firm, place: Any
) -> None:
    chief, heir = await firm.colleague(), await firm.colleague()
    await place(firm, chief)
    expect(await firm.hand_over(chief, heir), 40300)
    expect(await firm.deputy.post(f"{USERS}/{id_of(chief)}/reset-password"), 40300)
    expect(await firm.hand_over(chief, heir, firm.admin))


async def test_what_lies_within_reach_is_handed_over(firm: Firm) -> None:
    chief, heir = await firm.colleague(), await firm.colleague()
    await firm.lead(firm.branch, chief)
    asked = await ask(await firm.colleague(), await define(firm.admin, node("first", chief)))
    may_edit = await firm.people.role([*EDITING])
    expect(await change(firm.admin, f"{USERS}/{id_of(firm.deputy)}", role_ids=[firm.role, may_edit]))
    done = expect(await firm.hand_over(chief, heir))
    assert (done["status"], done["failures"]) == ("finished", [])
    assert waiting(await read(firm.admin, asked)) == {id_of(heir)}
    assert expect(await firm.admin.get(f"{DEPARTMENTS}/{firm.branch}"))["leader_user_id"] == id_of(heir)


async def test_people_hand_over_their_own_places_only_within_their_reach(firm: Firm) -> None:
    heir = await firm.colleague()
    await firm.lead(firm.foreign, firm.deputy)
    expect(await firm.hand_over(firm.deputy, heir), 40300)


async def test_nobody_hands_over_the_tasks_of_their_own_request(firm: Firm) -> None:
    leaver, heir = await firm.colleague(), await firm.colleague()
    flow = await define(firm.admin, node("first", leaver), node("second", leaver))
    asked = await ask(firm.deputy, flow)
    expect(await firm.admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    done = expect(await firm.hand_over(leaver, heir))
    assert (done["status"], {one["resource_id"] for one in done["failures"]}) == ("failed", {asked["id"]})
    assert waiting(await read(firm.admin, asked)) == {id_of(leaver)}


async def test_whoever_hands_over_does_not_stand_in_as_leader(firm: Firm) -> None:
    leaver, asking = await firm.colleague(), await firm.colleague()
    flow = await define(firm.admin, node("first", leaver))
    asked = await ask(asking, flow)
    await firm.lead(firm.branch, firm.deputy)
    expect(await firm.admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    expect(await firm.hand_over(leaver, asking))
    assert waiting(await read(firm.admin, asked)) == {1}


async def test_the_author_of_a_draft_that_was_handed_over_does_not_decide_on_it(firm: Firm) -> None:
    author, heir, other = await several(firm.people, 3)
    made = await draft(author, await define(firm.admin, node("first", author, other, mode="all")))
    expect(await firm.hand_over(author, heir, firm.admin, collections=["approval_instances"]))
    submitted = expect(await act(heir, made, "submit"))
    assert waiting(submitted) == {id_of(other)}
    expect(await act(other, submitted, "transfer", user_id=id_of(author)), 40901)
    expect(await act(author, submitted, "agree"), 40901)


# -- tasks


async def test_nobody_reassigns_a_task_to_themselves(firm: Firm) -> None:
    boss, other = await firm.colleague(), await firm.colleague()
    asked = await ask(await firm.colleague(), await define(firm.admin, node("first", boss)))
    from_boss = {"from_user_id": id_of(boss)}
    expect(await act(firm.deputy, asked, "reassign", **from_boss, user_id=id_of(firm.deputy)), 40300)
    expect(await act(firm.deputy, asked, "agree"), 40901)
    expect(await act(firm.deputy, asked, "reassign", **from_boss, user_id=id_of(other)))
    taken = await act(firm.admin, asked, "reassign", from_user_id=id_of(other), user_id=1)
    assert await exemption(firm.admin, taken) == "named_oneself"


async def test_nobody_gives_the_draft_of_another_a_flow_that_asks_themselves(firm: Firm) -> None:
    author = await firm.colleague()
    board, own = [await define(firm.admin, node("first", who)) for who in (firm.admin, firm.deputy)]
    made = await draft(author, board)
    path = f"{INSTANCES}/{made['id']}"
    expect(await change(firm.deputy, path, definition_id=own["id"]), 40300)
    expect(await change(firm.deputy, path, definition_id=board["id"], title=unique("title")))
    expect(await change(author, path, definition_id=own["id"]))


# -- flows


@dataclass
class Editor:
    """Somebody who may change flows, holds a role, and leads a department."""

    client: Client
    admin: Client
    role: int
    department: int

    def naming(self, way: str) -> Record:
        ways: dict[str, Record] = {
            "users": {"users": [id_of(self.client)]},
            "roles": {"roles": [self.role]},
            "department_leader": {"department_leader": self.department},
            "initiator_leader": {"initiator_leader": 2},
        }
        return ways[way]


@pytest.fixture
def editor(io_loop: IOLoop, people: People) -> Editor:
    made: Editor = io_loop.run_sync(lambda: appoint(people))
    return made


async def appoint(people: People) -> Editor:
    department, role = await people.department(), await people.role(EDITING)
    user = await people.account([role])
    leader = {"leader_user_id": user["id"]}
    expect(await change(people.admin, f"{DEPARTMENTS}/{department}", **leader))
    return Editor(await people.admin.log_in(user["username"]), people.admin, role, department)


WAYS = ("users", "roles", "department_leader", "initiator_leader")
each_way = pytest.mark.parametrize("way", WAYS)


@each_way
async def test_nobody_makes_themselves_approver_or_copied_person_of_a_flow(editor: Editor, way: str) -> None:
    named = editor.naming(way)
    nobody = node("first", editor.admin)
    for values in ({"nodes": [nobody, node("second", **named)]}, {"nodes": [nobody], "copies": named}):
        body = {"name": unique("flow"), "biz_type": await business_type(editor.admin), **values}
        expect(await editor.client.post(DEFINITIONS, body), 40300)
        expect(await editor.client.post(DEFINITIONS, {**body, "enabled": False}), 40300)
        made = expect(await editor.client.post(DEFINITIONS, {**body, "nodes": [nobody], "copies": {}}))
        expect(await change(editor.client, f"{DEFINITIONS}/{made['id']}", **values), 40300)
        expect(await change(editor.client, f"{DEFINITIONS}/{made['id']}", nodes=[node("other", editor.admin)]))


WIDENING: tuple[Record, ...] = (
    {"conditions": []},
    {"biz_type": "CONTRACT"},
    {"priority": 1},
    {"copies": {"users": [1]}},
)


@each_way
async def test_a_flow_that_names_the_editor_is_changed_by_others(editor: Editor, way: str) -> None:
    both = [node("first", editor.admin), node("second", **editor.naming(way))]
    small = {"field": "amount", "op": "lt", "value": "100.00"}
    off, flow = [await define(editor.admin, *both, conditions=[small], enabled=on) for on in (False, True)]
    path = f"{DEFINITIONS}/{flow['id']}"
    for values in (*WIDENING, {"nodes": both[1:]}, {"nodes": [both[0], {**both[1], "mode": "all"}]}):
        expect(await change(editor.client, path, **values), 40300)
    expect(await change(editor.client, f"{DEFINITIONS}/{off['id']}", enabled=True), 40300)
    # a form sends all fields
    nulls = dict.fromkeys(("users", "roles", "department_leader", "initiator_leader"))
    nodes = [{**one, "approvers": nulls | one["approvers"]} for one in both]
    expect(await change(editor.client, path, name=unique("renamed"), conditions=[small], nodes=nodes, copies=nulls))
    expect(await change(editor.client, path, nodes=both[:1]))


@pytest.mark.parametrize("what", ["conditions", "kind", "disabled", "priority", "deleted"])
async def test_a_flow_before_one_that_names_the_editor_is_not_cleared_away(editor: Editor, what: str) -> None:
    large = {"field": "amount", "op": "gte", "value": "100.00"}
    first = await define(editor.admin, node("first", editor.admin), conditions=[large], priority=1)
    path = f"{DEFINITIONS}/{first['id']}"
    values: dict[str, Record] = {
        "conditions": {"conditions": [{**large, "value": "900.00"}]},
        "kind": {"biz_type": await business_type(editor.admin)},
        "disabled": {"enabled": False},
        "priority": {"priority": 900},
    }

    async def clear() -> Reply:
        return (
            await editor.client.delete(path) if what == "deleted" else await change(editor.client, path, **values[what])
        )

    body = {"name": unique("flow"), "biz_type": first["biz_type"], "nodes": [node("first", editor.client)]}
    own = expect(await editor.admin.post(DEFINITIONS, body))
    expect(await clear(), 40300)
    expect(await change(editor.client, path, nodes=[node("other", editor.admin)]))
    expect(await editor.admin.delete(f"{DEFINITIONS}/{own['id']}"))
    expect(await clear())


async def test_a_flow_that_names_the_editor_is_restored_by_others(editor: Editor) -> None:
    own, other = [await define(editor.admin, node("first", who)) for who in (editor.client, editor.admin)]
    for flow in (own, other):
        expect(await editor.admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    expect(await editor.client.post(f"{DEFINITIONS}/{own['id']}/restore"), 40300)
    expect(await editor.client.post(f"{DEFINITIONS}/{other['id']}/restore"))
    assert await exemption(editor.admin, await editor.admin.post(f"{DEFINITIONS}/{own['id']}/restore")) is None


async def test_a_super_administrator_who_names_themselves_in_a_flow_is_logged(admin: Client) -> None:
    flow = await define(admin, node("first", admin, roles=[await People(admin).role()]))
    changed = await change(admin, f"{DEFINITIONS}/{flow['id']}", copies={"users": [1]})
    assert await exemption(admin, changed) == "named_oneself"


# -- roles that flows name


async def test_a_role_that_flows_name_is_given_and_enabled_only_by_those_who_hold_it(firm: Firm) -> None:
    named, off = await firm.people.role(), await firm.people.role(status="disabled")
    await define(firm.admin, node("first", firm.admin, roles=[named]), copies={"roles": [off]})
    me, person = id_of(firm.deputy), id_of(await firm.colleague())
    held = expect(await firm.admin.get(f"{USERS}/{person}"))["role_ids"]
    expect(await change(firm.deputy, f"{USERS}/{me}", role_ids=[firm.role, named]), 40300)
    expect(await change(firm.deputy, f"{USERS}/{person}", role_ids=[*held, named]), 40300)
    expect(await firm.deputy.post(USERS, account(role_ids=[named], department_id=firm.branch)), 40300)
    expect(await change(firm.deputy, f"{ROLES}/{off}", status="enabled"), 40300)
    expect(await change(firm.deputy, f"{ROLES}/{off}", remark="x"))
    expect(await change(firm.admin, f"{USERS}/{me}", role_ids=[firm.role, named]))
    expect(await change(firm.deputy, f"{USERS}/{person}", role_ids=[*held, named]))
