"""`Demonstration`: enters demonstration data through the routes of the API, as people would, at moments in the past."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, overload

from handlers.access.actor import Actor
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.data.database import utc_now
from handlers.data.visible.scope import ALL_ROWS
from handlers.request import Request
from handlers.route import Route
from handlers.schema.envelope import to_json
from handlers.schema.values import ReadOnlyRecord, Record, Typed
from handlers.service import Service
from plugins.records.transitions import action_handlers


class Demonstration:
    """Calls the routes of the API without a connection: bodies are checked, permissions and data scope are not."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._routes = service.part(Catalogue).routes

    @overload
    async def create(
        self, collection: Collection[Typed], body: ReadOnlyRecord, by: Actor, at: datetime | None = None
    ) -> Typed: ...

    @overload
    async def create(
        self, collection: Collection, body: ReadOnlyRecord, by: Actor, at: datetime | None = None
    ) -> Record: ...

    async def create(self, collection: Collection, body: ReadOnlyRecord, by: Actor, at: datetime | None = None) -> Any:
        """Create a record through the route that takes such a body. Raises what the route raises."""
        body_shape = self._service.database.current(collection).create
        route = next(one for one in self._routes if one.method == "POST" and one.body is body_shape)
        return await self._call(route, body, by, at)

    async def create_all(
        self, collection: Collection, names: Iterable[str], rows: Iterable[Iterable[object]], by: Actor, at: datetime
    ) -> list[Record]:
        """Create a record from each row, which has the values of the fields `names`."""
        fields = tuple(names)
        return [await self.create(collection, dict(zip(fields, row, strict=True)), by, at) for row in rows]

    async def act(
        self,
        collection: Collection,
        action: str,
        record: ReadOnlyRecord,
        by: Actor,
        at: datetime | None = None,
        body: ReadOnlyRecord | None = None,
    ) -> Record:
        """Make a transition of a record through the route of the action. Raises what the route raises."""
        routes = (route for route, one in action_handlers(self._routes) if action in one.names_of(collection))
        return await self._call(next(routes), body or {}, by, at, id=str(record["id"]))

    async def send(
        self, endpoint: str, by: Actor, at: datetime, body: ReadOnlyRecord | None = None, **path: object
    ) -> Record:
        """Send a request to a route such as `POST /api/v1/acme/agreements/{id}/sign`. Raises what the route raises.

        `given` are the parameters in its path.
        """
        route = next(one for one in self._routes if one.name == endpoint)
        return await self._call(route, body or {}, by, at, **{name: str(value) for name, value in path.items()})

    async def rows(self, endpoint: str, by: Actor, at: datetime, **query: object) -> list[Record]:
        """Return the first rows of a list."""
        route = next(one for one in self._routes if one.name == endpoint)
        req = self._request(route, by, at)
        req.query = route.check_query({name: [str(value)] for name, value in query.items()})
        page: Any = await route.handler(req)
        return [dict(row) for row in page.items]

    def _request(self, route: Route, by: Actor, at: datetime, **path: str) -> Request:
        service = self._service
        return Request(service, route.method, route.path, "demo", {}, "", now=at, path=path, actor=by, scope=ALL_ROWS)

    async def _call(self, route: Route, body: ReadOnlyRecord, by: Actor, at: datetime | None, **path: str) -> Record:
        req = self._request(route, by, at or utc_now(), **path)
        if route.check_body is not None:
            req.body = req.checked(route.check_body, json.loads(to_json(body)))
        made: Any = await route.handler(req)
        return dict(made)
