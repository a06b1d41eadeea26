"""The tree of categories in memory: which of them are public, and their descendants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plugins.api.data import CachedSnapshot, Database
from plugins.api.values import ReadOnlyRecord
from plugins.cms.records import CATEGORIES


class CategoryTree:
    """The categories: `open` are the enabled ones whose ancestors are all enabled, `closed` the others."""

    def __init__(self, records: Sequence[ReadOnlyRecord]) -> None:
        self._children: dict[Any, list[ReadOnlyRecord]] = defaultdict(list)
        for record in records:
            if record["status"] == "enabled":
                self._children[record["parent_id"]].append(record)
        self.open: dict[Any, ReadOnlyRecord] = {record["id"]: record for record in self._iterate_descendants(None)}
        self.closed = [record["id"] for record in records if record["id"] not in self.open]

    def _iterate_descendants(self, id: Any) -> Iterator[ReadOnlyRecord]:
        for child in self._children[id]:
            yield child
            yield from self._iterate_descendants(child["id"])

    def list_subtree(self, id: Any) -> list[Any]:
        """Return the id and those of all descendants; an empty list for a category that is not public."""
        return [id, *(record["id"] for record in self._iterate_descendants(id))] if id in self.open else []

    def build_nodes(self, counts: Mapping[Any, int], parent: Any = None) -> list[dict[str, Any]]:
        """Return the tree, each node with the number of articles in it and in its descendants."""
        nodes = []
        for record in self._children[parent]:
            children = self.build_nodes(counts, record["id"])
            count = counts.get(record["id"], 0) + sum(child["article_count"] for child in children)
            nodes.append({**record, "article_count": count, "children": children})
        return nodes


class Categories:
    """The current tree on this instance; it is reloaded after a change on any instance."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tree = CachedSnapshot(self._load)
        database.changes.listen(CATEGORIES.name, self._tree.invalidate)

    async def _load(self) -> CategoryTree:
        return CategoryTree(await self._database.store(CATEGORIES).find(sort="sort"))

    async def get_tree(self) -> CategoryTree:
        """Return the current tree."""
        return await self._tree.current()
