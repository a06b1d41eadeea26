"""Who may do what and on which rows, as two tables: API entries and data scope, and where they meet.

The first gives the code that each shape of person is answered on each route. The second gives the rows that each
data scope shows; the same rows and no others can then be read, changed, deleted and acted on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, serving, unique
from tests.support.notes import AT, NOTES_PLUGIN, note_by

pytestmark = pytest.mark.gen_test(timeout=30)

ROUTES = {
    "health": "GET /api/health",
    "profile": "GET /api/v1/auth/profile",
    "menus": "GET /api/v1/system/menus",
    "list": f"GET {AT}",
    "read": f"GET {AT}/{{id}}",
    "create": f"POST {AT}",
    "update": f"PATCH {AT}/{{id}}",
    "archive": f"POST {AT}/{{id}}/archive",
    "delete": f"DELETE {AT}/{{id}}",
    "reset": "POST /api/v1/system/data-reset",
}
# 40001 on the reset: the request is allowed, and its body names a module that cannot be reset
PERMISSIONS = """
                              health  profile  menus  list   read   create  update  archive  delete  reset
nobody                        0       40100    40100  40100  40100  40100   40100   40100    40100   40100
without a role                0       0        0      40300  40300  40300   40300   40300    40300   40302
with a disabled role          0       0        0      40300  40300  40300   40300   40300    40300   40302
reader                        0       0        0      0      0      40300   40300   40300    40300   40302
writer                        0       0        0      0      0      0       0       40300    0       40302
reader and archiver           0       0        0      0      0      40300   40300   0        40300   40302
reader and disabled writer    0       0        0      0      0      40300   40300   40300    40300   40302
all of notes                  0       0        0      0      0      0       0       0        0       40302
super                         0       0        0      0      0      0       0       0        0       40001
super of no role              0       0        0      0      0      0       0       0        0       40001
writer with a first password  0       0        40301  40301  40301  40301   40301   40301    40301   40301
super with a first password   0       0        40301  40301  40301  40301   40301   40301    40301   40301
disabled                      0       40100    40100  40100  40100  40100   40100   40100    40100   40100
deleted                       0       40100    40100  40100  40100  40100   40100   40100    40100   40100
"""

# own: made by the person; department, below, named, elsewhere: by others there; handed: made elsewhere, theirs now
SCOPES = """
                               own  department  below  named  elsewhere  handed
all                            yes  yes         yes    yes    yes        yes
department                     yes  yes         -      -      -          yes
department_and_below           yes  yes         yes    -      -          yes
self                           yes  -           -      -      -          yes
custom                         -    -           -      yes    -          yes
custom of no department        -    -           -      -      -          -
self and custom                yes  -           -      yes    -          yes
department and custom          yes  yes         -      yes    -          yes
self and all                   yes  yes         yes    yes    yes        yes
self and disabled all          yes  -           -      -      -          yes
department, in none            yes  -           -      -      -          yes
department_and_below, in none  yes  -           -      -      -          yes
super                          yes  yes         yes    yes    yes        yes
super of no role               yes  yes         yes    yes    yes        yes
"""


def table(text: str) -> dict[str, dict[str, str]]:
    """The rows of a table by name; cells are words under the words of the head."""
    head, *lines = [line for line in text.splitlines() if line.strip()]
    places = [head.index(word) for word in head.split()]
    return {
        line[: places[0]].strip(): dict(zip(head.split(), line[places[0] :].split(), strict=True)) for line in lines
    }


@pytest.fixture(scope="module")
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with notes, and with the data reset for a route of super administrators."""
    plugins = [*load_plugins(("auth", "rbac", "system")), NOTES_PLUGIN]
    block = serving(mongodb_uri, tmp_path_factory.mktemp("table"), plugins)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def makers(io_loop: IOLoop, server: Running) -> People:
    return People(io_loop.run_sync(lambda: Client(server.url).log_in("admin")))


# -- layer 1: who may use which route

READ = ("list", "read")
WRITE = (*READ, "create", "update", "delete")


