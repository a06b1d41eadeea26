"""pytest fixtures for our tests and those of plugin authors: a real server over a real MongoDB, and clients of it.

In a `conftest.py`: `pytest_plugins = ["plugins.testing"]`. Tests are coroutines under `pytest.mark.gen_test`.
`TRADEWIND_TEST_MONGODB_URI` names a MongoDB to use instead of the embedded one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
import uvloop
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop

from config.database import open_driver
from config.embedded import acquire
from config.settings import Settings
from handlers.catalogue.declarations import Catalogue
from handlers.schema.errors import TOKEN_EXPIRED
from plugins.boot.registry import load_plugins as load_plugins
from plugins.boot.runtime import Running, catalogue_of, running
from plugins.plugin import Plugin
from plugins.testing.connections import Connections

PASSWORD = "Correct-horse-7"
SECRET = "Nj4-a-signing-secret-for-tests-and-nothing-else; it has sixty-four bytes"
OPTIONS: Mapping[str, Any] = {"admin_password": PASSWORD, "bcrypt_cost": 4}
_serial = itertools.count(1)
_databases: dict[str, list[str]] = {}  # by the URI of a MongoDB, the databases that no test uses now
_serving: dict[str, Running] = {}  # the running servers by their URL
_connections: dict[str, Connections] = {}  # to these servers
_catalogues: dict[tuple[int, ...], tuple[Sequence[Plugin], Catalogue]] = {}  # of the plugins with these identities


@dataclass(frozen=True)
class Reply:
    """A response: HTTP status, headers, raw body; `code`, `msg`, `data` of the envelope."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The whole body as JSON."""
        return json.loads(self.body)

    @property
    def code(self) -> int:
        """The envelope's code."""
        return int(self.json["code"])

    @property
    def data(self) -> Any:
        """The envelope's data."""
        return self.json["data"]

    @property
    def fields(self) -> set[str]:
        """The invalid fields of a 40001."""
        return {error["field"] for error in self.data["errors"]}


ResponseHook = Callable[["Client", HTTPRequest, Reply], Awaitable[None]]


