"""Random changes in a random company: what a rehearsal tells is exactly how decisions and rows differ afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from handlers.lifecycle import refusal
from plugins.boot.runtime import Running
from plugins.rbac.api import USERS, Directory, Policy
from plugins.testing import Client, People, Reply, expect, unique
from tests.support.notes import AT, NOTES, note_by
from tests.support.servers import instances

DECISIONS = 8000
SYSTEM = "/api/v1/system"
SCOPES = ("all", "department", "department_and_below", "self", "custom")
Allowed = frozenset[tuple[str, str]]


@pytest.fixture(scope="module")
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    block = instances(mongodb_uri, tmp_path_factory.mktemp("rehearsal"), {})
    yield io_loop.run_sync(block.__aenter__)[0]
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@dataclass
class Reality:
    """What everybody may do and sees, asked of the functions that decide about requests."""

    allowed: dict[int, Allowed]
    rows: dict[tuple[int, str], frozenset[Any]]

    @classmethod
    async def ask(cls, running: Running) -> Reality:
        service, catalogue = running.service, running.catalogue
        policy, directory = service.part(Policy), service.part(Directory)
        guarded = [route for route in catalogue.routes if route.guarded]
        allowed: dict[int, Allowed] = {}
        rows: dict[tuple[int, str], frozenset[Any]] = {}
        for user in await service.database.store(USERS).find(fields=["id"]):
            actor = await directory.actor_of(user["id"])
            routes = [one for one in guarded if actor and await refusal(actor, one, policy) is None]
            held = [code for code in catalogue.permissions if actor and await policy.holds(actor, code)]
            allowed[user["id"]] = frozenset(
                (*((one.access, one.name) for one in routes), *((code, "") for code in held))
            )
            for collection in (NOTES, USERS):
                seen: list[dict[str, Any]] = []
                if actor is not None:
                    store = service.database.store(collection, actor, await policy.scope_of(actor))
                    seen = await store.find(fields=["id"])
                rows[user["id"], collection.name] = frozenset(row["id"] for row in seen)
        return cls(allowed, rows)

    def decisions(self, running: Running) -> int:
        """How many decisions these are: of each person on each permission code, and of the rows of each collection."""
        return len(self.allowed) * len(running.catalogue.permissions) + len(self.rows)


def gained(there: Reality, here: Reality) -> dict[int, list[str]]:
    """The codes of what each person may do there and not here."""
    found = {id: sorted({code for code, _ in allowed - here.allowed[id]}) for id, allowed in there.allowed.items()}
    return {id: codes for id, codes in found.items() if codes}


def told(reply: Reply, side: str) -> dict[int, list[str]]:
    return {one["user_id"]: one["permissions"] for one in reply.data[side] if one["permissions"]}


def rows_told(reply: Reply, side: str) -> dict[tuple[int, str], int]:
    return {(one["user_id"], name): number for one in reply.data[side] for name, number in one["rows"].items()}


class Company:
    """Departments, roles, menus and people that change at random."""

    def __init__(self, running: Running, people: People, luck: random.Random) -> None:
        self._running = running
        self._people = people
        self._luck = luck
        self._departments: list[int] = []
        self._roles: list[int] = []
        self._menus: list[int] = []
        self._granted: list[int] = []
        self._users: list[int] = []

    async def build(self) -> None:
        """Found it: six departments, six roles, three menus of its own, and twenty people with notes."""
        luck, people = self._luck, self._people
        for _ in range(6):
            self._departments.append(await people.department(luck.choice([None, *self._departments])))
        for _ in range(3):
            button = {"type": "button", "code": unique("own"), "title": "x", "apis": self._apis()}
            self._menus.append(expect(await people.admin.post(f"{SYSTEM}/menus", button))["id"])
        self._granted = [menu["id"] for menu in await people.menus() if menu["permission"] or menu["id"] in self._menus]
        for _ in range(6):
            self._roles.append(await people.role([], "self"))
            await self.change("roles", self._roles[-1], self._role())
        for _ in range(20):
            account = await people.account(self._some(self._roles, 2), self._place())
            self._users.append(account["id"])
            for _ in range(luck.randrange(4)):
                await note_by(self._running, account["id"], self._place(), shared_with=self._some(self._users, 1))

    def _apis(self) -> list[dict[str, str]]:
        apis = [("GET", AT), ("POST", AT), ("GET", f"{AT}/{{id}}"), ("PATCH", f"{AT}/{{id}}")]
        return [{"method": method, "path": path} for method, path in self._some(apis, 3)]

    def _role(self) -> dict[str, Any]:
        luck = self._luck
        values = {
            "data_scope": luck.choice(SCOPES),
            "data_scope_department_ids": self._some(self._departments, 3),
            "menu_ids": self._some(self._granted, 8),
            "status": luck.choice(["enabled", "enabled", "enabled", "disabled"]),
        }
        return {name: values[name] for name in self._some(list(values), 4)}

    def _user(self) -> dict[str, Any]:
        values = {
            "role_ids": self._some(self._roles, 3),
            "department_id": self._place(),
            "status": self._luck.choice(["enabled", "enabled", "disabled"]),
            "is_super": self._luck.random() < 0.1,
        }
        return {name: values[name] for name in self._some(list(values), 2)}

    def _place(self) -> int | None:
        return self._luck.choice([None, *self._departments])

    def _some(self, values: list[Any], most: int) -> list[Any]:
        return self._luck.sample(values, self._luck.randint(0, min(most, len(values))))

    def draw(self) -> tuple[str, int, dict[str, Any]]:
        """A change: of what, and to what."""
        draws: list[Callable[[], tuple[str, int, dict[str, Any]]]] = [
            lambda: ("roles", self._luck.choice(self._roles), self._role()),
            lambda: ("users", self._luck.choice(self._users), self._user()),
            lambda: ("menus", self._luck.choice(self._menus), {"apis": self._apis()}),
            lambda: ("departments", self._luck.choice(self._departments), {"parent_id": self._place()}),
        ]
        return self._luck.choice(draws)()

    async def change(self, kind: str, id: int, values: dict[str, Any]) -> tuple[Reply, Reply, Reality, Reality]:
        """Rehearse and make a change: both responses, and what was so before and after."""
        admin, path = self._people.admin, f"{SYSTEM}/{kind}/{id}"
        stored = await self._running.service.database.driver.find_one(f"rbac_{kind}", {"_id": id})
        assert stored is not None
        body = {**values, "version": stored["version"]}
        before = await Reality.ask(self._running)
        rehearsed = await admin.post(f"{path}/rehearse", body)
        assert await Reality.ask(self._running) == before, "a rehearsal changed something"
        made = await admin.patch(path, body)
        return rehearsed, made, before, await Reality.ask(self._running)


def test_what_is_rehearsed_is_what_happens(io_loop: IOLoop, server: Running) -> None:
    check_rehearsals(io_loop, server, DECISIONS)


def check_rehearsals(io_loop: IOLoop, server: Running, decisions: int) -> None:
    """Fail where one of so many decisions is not as it was rehearsed."""
    seed = random.randrange(1 << 32)

    async def compare() -> int:
        admin = await Client(server.url).log_in("admin")
        company = Company(server, People(admin), random.Random(seed))
        await company.build()
        compared = 0
        while compared < decisions:
            change = company.draw()
            rehearsed, made, before, after = await company.change(*change)
            assert rehearsed.code == made.code, (seed, change)
            compared += after.decisions(server)
            if made.code != 0:
                assert before == after
                continue
            assert rehearsed.data["rows_counted"]
            assert told(rehearsed, "gains") == gained(after, before), (seed, change)
            assert told(rehearsed, "losses") == gained(before, after), (seed, change)
            more, fewer = rows_told(rehearsed, "gains"), rows_told(rehearsed, "losses")
            for key, rows in after.rows.items():
                expected = len(rows), len(rows - before.rows[key]), len(before.rows[key] - rows)
                difference = more.get(key, 0) - fewer.get(key, 0)
                assert difference == expected[0] - len(before.rows[key]), (seed, change, key)
                if key[1] == NOTES.name:  # no note changes its place by it, as somebody who moves does
                    assert (more.get(key, 0), fewer.get(key, 0)) == expected[1:], (seed, change, key)
            assert {*more, *fewer} <= after.rows.keys()
        return compared

    compared = io_loop.run_sync(compare)
    print(f"{compared:,} decisions rehearsed and made alike, seed {seed}")
