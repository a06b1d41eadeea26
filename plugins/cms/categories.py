"""Categories: a tree that articles are sorted into."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Route, conflicts, crud, invalid, route
from plugins.api.errors import DUPLICATE, STALE
from plugins.cms.messages import UNDER_ITSELF
from plugins.cms.record_types import ArticleCategory
from plugins.cms.records import CATEGORIES
from plugins.cms.slugs import create_with_slug
from plugins.rbac.api import MAX_LEVELS, change_tree


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
