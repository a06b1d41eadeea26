"""The documents that audited records are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from plugins.api import ApiError, Collection
from plugins.api.reports import Piece


async def find_existing_documents(piece: Piece) -> set[tuple[str, str]]:
    """Return the business types and ids of the documents of these records that exist.

    Documents of a business type that no loaded plugin has cannot be looked up, and count as existing.
    """
    by_type: dict[str, list[str]] = defaultdict(list)
    for record in piece.records:
        by_type[record["biz_type"]].append(record["resource_id"])
    existing: set[tuple[str, str]] = set()
    for biz_type, ids in by_type.items():
        collection = piece.biz_types.get(biz_type)
        if collection is not None:
            wanted = {"_id": {"$in": [*_parse_ids(collection, ids)]}}
            ids = [str(row["id"]) for row in await piece.store(collection).find(wanted, fields=["version"])]
        existing.update((biz_type, id) for id in ids)
    return existing


def _parse_ids(collection: Collection, ids: Iterable[str]) -> Iterator[Any]:
    """Yield the ids as the collection stores them, without those that cannot be ids of its records."""
    for id in ids:
        with suppress(ApiError):
            yield collection.parse_id(id)
