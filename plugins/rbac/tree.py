"""Trees of records that know their `parent_id`: how they are answered, and how they change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from plugins.api import Collection, Request

Result = TypeVar("Result")
MAX_LEVELS = 32  # what JSON encoders and people can follow


def nested(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The roots, each with its `children` in the order given; an unknown parent makes a root."""
    by_id = {record["id"]: {**record, "children": []} for record in records}
    roots: list[dict[str, Any]] = []
    for node in by_id.values():
        parent = by_id.get(node.get("parent_id"))
        (parent["children"] if parent else roots).append(node)
    return roots


def upwards(by_id: Mapping[int, Mapping[str, Any]], id: int | None) -> list[int]:
    """The id and those above it, nearest first."""
    path: list[int] = []
    while id is not None and id in by_id and id not in path:
        path.append(id)
        id = by_id[id].get("parent_id")
    return path


async def change_tree(req: Request, collection: Collection, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work` in a transaction that excludes other changes of the same tree, so that two moves make no circle."""

    async def alone() -> Result:
        await req.service.database.next_number(turn_of(collection), apart=False)
        return await work()

    return await req.transaction(alone)


def turn_of(collection: Collection) -> str:
    """The counter that every change of the tree moves on."""
    return f"{collection.name}:tree"
