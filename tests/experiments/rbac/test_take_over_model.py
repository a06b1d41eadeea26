"""The administrator of a branch acts at random: they gain no rights, and no control over accounts with more rights or
outside the branch. `company.py` computes the rights independently of the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.rbac.api import MENUS as MENU_RECORDS
from plugins.rbac.declared_menus import synchronise
from plugins.testing import PASSWORD, Client, People, Reply, unique
from tests.api.rbac.branch import DEPARTMENTS, MENUS, ROLES, USERS
from tests.api.rbac.company import ACCOUNT, Company, Record, State, found_company
from tests.support.servers import instances

EXAMPLES, STEPS = 8, 12
APIS = (
    {"method": "GET", "path": "/api/v1/notes/notes"},
    {"method": "GET", "path": "/api/v1/notes/notes/{id}"},
    {"method": "DELETE", "path": "/api/v1/notes/notes/{id}"},
)
CODES = ("notes:note:read", "notes:note:delete", None)
SCOPES = ("self", "department", "department_and_below", "custom", "all")


@dataclass(frozen=True)
class Step:
    """One attempt: an action, and numbers that choose the actor, the target and the values."""

    kind: str
    by: int
    to: int
    how: int
    some: frozenset[int]


class Attack:
    """The attempts on one company, in sequence. A successful one may add controlled accounts."""

    def __init__(self, company: Company, state: State, client: Client, step: Step) -> None:
        self.company = company
        self.state = state
        self.client = client
        self.step = step

    def one(self, things: Sequence[Any]) -> Any:
        """The target of the step."""
        return things[self.step.to % len(things)]

    def chosen(self, things: Sequence[Any]) -> Any:
        """The second operand of the step."""
        return things[self.step.how % len(things)]

    def several(self, things: Sequence[Any]) -> list[Any]:
        """Any number of operands of the step."""
        return [thing for number, thing in enumerate(things) if number in self.step.some]

    async def patch(self, at: str, kind: str, id: int, values: Record) -> Reply:
        """Change a record at its current version."""
        return await self.client.patch(f"{at}/{id}", {**values, "version": self.state.version(kind, id)})

    async def user(self, **values: Any) -> Reply:
        return await self.patch(USERS, "users", self.one(self.company.users), values)

    async def give_roles(self) -> Reply:
        return await self.user(role_ids=self.several(self.company.roles))

    async def take_roles(self) -> Reply:
        return await self.user(role_ids=[])

    async def move_user(self) -> Reply:
        return await self.user(department_id=self.chosen(self.company.departments))

    async def switch_user(self) -> Reply:
        return await self.user(status=self.chosen(["enabled", "disabled"]))

    async def rename_user(self) -> Reply:
        return await self.user(username=unique("renamed"))

    async def set_password(self) -> Reply:
        password = unique(f"{PASSWORD}-")
        reply = await self.user(password=password, must_change_password=False)
        return await self.take_over(reply, self.one(self.company.users), password)

    async def reset_password(self) -> Reply:
        id = self.one(self.company.users)
        reply = await self.client.post(f"{USERS}/{id}/reset-password")
        return await self.take_over(reply, id, reply.data["password"] if reply.code == 0 else "")

    async def take_over(self, reply: Reply, id: int, password: str) -> Reply:
        """Log in as the account whose password was set; it acts from now on."""
        if reply.code == 0:
            body = {"username": self.state.users[id]["username"], "password": password}
            entered = await Client(self.client.url).post("/api/v1/auth/login", body)
            if entered.code == 0:
                self.company.controlled[id] = Client(self.client.url, entered.data["accessToken"])
        return reply

    async def hire(self) -> Reply:
        body = {
            "username": unique("hired"),
            "password": PASSWORD,
            "must_change_password": False,
            "role_ids": self.several(self.company.roles),
            "department_id": self.chosen(self.company.departments),
        }
        reply = await self.client.post(USERS, body)
        if reply.code == 0:
            self.company.users.append(reply.data["id"])
            self.company.controlled[reply.data["id"]] = await self.client.log_in(body["username"])
        return reply

    async def delete_user(self) -> Reply:
        return await self.client.delete(f"{USERS}/{self.one(self.company.users)}")

    async def kick_out(self) -> Reply:
        return await self.client.delete(f"{USERS}/{self.one(self.company.users)}/sessions")

    async def change_scope(self) -> Reply:
        named = self.several(self.company.departments)
        values = {"data_scope": self.chosen(SCOPES), "data_scope_department_ids": named}
        return await self.patch(ROLES, "roles", self.one(self.company.roles), values)

    async def switch_role(self) -> Reply:
        return await self.patch(
            ROLES, "roles", self.one(self.company.roles), {"status": self.chosen(["enabled", "disabled"])}
        )

    async def grant(self) -> Reply:
        menus = self.several(self.company.menus)
        return await self.client.put(f"{ROLES}/{self.one(self.company.roles)}/menus", {"menu_ids": menus})

    async def make_role(self) -> Reply:
        body = {
            "code": unique("made"),
            "name": "x",
            "data_scope": self.chosen(SCOPES),
            "data_scope_department_ids": self.several(self.company.departments),
            "menu_ids": self.several(self.company.menus),
        }
        reply = await self.client.post(ROLES, body)
        if reply.code == 0:
            self.company.roles.append(reply.data["id"])
        return reply

    async def delete_role(self) -> Reply:
        return await self.client.delete(f"{ROLES}/{self.one(self.company.roles)}")

    async def bind(self) -> Reply:
        values: Record = {"apis": self.several(APIS)}
        if self.step.how % 2:
            values = {"permission": self.chosen(CODES)}
        return await self.patch(MENUS, "menus", self.one(self.company.menus), values)

    async def swap_codes(self) -> Reply:
        """Give the second menu the code of the first, for the next start of the service."""
        first, second = self.one(self.company.menus), self.chosen(self.company.menus)
        code = self.state.menus[first]["code"]
        reply = await self.patch(MENUS, "menus", first, {"code": unique("away")})
        if reply.code or first == second:
            return reply
        return await self.patch(MENUS, "menus", second, {"code": code})

    async def delete_menu(self) -> Reply:
        return await self.client.delete(f"{MENUS}/{self.one(self.company.menus)}")

    async def department(self, **values: Any) -> Reply:
        return await self.patch(DEPARTMENTS, "departments", self.one(self.company.departments), values)

    async def rename_department(self) -> Reply:
        return await self.department(name=unique("renamed"), status=self.chosen(["enabled", "disabled"]))

    async def move_department(self) -> Reply:
        return await self.department(parent_id=self.chosen([*self.company.departments, None]))

    async def lead(self) -> Reply:
        return await self.department(leader_user_id=self.chosen(self.company.users))

    async def make_department(self) -> Reply:
        body = {"name": unique("made"), "parent_id": self.chosen([*self.company.departments, None])}
        reply = await self.client.post(DEPARTMENTS, body)
        if reply.code == 0:
            self.company.departments.append(reply.data["id"])
        return reply

    async def delete_department(self) -> Reply:
        return await self.client.delete(f"{DEPARTMENTS}/{self.one(self.company.departments)}")


KINDS: dict[str, Callable[[Attack], Awaitable[Reply]]] = {
    kind.__name__: kind
    for kind in (
        Attack.give_roles,
        Attack.take_roles,
        Attack.move_user,
        Attack.switch_user,
        Attack.rename_user,
        Attack.set_password,
        Attack.reset_password,
        Attack.hire,
        Attack.delete_user,
        Attack.kick_out,
        Attack.change_scope,
        Attack.switch_role,
        Attack.grant,
        Attack.make_role,
        Attack.delete_role,
        Attack.bind,
        Attack.swap_codes,
        Attack.delete_menu,
        Attack.rename_department,
        Attack.move_department,
        Attack.lead,
        Attack.make_department,
        Attack.delete_department,
    )
}
numbers = st.integers(0, 11)
steps = st.builds(Step, st.sampled_from(sorted(KINDS)), numbers, numbers, numbers, st.frozensets(numbers, max_size=4))


@pytest.fixture(scope="module")
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    block = instances(mongodb_uri, tmp_path_factory.mktemp("attacks"), {})
    yield io_loop.run_sync(block.__aenter__)[0]
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def attempt(company: Company, step: Step) -> Reply:
    """Do one step, by the attacker or by an account that they control."""
    actors = list(company.controlled.values())
    attack = Attack(company, await State.read(company.running), actors[step.by % len(actors)], step)
    return await KINDS[step.kind](attack)


def account_of(user: Record) -> Record:
    return {name: user.get(name) for name in ACCOUNT}


def check(company: Company, before: State, after: State) -> None:
    """Require that no controlled account has more rights than the attacker had, and no other account has fewer."""
    limit = before.holdings(company.attacker, enabled_alone=True)
    known = frozenset(before.departments)
    for id in company.controlled:
        now = after.holdings(id)
        assert now.within(limit, known), (
            f"{id} holds {now.rights - limit.rights}, {now.departments - limit.departments}"
        )
    for id, user in before.users.items():
        held = before.holdings(id)
        theirs = not user["is_super"] and held.within(limit, known) and user.get("department_id") in limit.departments
        if id == company.attacker or theirs:
            continue
        assert account_of(after.users[id]) == account_of(user)
        assert id not in company.controlled
        assert (id in after.online) == (id in before.online)
        now = after.holdings(id)
        assert (now.rights, now.everything) == (held.rights, held.everything)
        assert (now.departments ^ held.departments) & known <= limit.departments
    for id, department in before.departments.items():
        assert id in limit.departments or after.departments[id] == department


def test_no_sequence_of_steps_ends_with_more(io_loop: IOLoop, server: Running) -> None:
    check_sequences(io_loop, server, EXAMPLES)


def check_sequences(io_loop: IOLoop, server: Running, examples: int) -> None:
    """Fail where one of so many sequences of steps ends with more rights."""
    people = People(io_loop.run_sync(lambda: Client(server.url).log_in("admin")))
    done: Counter[str] = Counter()

    async def run(scope: str, sequence: Sequence[Step]) -> None:
        company = await found_company(server, people, scope)
        before = await State.read(server)
        try:
            for step in sequence:
                reply = await attempt(company, step)
                assert reply.status < 500, reply.body
                done[f"{step.kind} {'done' if reply.code == 0 else 'refused'}"] += 1
            await synchronise(server.service.database, server.catalogue)
            check(company, before, await State.read(server))
        finally:
            await put_back(server, before)

    @settings(
        max_examples=examples,
        deadline=None,
        print_blob=True,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(["department_and_below", "custom"]), st.lists(steps, min_size=STEPS, max_size=2 * STEPS))
    def hold(scope: str, sequence: Sequence[Step]) -> None:
        io_loop.run_sync(lambda: run(scope, sequence))

    hold()
    print(dict(sorted(done.items())))
    assert len({name for name in done if name.endswith("refused")}) > len(KINDS) / 2
    assert len({name for name in done if name.endswith("done")}) > len(KINDS) / 2


async def put_back(server: Running, before: State) -> None:
    """Restore the menus, which all companies share, to their declarations."""
    driver, store = server.service.database.driver, MENU_RECORDS.name
    await driver.delete_many(store, {"_id": {"$nin": list(before.menus)}})
    # codes may have been swapped, and must be unique meanwhile too
    for id in before.menus:
        await driver.update_one(store, {"_id": id}, {"$set": {"code": unique("between")}})
    for id, menu in before.menus.items():
        await driver.update_one(store, {"_id": id}, {"$set": {name: menu[name] for name in menu if name != "_id"}})
    server.service.database.tell(store, None)
