"""The server under attack, its OpenAPI document, and the judge of every response."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.experiments.fault_injection.clients import Connection, Reply
from tests.support.replica_sets import ADMIN_PASSWORD, Server

T = TypeVar("T")
METHODS = ("get", "post", "put", "patch", "delete")
_CONNECTIONS = 8
_SLOW_SECONDS = 5.0
_KEPT_FAULTS = 40


@dataclass(frozen=True)
class Operation:
    """One method of one path, as in the OpenAPI document."""

    method: str
    path: str
    definition: dict[str, Any]

    @property
    def name(self) -> str:
        """The method and the path, such as `POST /api/v1/crm/customers`."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The query and path parameters."""
        return list(self.definition.get("parameters", ()))

    @property
    def is_public(self) -> bool:
        """Whether the operation needs no token."""
        return not self.definition.get("security")

    def at(self, record: str) -> str:
        """Return the path with `record` in place of every parameter."""
        path = self.path
        for parameter in self.parameters:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", record)
        return path


@dataclass
class Part:
    """The result of one kind of attack: how many requests, their outcomes, and the faults."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)
    fault_count: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    def fault(self, sentence: str) -> None:
        """Count a fault; the first forty are kept."""
        self.fault_count += 1
        if len(self.faults) < _KEPT_FAULTS:
            self.faults.append(sentence[:400])

    @property
    def requests(self) -> int:
        """The number of requests that were sent."""
        return self.outcomes.total()


class Target:
    """A server, the people who attack it, and its OpenAPI document."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.document: dict[str, Any] = {}
        self.operations: list[Operation] = []
        self.admin = Connection(server.port)
        self.person = Connection(server.port)

    async def prepare(self) -> Target:
        """Log in as the administrator, and create an ordinary person who may do everything with their own rows."""
        await self.admin.log_in("admin", ADMIN_PASSWORD)
        # it has no envelope, so `call` cannot read it
        self.document = await fetch_json(self.server.port, "/api/openapi.json")
        self.operations = [
            Operation(method.upper(), path, operations[method])
            for path, operations in self.document["paths"].items()
            for method in METHODS
            if method in operations
        ]
        self.person = await self.make_person()
        return self

    async def make_person(self, scope: str = "self") -> Connection:
        """Create a person in a new department, with every permission and the data scope `scope`."""
        self.admin.drop()  # the server has closed the connection if it was idle during a long attack
        must, mark = self.admin.must, secrets.token_hex(4)
        menus = [menu["id"] for menu in _flatten(await must("GET", "/api/v1/system/menus/all"))]
        department = await must("POST", "/api/v1/system/departments", {"name": f"hostile-{mark}"})
        role = {"code": f"hostile-{mark}", "name": mark, "data_scope": scope, "data_scope_department_ids": []}
        role_id = (await must("POST", "/api/v1/system/roles", role))["id"]
        await must("PUT", f"/api/v1/system/roles/{role_id}/menus", {"menu_ids": menus})
        account = {
            "username": f"hostile-{mark}",
            "password": ADMIN_PASSWORD,
            "role_ids": [role_id],
            "department_id": department["id"],
            "must_change_password": False,
        }
        await must("POST", "/api/v1/system/users", account)
        return await Connection(self.server.port).log_in(account["username"], ADMIN_PASSWORD)

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema of the document, following `$ref` at its top."""
        while "$ref" in schema:
            place: Any = self.document
            for step in schema["$ref"].removeprefix("#/").split("/"):
                place = place[step]
            schema = place
        return schema

    def body_of(self, operation: Operation) -> dict[str, Any] | None:
        """Return the schema of a JSON body, or None if the operation takes none."""
        content = operation.definition.get("requestBody", {}).get("content", {})
        media = content.get("application/json")
        return self.resolve(media["schema"]) if media else None


def _flatten(menus: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    flat = []
    for menu in menus:
        flat += [menu, *_flatten(menu.get("children", ()))]
    return flat


async def fetch_json(port: int, path: str) -> Any:
    """Return a document that has no envelope."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 25)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    raw = await reader.read()
    writer.close()
    return json.loads(raw.partition(b"\r\n\r\n")[2])


Attack = Callable[[Connection], Awaitable[Reply]]


class Judge:
    """Sends attacks over a few connections, and examines every response."""

    def __init__(self, part: Part, port: int, token: str = "") -> None:
        self.part = part
        self._connections = [Connection(port, token) for _ in range(_CONNECTIONS)]

    async def send_all(self, attacks: Sequence[tuple[str, Attack]], accepted: bool = True) -> None:
        """Run attacks, each with a name. If `accepted` is false, a successful response is a fault."""
        waiting = iter(attacks)

        async def lane(connection: Connection) -> None:
            for name, attack in waiting:
                began = time.monotonic()
                reply = await attack(connection)
                self._look_at(name, reply, time.monotonic() - began, accepted)

        await asyncio.gather(*(lane(connection) for connection in self._connections))
        for connection in self._connections:
            connection.drop()

    def _look_at(self, name: str, reply: Reply, seconds: float, accepted: bool) -> None:
        part = self.part
        part.outcomes[reply.outcome] += 1
        part.slowest = max(part.slowest, seconds)
        if reply.fault:
            part.fault(f"{name}: {reply.fault}")
        elif reply.status >= 500:
            part.fault(f"{name}: {reply.status} {reply.code}")
        elif seconds > _SLOW_SECONDS:
            part.fault(f"{name}: {seconds:.1f} s")
        elif not accepted and reply.code == 0:
            part.fault(f"{name}: accepted")


def json_attack(method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Attack:
    """Return an attack that sends a request with a JSON body."""

    async def attack(connection: Connection) -> Reply:
        return await connection.call(method, path, body, headers)

    return attack
