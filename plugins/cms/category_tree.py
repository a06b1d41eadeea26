"""The categories in memory: which of them the public sees, and what lies below which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plugins.api import Database, Mirror
from plugins.cms.records import CATEGORIES

Record = Mapping[str, Any]


class CategoryTree:
    """The categories: `open` are the enabled ones whose ancestors are all enabled, `closed` the others."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._below: dict[Any, list[Record]] = defaultdict(list)
        for record in records:
            if record["status"] == "enabled":
                self._below[record["parent_id"]].append(record)
        self.open: dict[Any, Record] = {record["id"]: record for record in self._under(None)}
        self.closed = [record["id"] for record in records if record["id"] not in self.open]

    def _under(self, id: Any) -> Iterator[Record]:
        for child in self._below[id]:
            yield child
            yield from self._under(child["id"])

    def with_below(self, id: Any) -> list[Any]:
        """The id and those of all categories below it; none of a category that the public does not see."""
        return [id, *(record["id"] for record in self._under(id))] if id in self.open else []

    def nodes(self, counts: Mapping[Any, int], parent: Any = None) -> list[dict[str, Any]]:
        """The tree, each node with the number of articles in it and below it."""
        made = []
        for record in self._below[parent]:
            children = self.nodes(counts, record["id"])
            count = counts.get(record["id"], 0) + sum(child["article_count"] for child in children)
            made.append({**record, "article_count": count, "children": children})
        return made


class Categories:
    """The tree in force on this instance, made again after a change on any."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tree = Mirror(self._load)
        database.changes.listen(CATEGORIES.name, self._tree.invalidate)

    async def _load(self) -> CategoryTree:
        return CategoryTree(await self._database.store(CATEGORIES).find(sort="sort"))

    async def tree(self) -> CategoryTree:
        """The tree."""
        return await self._tree.current()
