"""Trees of records with a `parent_id`: nesting them for responses, and changing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from plugins.api import Collection, Request

Result = TypeVar("Result")
MAX_LEVELS = 32  # as deep as JSON encoders and people can follow


def nest(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the roots, each with its `children` in the given order. A record with an unknown parent is a root."""
    by_id = {record["id"]: {**record, "children": []} for record in records}
    roots: list[dict[str, Any]] = []
    for node in by_id.values():
        parent = by_id.get(node.get("parent_id"))
        (parent["children"] if parent else roots).append(node)
    return roots


def list_upwards(by_id: Mapping[int, Mapping[str, Any]], id: int | None) -> list[int]:
    """Return the id and the ids of its ancestors, nearest first."""
    path: list[int] = []
    while id is not None and id in by_id and id not in path:
        path.append(id)
        id = by_id[id].get("parent_id")
    return path


async def change_tree(req: Request, collection: Collection, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work` in a transaction that excludes other changes of the same tree: two moves could form a cycle."""

    async def exclusive_work() -> Result:
        await req.service.database.lock(collection, "tree")
        return await work()

    return await req.transaction(exclusive_work)
