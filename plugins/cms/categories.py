"""Categories: a tree that articles are sorted into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Route, conflicts, crud, invalid, route
from plugins.api.data import CachedSnapshot, Database
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.values import ReadOnlyRecord
from plugins.cms.messages import UNDER_ITSELF
from plugins.cms.record_types import ArticleCategory
from plugins.cms.records import CATEGORIES
from plugins.cms.slugs import create_with_slug
from plugins.rbac.api import MAX_LEVELS, change_tree


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


async def create(req: Request) -> ArticleCategory:
    """Create a category."""
    store = req.store(CATEGORIES)

    async def make(slug: str) -> ArticleCategory:
        created = await store.create({**req.body, "slug": slug})
        await _check_place(req, created)
        return created

    async def work() -> ArticleCategory:
        return await create_with_slug(store, req.body.get("slug"), req.body["name"], "category", make)

    return await change_tree(req, CATEGORIES, work)


async def update(req: Request) -> ArticleCategory:
    """Change or move a category. Its descendants move with it."""
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> ArticleCategory:
        changed = await req.store(CATEGORIES).update(req.path["id"], values, version=version)
        if "parent_id" in values:
            await _check_place(req, changed)
        return changed

    return await change_tree(req, CATEGORIES, work)


async def _check_place(req: Request, category: ArticleCategory) -> None:
    """Raise 40901 for a cycle, 40001 for a tree that is too deep. The error rolls back what was written before."""
    rows = await req.store(CATEGORIES).find(fields=["parent_id"])
    parents = {row["id"]: row["parent_id"] for row in rows}
    if category["id"] in _list_ancestors(parents, category["parent_id"]):
        raise ApiError(CONFLICT, UNDER_ITSELF)
    if any(len(_list_ancestors(parents, id)) > MAX_LEVELS for id in parents):
        raise invalid("parent_id", "levels")


def _list_ancestors(parents: dict[Any, Any], id: Any) -> list[Any]:
    """Return the id and those of its ancestors, at most `MAX_LEVELS` + 1 of them."""
    path: list[Any] = []
    while id is not None and len(path) <= MAX_LEVELS:
        path.append(id)
        id = parents.get(id)
    return path


ROUTES: tuple[Route, ...] = (
    *crud(
        CATEGORIES,
        at="/api/v1/cms/manage/categories",
        resource="cms:category",
        only=("list", "read", "create", "delete"),
        create=create,
    ),
    route(
        "PATCH /api/v1/cms/manage/categories/{id}",
        update,
        summary="Change an article category",
        access="cms:category:update",
        body=CATEGORIES.update,
        record=CATEGORIES,
        errors=(DUPLICATE, STALE),
        refusals=conflicts(UNDER_ITSELF),
    ),
)
