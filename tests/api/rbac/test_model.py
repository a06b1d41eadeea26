"""Random companies: the responses of the service equal those of a model of ten lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.support.notes import AT, note_by
from tests.support.servers import instances

ACTIONS = ("list", "read", "update")
KINDS = ("all", "department", "department_and_below", "self", "custom")
Departments = dict[int, int | None]


@dataclass(frozen=True)
class Role:
    """What a role grants; departments are numbers within the company."""

    kind: str
    named: frozenset[int]
    actions: frozenset[str]
    enabled: bool


@dataclass(frozen=True)
class User:
    """Somebody in a department or in none, with roles by number."""

    department: int | None
    roles: frozenset[int]
    is_super: bool


@dataclass(frozen=True)
class Row:
    """A note: who made it, where, and to whom it was handed."""

    creator: int
    department: int | None
    handed_to: int | None


@dataclass(frozen=True)
class Company:
    """Departments by number with their parents, then moves of one under another, roles, users, rows."""

    parents: Departments
    moves: tuple[tuple[int, int | None], ...]
    roles: tuple[Role, ...]
    users: tuple[User, ...]
    rows: tuple[Row, ...]


# -- the model


def may(company: Company, user: User, action: str) -> bool:
    """Layer 1: the union over the enabled roles."""
    return user.is_super or any(action in role.actions for role in enabled(company, user))


def sees(company: Company, tree: Departments, me: int, row: Row) -> bool:
    """Layer 3: the union of the rows of the enabled roles; what was handed to somebody who sees anything."""
    user, own = company.users[me], row.creator == me
    shown = {
        "all": True,
        "department": own if user.department is None else row.department == user.department,
        "department_and_below": own if user.department is None else user.department in upwards(tree, row.department),
        "self": own,
    }
    roles = enabled(company, user)
    handed = row.handed_to == me and any(role.kind != "custom" or role.named for role in roles)
    return user.is_super or handed or any(shown.get(role.kind, row.department in role.named) for role in roles)


def enabled(company: Company, user: User) -> list[Role]:
    """The roles that count."""
    return [company.roles[number] for number in user.roles if company.roles[number].enabled]


def upwards(tree: Departments, department: int | None) -> Iterator[int]:
    """The department and those above it."""
    while department is not None:
        yield department
        department = tree[department]


# -- random companies: small ones in which every kind of thing occurs

DEPARTMENTS, ROLES, USERS = range(6), range(4), range(3)
numbers = st.sampled_from
department = st.sampled_from([*DEPARTMENTS, None])
roles = st.builds(
    Role,
    st.sampled_from(KINDS),
    st.frozensets(numbers(DEPARTMENTS), max_size=2),
    st.sampled_from([frozenset(ACTIONS)] * 3 + [frozenset({action}) for action in ACTIONS]),
    st.sampled_from([True, True, True, False]),
)
users = st.builds(
    User, department, st.frozensets(numbers(ROLES), min_size=1, max_size=2), st.sampled_from([False] * 9 + [True])
)


@st.composite
def companies(draw: Any) -> Company:
    """A row in every department and one in none, made by anybody and handed to anybody or nobody."""
    parents = {number: draw(st.sampled_from([*range(number), None])) for number in DEPARTMENTS}
    row = st.tuples(numbers(USERS), st.sampled_from([None, None, *USERS]))
    return Company(
        parents,
        tuple(draw(st.lists(st.tuples(numbers(DEPARTMENTS), department), min_size=1, max_size=3))),
        tuple(draw(st.tuples(*[roles] * len(ROLES)))),
        tuple(draw(st.tuples(*[users] * len(USERS)))),
        tuple(Row(creator, place, handed) for place in (*DEPARTMENTS, None) for creator, handed in [draw(row)]),
    )


# -- the service


class Site:
    """The company on a server: numbers in, ids out."""

    def __init__(self, running: Running, people: People, company: Company) -> None:
        self._running = running
        self._people = people
        self._company = company
        self._departments: list[int] = []
        self._roles: list[int] = []
        self.tree = dict(company.parents)
        self.people: list[Client] = []
        self.rows: list[str] = []
        self.tag = unique("company")

    async def build(self) -> None:
        """Make everything; departments move and roles are switched off after the people have logged in."""
        for parent in self._company.parents.values():
            self._departments.append(await self._people.department(self._id(parent)))
        for role in self._company.roles:
            named = [self._departments[number] for number in sorted(role.named)]
            permissions = [f"notes:note:{action}" for action in role.actions]
            self._roles.append(await self._people.role(permissions, role.kind, named))
        for user in self._company.users:
            roles = [self._roles[number] for number in user.roles]
            made = await self._people.account(roles, self._id(user.department), is_super=user.is_super)
            self.people.append(await self._people.admin.log_in(made["username"]))
        for row in self._company.rows:
            self.rows.append(await self._row(row))
        for number, parent in self._company.moves:
            await self._move(number, parent)
        for number, role in enumerate(self._company.roles):
            if not role.enabled:
                await self._change(f"/api/v1/system/roles/{self._roles[number]}", {"status": "disabled"})

    async def _row(self, row: Row) -> str:
        handed = [] if row.handed_to is None else [self._user(row.handed_to)]
        creator, department = self._user(row.creator), self._id(row.department)
        return await note_by(self._running, creator, department, tags=[self.tag], shared_with=handed)

    async def _move(self, number: int, parent: int | None) -> None:
        circle = number in upwards(self.tree, parent)
        path = f"/api/v1/system/departments/{self._departments[number]}"
        await self._change(path, {"parent_id": self._id(parent)}, 40901 if circle else 0)
        if not circle:
            self.tree[number] = parent

    async def _change(self, path: str, values: dict[str, Any], code: int = 0) -> None:
        version = expect(await self._people.admin.get(path))["version"]
        expect(await self._people.admin.patch(path, {**values, "version": version}), code)

    def _id(self, department: int | None) -> int | None:
        return None if department is None else self._departments[department]

    def _user(self, number: int) -> int:
        return int(self.people[number].user["userId"])

    async def listed(self, number: int) -> tuple[int, set[int]]:
        """The code of the list, and the numbers of the rows in it."""
        reply = await self.people[number].get(f"{AT}?tags={self.tag}")
        ids = [item["id"] for item in reply.data["items"]] if reply.code == 0 else []
        return reply.code, {self.rows.index(id) for id in ids}

    async def answered(self, number: int, row: int) -> tuple[int, int]:
        """The codes of reading a row and of changing it with a stale version, which changes nothing."""
        path = f"{AT}/{self.rows[row]}"
        changed = await self.people[number].patch(path, {"name": "changed", "version": 1_000_000})
        return (await self.people[number].get(path)).code, changed.code


@pytest.fixture(scope="module")
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    block = instances(mongodb_uri, tmp_path_factory.mktemp("model"), {})
    yield io_loop.run_sync(block.__aenter__)[0]
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def makers(io_loop: IOLoop, server: Running) -> People:
    return People(io_loop.run_sync(lambda: Client(server.url).log_in("admin")))


def test_the_service_returns_what_the_model_says(io_loop: IOLoop, server: Running, makers: People) -> None:
    check_companies(io_loop, server, makers, 5)


def check_companies(io_loop: IOLoop, server: Running, makers: People, examples: int) -> None:
    """Fail where the service and the model differ in one of so many companies."""

    @settings(max_examples=examples, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
    @given(company=companies())
    def check(company: Company) -> None:
        io_loop.run_sync(lambda: compare(server, makers, company))

    check()


async def compare(server: Running, makers: People, company: Company) -> None:
    """Found the company, and compare what each of its people gets with the model."""
    site = Site(server, makers, company)
    await site.build()
    for number, user in enumerate(company.users):
        visible = {at for at, row in enumerate(company.rows) if sees(company, site.tree, number, row)}
        doors = {action: may(company, user, action) for action in ACTIONS}
        assert await site.listed(number) == ((0, visible) if doors["list"] else (40300, set()))
        for row in range(len(company.rows)):
            found = (0, 40902) if row in visible else (40400, 40400)
            codes = tuple(code if doors[door] else 40300 for door, code in zip(("read", "update"), found, strict=True))
            assert await site.answered(number, row) == codes
