"""People who use the service as their clients do; every response is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from plugins.testing import Client, Reply, expect

Record = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """A request and its status: `li GET /api/v1/crm/contracts/… 404`."""

    who: str
    method: str
    path: str
    status: int


@dataclass
class Recorder:
    """All requests of all people, in order."""

    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def denied(self) -> list[Exchange]:
        """The requests that were answered 403 or 404."""
        return [one for one in self.exchanges if one.status in (403, 404)]


@dataclass
class User:
    """Somebody who is logged in."""

    who: str
    client: Client
    recorder: Recorder

    @property
    def id(self) -> int:
        """The id of the account."""
        return int(self.client.user["userId"])

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        """Send a request; any response will do."""
        reply = await self.client.call(method, path, body, **options)
        self.recorder.exchanges.append(Exchange(self.who, method, path, reply.status))
        return reply

    async def _do(self, method: str, path: str, body: Any = None) -> Any:
        reply = await self.call(method, path, body)
        if reply.status != 200:
            raise AssertionError(f"{self.who} {method} {path} {body}: {reply.status} {reply.body.decode()[:1500]}")
        return expect(reply)

    async def get(self, path: str) -> Any:
        """Read something."""
        return await self._do("GET", path)

    async def post(self, path: str, body: Any = None) -> Any:
        """Create something, or act on it."""
        return await self._do("POST", path, {} if body is None else body)

    async def patch(self, path: str, **values: Any) -> Record:
        """Change a record of which the current version is read first, as forms do."""
        before = await self.get(path)
        changed: Record = await self._do("PATCH", path, {"version": before["version"], **values})
        return changed

    async def rows(self, path: str) -> list[Record]:
        """The first rows of a list."""
        page = await self.get(f"{path}{'&' if '?' in path else '?'}page_size=200")
        rows: list[Record] = page["items"]
        return rows

    async def pick(self, collection: str, name: str) -> Any:
        """Choose a record in the picker of a form, by what is typed; there must be one of this name or code."""
        found = await self.get(f"/api/v1/meta/options/{collection}?q={quote(name)}")
        chosen = [one["id"] for one in found["items"] if name in (one["name"], one["code"])]
        if len(chosen) != 1:
            raise AssertionError(f"{self.who} picks {name} of {collection}: {found['items']}")
        return chosen[0]

    async def colleague(self, name: str) -> int:
        """Find a colleague in the list of people that everybody may choose from."""
        found = await self.get(f"/api/v1/approvals/people?q={quote(name)}")
        [id] = [one["id"] for one in found["items"] if one["name"] == name]
        return int(id)
