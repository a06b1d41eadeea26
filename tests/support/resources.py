"""The routes that list, create, read, update and delete the records of a collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from handlers.data.collection import Collection
from handlers.route import Route
from plugins.testing import Client, expect
from tests.support.catalogue import CATALOGUE

OF_A_RECORD = [route for route in CATALOGUE.routes if route.collection and route.parameters]


def creator(collection: Collection) -> Route | None:
    """The route that creates records of the collection."""
    return next((route for route in CATALOGUE.routes if route.body is collection.create), None)


def endpoint(collection: Collection, method: str) -> Route | None:
    """The route of one record, such as `PATCH …/{id}`."""
    found = (route for route in OF_A_RECORD if route.collection == collection.name and route.method == method)
    one = [route for route in found if len(route.parameters) == 1 and route.path.endswith("}")]
    return _at_home(collection, one, lambda route: route.path.rpartition("/")[0])


def list_of(collection: Collection) -> Route | None:
    """The route that lists the collection: pages or a tree."""
    found = (route for route in CATALOGUE.routes if route.collection == collection.name and not route.parameters)
    lists = [route for route in found if route.paged or route.returns.kind == "array"]
    return _at_home(collection, lists, lambda route: route.path)


def _at_home(collection: Collection, routes: Sequence[Route], home: Callable[[Route], str]) -> Route | None:
    """The one where records are made, else the first: others are views of the same records."""
    made_at = creator(collection)
    return next((route for route in routes if made_at and home(route) == made_at.path), next(iter(routes), None))


async def listed(client: Client, collection: Collection) -> tuple[list[Any], int]:
    """The ids of every page, or of the whole tree, and the total that the first page tells."""
    route = list_of(collection)
    assert route is not None
    return await (_pages(client, route) if route.paged else _nodes(client, route))


async def _pages(client: Client, route: Route) -> tuple[list[Any], int]:
    pages = [expect(await client.get(f"{route.path}?page_size=200&sort=-id"))]
    while cursor := pages[-1]["next_cursor"]:
        pages.append(expect(await client.get(f"{route.path}?page_size=200&sort=-id&cursor={cursor}")))
    return [row["id"] for page in pages for row in page["items"]], pages[0]["total"]


async def _nodes(client: Client, route: Route) -> tuple[list[Any], int]:
    waiting, ids = expect(await client.get(route.path)), []
    while waiting:
        node = waiting.pop()
        ids.append(node["id"])
        waiting += node.get("children", ())
    return ids, len(ids)