class Shapes:
    """One user of each shape, created on demand; actions are those of notes."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._made: dict[str, Client] = {}

    async def person(self, shape: str) -> Client:
        """The person of this shape."""
        if shape not in self._made:
            self._made[shape] = await self._make(shape)
        return self._made[shape]

    async def _make(self, shape: str) -> Client:
        if shape == "nobody":
            return Client(self._people.admin.url)
        user = await self._people.account(
            [await self._role(actions, status) for actions, status in ROLES[shape]],
            is_super=shape.startswith("super"),
            must_change_password=shape.endswith("first password"),
        )
        person = await self._people.admin.log_in(user["username"])
        path = f"/api/v1/system/users/{user['id']}"
        if shape == "disabled":
            expect(await self._people.admin.patch(path, {"status": "disabled", "version": 1}))
        if shape == "deleted":
            expect(await self._people.admin.delete(path))
        return person

    async def _role(self, actions: tuple[str, ...], status: str) -> int:
        return await self._people.role([f"notes:note:{action}" for action in actions], "self", status=status)


ROLES: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "without a role": [],
    "with a disabled role": [(WRITE, "disabled")],
    "reader": [(READ, "enabled")],
    "writer": [(WRITE, "enabled")],
    "reader and archiver": [(READ, "enabled"), (("archive",), "enabled")],
    "reader and disabled writer": [(READ, "enabled"), (WRITE, "disabled")],
    "all of notes": [((*WRITE, "archive"), "enabled")],
    "super": [(READ, "enabled")],
    "super of no role": [],
    "writer with a first password": [(WRITE, "enabled")],
    "super with a first password": [],
    "disabled": [(WRITE, "enabled")],
    "deleted": [(WRITE, "enabled")],
}
BODIES: dict[str, Any] = {
    "create": {"name": "new"},
    "update": {"name": "changed", "version": 1},
    "reset": {"modules": ["rbac"], "confirm": "RESET"},
}


@pytest.fixture(scope="module")
def shapes(makers: People) -> Shapes:
    return Shapes(makers)


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("shape", table(PERMISSIONS))
async def test_a_person_of_this_shape_gets_this_code(server: Running, shapes: Shapes, shape: str, name: str) -> None:
    person = await shapes.person(shape)
    note = await note_by(server, person.user.get("userId", 1), None)
    method, path = ROUTES[name].replace("{id}", note).split(" ")
    expect(await person.call(method, path, BODIES.get(name)), int(table(PERMISSIONS)[shape][name]))


# -- layer 3: which rows


class Company:
    """Departments, a colleague elsewhere, and one person of each data scope in the middle of them."""

    def __init__(self, running: Running, people: People) -> None:
        self._running = running
        self._people = people
        self._persons: dict[str, Client] = {}
        self.departments: dict[str, int] = {}
        self._colleague = 0

    async def prepare(self) -> None:
        """Create what all users share, once."""
        if self.departments:
            return
        top = await self._people.department()
        mine = await self._people.department(top)
        self.departments = {
            "own": mine,
            "department": mine,
            "below": await self._people.department(await self._people.department(mine)),
            "named": await self._people.department(top),
            "elsewhere": await self._people.department(),
            "handed": top,
        }
        self._colleague = (await self._people.account())["id"]

    async def person(self, scope: str) -> Client:
        """The person with this data scope, who may do everything with notes."""
        if scope not in self._persons:
            kinds = [] if scope == "super of no role" else scope.removesuffix(", in none").split(" and ")
            user = await self._people.account(
                [await self._role(kind) for kind in kinds],
                None if scope.endswith("in none") else self.departments["own"],
                is_super=scope.startswith("super"),
            )
            self._persons[scope] = await self._people.admin.log_in(user["username"])
        return self._persons[scope]

    async def _role(self, kind: str) -> int:
        status = "disabled" if kind.startswith("disabled") else "enabled"
        named = [self.departments["named"]] if kind == "custom" else []
        scope = kind.removeprefix("disabled ").removesuffix(" of no department").replace("super", "self")
        actions = [f"notes:note:{action}" for action in (*WRITE, "archive")]
        return await self._people.role(actions, scope, named, status)

    async def rows(self, person: Client, tag: str) -> dict[str, str]:
        """Create a note in each place, all with this tag; return the ids by place."""
        me = person.user["userId"]
        department = person.user["department"]
        own = department["id"] if department else None
        return {
            place: await note_by(
                self._running,
                me if place == "own" else self._colleague,
                own if place == "own" else self.departments[place],
                tags=[tag],
                shared_with=[me] if place == "handed" else [],
            )
            for place in self.departments
        }


@pytest.fixture(scope="module")
def company(server: Running, makers: People) -> Company:
    return Company(server, makers)


async def by_list(person: Client, rows: dict[str, str], tag: str) -> set[str]:
    page = expect(await person.get(f"{AT}?tags={tag}"))
    assert page["total"] == len(page["items"])
    return {place for place, id in rows.items() if id in {item["id"] for item in page["items"]}}


def by_each(method: str, suffix: str = "", body: Any = None) -> Callable[..., Awaitable[set[str]]]:
    """Return the places whose notes this request finds; all others must be 40400."""

    async def ask(person: Client, rows: dict[str, str], tag: str) -> set[str]:
        replies = {place: await person.call(method, f"{AT}/{id}{suffix}", body) for place, id in rows.items()}
        assert {reply.code for reply in replies.values()} <= {0, 40400}
        return {place for place, reply in replies.items() if reply.code == 0}

    return ask


ACTIONS = {
    "list": by_list,
    "read": by_each("GET"),
    "update": by_each("PATCH", body={"name": "changed", "version": 1}),
    "archive": by_each("POST", "/archive"),
    "delete": by_each("DELETE"),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("scope", table(SCOPES))
async def test_a_data_scope_shows_these_rows_to_this_action(company: Company, scope: str, action: str) -> None:
    await company.prepare()
    person, tag = await company.person(scope), unique("tag")
    rows = await company.rows(person, tag)
    expected = {place for place, seen in table(SCOPES)[scope].items() if seen == "yes"}
    assert await ACTIONS[action](person, rows, tag) == expected
