"""Categories: a tree that articles are sorted into."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, ApiError, Request, invalid
from plugins.cms.messages import HAS_ARTICLES, HAS_CHILDREN, UNDER_ITSELF
from plugins.cms.records import ARTICLES, CATEGORIES
from plugins.cms.slugs import create_with_slug
from plugins.rbac.api import MAX_LEVELS, change_tree


async def create(req: Request) -> dict[str, Any]:
    """A category below its parent."""
    store = req.store(CATEGORIES)

    async def make(slug: str) -> dict[str, Any]:
        created = await store.create({**req.body, "slug": slug})
        await _check_place(req, created)
        return created

    async def work() -> dict[str, Any]:
        return await create_with_slug(store, req.body.get("slug"), req.body["name"], "category", make)

    return await change_tree(req, CATEGORIES, work)


async def update(req: Request) -> dict[str, Any]:
    """Change or move a category; what is below it moves along."""
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> dict[str, Any]:
        changed = await req.store(CATEGORIES).update(req.path["id"], values, version=version)
        if "parent_id" in values:
            await _check_place(req, changed)
        return changed

    return await change_tree(req, CATEGORIES, work)


async def delete(req: Request) -> None:
    """Delete an empty category."""
    store = req.store(CATEGORIES)

    async def work() -> None:
        category = await store.get(req.path["id"])
        if await store.count({"parent_id": category["id"]}):
            raise ApiError(CONFLICT, HAS_CHILDREN)
        if await req.system_store(ARTICLES).count({"category_id": category["id"]}):
            raise ApiError(CONFLICT, HAS_ARTICLES)
        await store.delete(category["id"])

    await change_tree(req, CATEGORIES, work)


async def _check_place(req: Request, category: dict[str, Any]) -> None:
    """Refuse a circle, and a tree that becomes too deep; what was written is undone with the transaction."""
    rows = await req.store(CATEGORIES).find(fields=["parent_id"])
    parents = {row["id"]: row["parent_id"] for row in rows}
    if category["id"] in _above(parents, category["parent_id"]):
        raise ApiError(CONFLICT, UNDER_ITSELF)
    if any(len(_above(parents, id)) > MAX_LEVELS for id in parents):
        raise invalid("parent_id", "levels")


def _above(parents: dict[Any, Any], id: Any) -> list[Any]:
    """The id and those above it; a list over `MAX_LEVELS` long is cut there."""
    path: list[Any] = []
    while id is not None and len(path) <= MAX_LEVELS:
        path.append(id)
        id = parents.get(id)
    return path