@dataclass
class Client:
    """An HTTP client of one server, with or without a token.

    `response_hooks` are called with every response to every client of a test run, to check what must hold for all of
    them.
    """

    response_hooks: ClassVar[list[ResponseHook]] = []

    url: str
    token: str | None = None
    user: dict[str, Any] = field(default_factory=dict)
    session: dict[str, Any] = field(default_factory=dict)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request with `body` as JSON, or `raw`; refresh an expired token and repeat it, as other clients do."""
        sent = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        given = {"Content-Type": "application/json"} if sent is not None else {}
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        given.update(headers or {})
        reply = await self._send(method, path, given, sent)
        if self.session and reply.status == 401 and reply.code == TOKEN_EXPIRED.code:
            await self._refresh()
            given["Authorization"] = f"Bearer {self.token}"
            reply = await self._send(method, path, given, sent)
        request = HTTPRequest(self.url + path, method, given, sent)
        for hook in self.response_hooks:
            await hook(self, request, reply)
        return reply

    async def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        # kept only for servers of `serving`, which closes them: another may wait for clients that keep a connection
        connections = _connections.get(self.url) or Connections(self.url, kept=False)
        return Reply(*await connections.exchange(method, path, headers, body))

    async def _refresh(self) -> None:
        """Get a new pair of tokens, because a long test run outlives an access token."""
        reply = await Client(self.url).post("/api/v1/auth/refresh", {"refreshToken": self.session["refreshToken"]})
        self.session.update(expect(reply))
        self.token = self.session["accessToken"]

    async def get(self, path: str, **options: Any) -> Reply:
        """Send a GET request."""
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a POST request."""
        return await self.call("POST", path, body, **options)

    async def put(self, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a PUT request."""
        return await self.call("PUT", path, body, **options)

    async def patch(self, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a PATCH request."""
        return await self.call("PATCH", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Reply:
        """Send a DELETE request."""
        return await self.call("DELETE", path, **options)

    async def log_in(self, username: str, password: str = PASSWORD) -> Client:
        """Log in as `username` and return a client with the token."""
        reply = await Client(self.url).post("/api/v1/auth/login", {"username": username, "password": password})
        if reply.code:
            raise AssertionError(f"log-in of {username} returned {reply.body.decode()}")
        return Client(self.url, reply.data["accessToken"], reply.data["userInfo"], reply.data)


def unique(prefix: str) -> str:
    """Return a name that no other test uses."""
    return f"{prefix}-{next(_serial)}-{uuid.uuid4().hex[:6]}"


@dataclass
class People:
    """Creates departments, roles and people through the API, as an administrator does."""

    admin: Client
    _roles_of_persons: dict[tuple[Any, ...], int] = field(default_factory=dict)

    async def department(self, parent_id: int | None = None) -> int:
        """Create a department; return its id."""
        body = {"name": unique("department"), "parent_id": parent_id}
        return int(expect(await self.admin.post("/api/v1/system/departments", body))["id"])

    async def role(
        self,
        permissions: Sequence[str] = (),
        scope: str = "self",
        departments: Sequence[int] = (),
        status: str = "enabled",
    ) -> int:
        """Create a role that grants the menus and buttons of these permission codes; return its id."""
        code = unique("role")
        body = {
            "code": code,
            "name": code,
            "data_scope": scope,
            "data_scope_department_ids": list(departments),
            "status": status,
            "menu_ids": await self._menus_with(permissions),
        }
        return int(expect(await self.admin.post("/api/v1/system/roles", body))["id"])

    async def _menus_with(self, permissions: Sequence[str]) -> list[int]:
        """Return the ids of the menus and buttons with these permission codes."""
        server = server_at(self.admin.url)
        if server is None:
            return [menu["id"] for menu in await self.menus() if menu["permission"] in permissions]
        # the list of all menus names the roles of each menu, and a test run makes thousands of roles
        menus = server.service.database.store(server.catalogue.collections["rbac_menus"])
        return [menu["id"] for menu in await menus.find({"permission": {"$in": list(permissions)}}, fields=["id"])]

    async def menus(self) -> list[dict[str, Any]]:
        """Return all menu records, flat."""
        waiting, flat = expect(await self.admin.get("/api/v1/system/menus/all")), []
        while waiting:
            menu = waiting.pop(0)
            waiting += menu.pop("children")
            flat.append(menu)
        return flat

    async def account(
        self, roles: Sequence[int] = (), department_id: int | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Create a user with the shared test password; return the record."""
        body = {
            "username": unique("user"),
            "password": PASSWORD,
            "role_ids": list(roles),
            "department_id": department_id,
            "must_change_password": False,
            **fields,
        }
        user: dict[str, Any] = expect(await self.admin.post("/api/v1/system/users", body))
        return user

    async def person(
        self,
        permissions: Sequence[str] = (),
        scope: str = "self",
        department_id: int | None = None,
        departments: Sequence[int] = (),
    ) -> Client:
        """Create a person with one role, and log in. The role is shared with others who may do and see the same."""
        # a new role makes the server reload its policy, which takes longer the more roles there are
        key = (frozenset(permissions), scope, frozenset(departments))
        if key not in self._roles_of_persons:
            self._roles_of_persons[key] = await self.role(permissions, scope, departments)
        user = await self.account([self._roles_of_persons[key]], department_id)
        return await self.admin.log_in(user["username"])


def expect(reply: Reply, code: int = 0) -> Any:
    """Return the data of a response with this code; fail with the whole response otherwise."""
    if reply.code != code:
        raise AssertionError(f"expected code {code}, got {reply.status}: {reply.body.decode()[:2000]}")
    return reply.data


async def eventually(condition: Callable[[], Any], seconds: float = 15, every: float = 0.02) -> Any:
    """Await `condition` (a coroutine function) until it returns something true; fail after `seconds`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        result = await condition()
        if result:
            return result
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"not true within {seconds} s")
        await asyncio.sleep(every)


@asynccontextmanager
async def serving(
    uri: str, data_dir: Path, plugins: Sequence[Plugin] | None = None, backup: Sequence[str] = (), **settings: Any
) -> AsyncIterator[Running]:
    """Start a server on a free port, without demo data, for tests that need other settings or plugins.

    `backup` are the arguments of Python for scheduled backups; without them there are none.
    """
    options = {name: settings.pop(name) for name in list(settings) if name not in Settings.model_fields}
    environment: Any = Settings
    loaded = _built_in() if plugins is None else plugins
    async with AsyncExitStack() as stack:
        if "mongodb_database" not in settings:
            settings["mongodb_database"] = await stack.enter_async_context(empty_database(uri))
        chosen = {
            "port": 0,
            "demo": False,
            "jwt_secret": SECRET,
            "rate_limits": "off",
            "data_dir": data_dir,
            "drain_notice_seconds": 0,
            "drain_seconds": 2,
            "response_checks": "all",
            **settings,
        }
        configured = environment(_env_file=None, **chosen)
        catalogue = _catalogue_of(configured, loaded)
        given = {**OPTIONS, **options}
        block = running(configured, loaded, uri, given, say=lambda _: None, catalogue=catalogue, backup=backup)
        server = await stack.enter_async_context(block)
        _serving[server.url] = server
        stack.callback(_serving.pop, server.url)
        connections = _connections[server.url] = Connections(server.url, kept=True)
        stack.callback(connections.close)
        stack.callback(_connections.pop, server.url)
        yield server


@cache
def _built_in() -> Sequence[Plugin]:
    """Return all built-in plugins; cached, as their declarations would be checked at every loading."""
    return load_plugins(())


def _catalogue_of(settings: Settings, plugins: Sequence[Plugin]) -> Catalogue:
    """Return the catalogue of the plugins, which are checked once in a test run. Raises RegistryError."""
    key = (settings.operation_log_days, *map(id, plugins))
    if key not in _catalogues:
        # the plugins are kept too, so that no other objects get their identities
        _catalogues[key] = (plugins, catalogue_of(settings, plugins))
    return _catalogues[key][1]


def server_at(url: str) -> Running | None:
    """Return the server of `serving` that runs at this URL, if there is one."""
    return _serving.get(url)


@asynccontextmanager
async def empty_database(uri: str) -> AsyncIterator[str]:
    """Provide the name of a database without documents, which may have collections and indexes of an earlier test.

    Databases are emptied and reused, because creating collections and indexes takes seconds on a slow disk.
    """
    waiting = _databases.setdefault(uri, [])
    name = waiting.pop() if waiting else f"test_{uuid.uuid4().hex[:12]}"
    yield name
    driver = open_driver("pymongo", uri, name, timeout_ms=30_000)
    try:
        found = await driver.command({"listCollections": 1, "nameOnly": True, "filter": {"type": "collection"}})
        for collection in found["cursor"]["firstBatch"]:
            if not collection["name"].startswith("system."):
                await driver.delete_many(collection["name"], {})
    finally:
        await driver.close()
    waiting.append(name)


@pytest.fixture(scope="session")
def io_loop() -> Iterator[IOLoop]:
    """Provide one event loop for the whole run, of the service's kind, so that one server can serve every test."""
    loop = IOLoop(asyncio_loop=uvloop.new_event_loop())
    asyncio.set_event_loop(loop.asyncio_loop)
    yield loop
    loop.close()


@pytest.fixture(scope="session")
def mongodb_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide the URI of a MongoDB for the test run."""
    given = os.environ.get("TRADEWIND_TEST_MONGODB_URI")
    if given:
        yield given
        return
    embedded = acquire(tmp_path_factory.mktemp("mongodb"))
    # no data need outlive this `mongod`, and waiting for its journal takes half of the time of a write
    embedded.acknowledge_at_once()
    yield embedded.uri
    embedded.release_and_wait(15)


@pytest.fixture(scope="session")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Provide a running server with every built-in plugin and demo data."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("data"), demo=True)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def anonymous(tradewind: Running) -> Client:
    """Return a client without a token."""
    return Client(tradewind.url)


@pytest.fixture(scope="session")
def admin(io_loop: IOLoop, anonymous: Client) -> Client:
    """Return a client of user 1, the super administrator."""
    client: Client = io_loop.run_sync(lambda: anonymous.log_in("admin"))
    return client


@pytest.fixture(scope="session")
def people(admin: Client) -> People:
    """Return what creates people with the permissions and the data scope that a test needs."""
    return People(admin)
