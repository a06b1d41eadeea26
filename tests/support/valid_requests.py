"""Makes valid requests for routes from their declarations; creates the records that they need through the API first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection, named
from handlers.route import SIGNED_IN, Route
from handlers.schema.fields import obj
from plugins.testing import PASSWORD, Client, Reply, expect, unique
from tests.support.sample_values import sample


@dataclass(frozen=True)
class Exercise:
    """A request to which its route must respond with `code`; `record` is the record that the path names.

    `raw` and `headers` are for a body that is no JSON, such as an upload.
    """

    client: Client
    route: Route
    path: str
    body: Any = None
    code: int = 0
    record: Mapping[str, Any] = field(default_factory=dict)
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, headers: Mapping[str, str] | None = None) -> Reply:
        """Send it, with further headers."""
        given = {**self.headers, **(headers or {})}
        return await self.client.call(self.route.method, self.path, self.body, raw=self.raw, headers=given)


# fields that are required unless another one, such as the customer, says what they are
_INSTEAD = {
    "finance_invoices": ("counterparty", "number", "amount"),
    "inventory_sales_orders": ("customer_name",),
    "inventory_quotations": ("customer_name",),
}
# among the addresses of a customer, of which a new one has none
_CHOSEN = ("billing_address_name", "delivery_address_name")
# what belongs to a contract is in the currency of that
_IN_CURRENCY = ("currency", "rate")
HandMade = Callable[["Maker", Route], Awaitable[Exercise]]


def name_of(route: Route) -> str:
    """`POST /api/v1/crm/customers`."""
    return f"{route.method} {route.path}"


def path_with(route: Route, value: str) -> str:
    """The route's path, every parameter being `value`."""
    path = route.path
    for name in route.parameters:
        path = path.replace(f"{{{name}}}", value)
    return path


class Maker:
    """Makes requests and records as a super administrator does."""

    def __init__(self, admin: Client, hand_made: Mapping[str, HandMade], catalogue: Catalogue) -> None:
        self.admin = admin
        self.catalogue = catalogue
        self._hand_made = hand_made
        self._referred = named(catalogue.collections.values())
        self._routes = {name_of(route): route for route in catalogue.routes}

    async def exercise(self, route: Route, *, only_required: bool = False) -> Exercise:
        """A valid request: from the table of special ones, else from the declaration."""
        made = self._hand_made.get(name_of(route))
        if made is not None:
            return await made(self, route)
        read = f"GET {route.path.removesuffix('/history')}"
        if route.path.endswith("/history") and read in self._hand_made:
            of_record = await self._hand_made[read](self, self._routes[read])
            return replace(of_record, route=route, path=f"{of_record.path}/history")
        return await self.derived(route, only_required=only_required)

    async def derived(self, route: Route, *, only_required: bool = False) -> Exercise:
        """The request that the declaration alone gives."""
        path, record = await self._path(route)
        if route.path.endswith("/{id}/restore"):
            expect(await self.admin.delete(path.removesuffix("/restore")))
        body = await self._body(route, record, only_required) if route.body is not None else None
        query = {name: await sample(child, self.refer) for name, child in route.query.items() if child.required}
        # routes for everybody who is logged in act on the caller, so each request gets a caller of its own
        client = await self.person() if route.access == SIGNED_IN else self.admin
        return Exercise(client, route, f"{path}?{urlencode(query)}" if query else path, body, record=record)

    async def record(self, collection: str) -> dict[str, Any]:
        """A new record of the collection, with its required fields only."""
        route = self.creator(collection) or self._leading_to(collection)
        if route is None:
            raise AssertionError(
                f"no route creates records of {collection}: add what needs them to tests/support/special_requests.py"
            )
        exercise = await self.exercise(route, only_required=True)
        made: dict[str, Any] = expect(await exercise.send())
        return made

    async def refer(self, collection: str) -> Any:
        """The `id` of a new record of the collection with this name or alias."""
        return (await self.record(self._referred[collection].name))["id"]

    async def person(self) -> Client:
        """A new super administrator, logged in."""
        body = {"username": unique("person"), "password": PASSWORD, "is_super": True, "must_change_password": False}
        account = expect(await self.admin.post("/api/v1/system/users", body))
        return await self.admin.log_in(account["username"])

    def creator(self, collection: str) -> Route | None:
        """The route that creates records of the collection."""
        body = self.catalogue.collections[collection].create if collection in self.catalogue.collections else None
        return next((route for route in self._routes.values() if route.method == "POST" and route.body is body), None)

    def _leading_to(self, collection: str) -> Route | None:
        """A hand-made POST or GET that answers one such record: of a collection whose records other requests lead to."""
        shape = self.catalogue.collections[collection].read if collection in self.catalogue.collections else None
        made = [route for name in self._hand_made if (route := self._routes.get(name)) and route.returns is shape]
        leading = [route for method in ("POST", "GET") for route in made if route.method == method and not route.paged]
        return next(iter(leading), None)

    def collection_of(self, route: Route) -> Collection | None:
        """The collection whose create or update body the route takes."""
        return next(
            (one for one in self.catalogue.collections.values() if route.body in (one.create, one.update)), None
        )

    async def _path(self, route: Route) -> tuple[str, Mapping[str, Any]]:
        """The path to a new record, and that record: what a POST on the path before a parameter creates."""
        path, record, template = "", {}, ""
        for segment in route.path.split("/")[1:]:
            if segment.startswith("{"):
                record = await self._made_at(route, template, path)
                value = record.get(segment[1:-1], record.get("id"))
                if value is None:
                    raise AssertionError(f"what POST {template} answers has no {segment}: add {name_of(route)} by hand")
                segment, shape = str(value), segment
            else:
                shape = segment
            path, template = f"{path}/{segment}", f"{template}/{shape}"
        return path, record

    async def _made_at(self, route: Route, template: str, path: str) -> dict[str, Any]:
        maker = self._routes.get(f"POST {template}")
        if maker is None or name_of(maker) in self._hand_made or not maker.parameters:
            creator = maker or (self.creator(route.collection) if route.collection else None)
            if creator is None:
                raise AssertionError(
                    f"nothing says what {name_of(route)} is about: add it to tests/support/special_requests.py"
                )
            made: dict[str, Any] = expect(await (await self.exercise(creator, only_required=True)).send())
            return made
        body = await self._body(maker, {}, only_required=True) if maker.body is not None else None
        nested: dict[str, Any] = expect(await self.admin.post(path, body))
        return nested

    async def _body(self, route: Route, record: Mapping[str, Any], only_required: bool) -> Any:
        route = self._routes.get(name_of(route), route)  # that of another catalogue may have another body
        collection = self.collection_of(route) or self.catalogue.collections.get(route.collection)
        indexes = collection.indexes if collection else ()
        fresh = {name for index in indexes if index.unique for name in index.keys}
        assert route.body is not None
        body = await sample(route.body, self.refer, only_required=only_required, fresh=fresh)
        if only_required and collection is not None and route.body is collection.create:
            needed = {name: collection.fields[name] for name in _INSTEAD.get(collection.name, ())}
            body = await sample(obj(None, needed), self.refer, fresh=fresh) | body
        if "version" in body and "version" in record:
            body["version"] = record["version"]
        for name in (*_CHOSEN, *(_IN_CURRENCY if "contract_id" in body else ())):
            body.pop(name, None)
        return body
