"""What everybody reads: published articles, categories, the site's configuration.

`visible` is the one rule of what the public sees. Nothing here reads articles without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from plugins.api import NOT_FOUND, ApiError, Page, Request
from plugins.cms.category_tree import Categories, CategoryTree
from plugins.cms.records import PUBLIC_SUMMARY, PUBLISHED
from plugins.cms.settings import CmsSettings
from plugins.cms.site import Site
from plugins.cms.slugs import is_id
from plugins.cms.states import after
from plugins.cms.views import ViewCounts

AT = "/api/v1/cms/articles"
LISTED = tuple(name for name in PUBLIC_SUMMARY.fields or {} if name not in ("id", "category", "status"))


def visible(tree: CategoryTree, now: datetime) -> dict[str, Any]:
    """The filter for what the public sees: not deleted, its time has come, its category is open.

    Drafts and archived articles have no `published_at`.
    """
    # without closed categories an index alone counts the articles
    category = {"category_id": {"$nin": tree.closed}} if tree.closed else {}
    return {"deleted": False, "published_at": {"$lte": now}, **category}


async def list_articles(req: Request) -> Page:
    """A page of published articles, newest first unless asked otherwise, without their texts."""
    tree = await req.part(Categories).tree()
    narrower: list[dict[str, Any]] = []
    if "category_id" in req.query:
        narrower.append({"category_id": {"$in": tree.with_below(req.query["category_id"])}})
    if "tag" in req.query:
        narrower.append({"tags": req.query["tag"]})
    filter = {"$and": [visible(tree, req.now), *narrower]}
    page = await req.system_store(PUBLISHED).page(req.query, filter, fields=LISTED)
    cacheable(req)
    return replace(page, items=[_shown(tree, article) for article in page.items])


async def read_article(req: Request) -> dict[str, Any]:
    """One published article by `id` or slug. An old slug leads to it too; `Content-Location` says where it is now."""
    tree = await req.part(Categories).tree()
    store = req.system_store(PUBLISHED)
    public, name = visible(tree, req.now), req.path["id"]
    by_name = {"_id": PUBLISHED.parse_id(name)} if is_id(name) else {"slug": name}
    article = await store.find_one({"$and": [public, by_name]})
    if article is None:
        article = await store.find_one({"$and": [public, {"old_slugs": name}]})
        if article is None:
            raise ApiError(NOT_FOUND)
        req.answer_headers["Content-Location"] = f"{AT}/{article['slug']}"
    if req.method == "GET":
        req.part(ViewCounts).seen(article["id"])
    cacheable(req)
    return _shown(tree, article)


async def list_categories(req: Request) -> list[dict[str, Any]]:
    """The enabled categories as a tree, with the number of published articles."""
    tree = await req.part(Categories).tree()
    matching = {**visible(tree, req.now), "category_id": {"$in": list(tree.open)}}
    by_category = {"$group": {"_id": "$category_id", "count": {"$sum": 1}}}
    rows = await req.system_store(PUBLISHED).aggregate([{"$match": matching}, by_category])
    cacheable(req)
    return tree.nodes({row["_id"]: row["count"] for row in rows})


async def read_site(req: Request) -> dict[str, Any]:
    """The site's configuration."""
    site = await req.part(Site).current()
    cacheable(req)
    return site


def _shown(tree: CategoryTree, article: Mapping[str, Any]) -> dict[str, Any]:
    # also one whose time has come and that is not marked yet
    return {**with_category(tree, article), "status": after("publish")}


def with_category(tree: CategoryTree, article: Mapping[str, Any]) -> dict[str, Any]:
    """The article with the name of its category."""
    return {**article, "category": tree.open.get(article.get("category_id"))}


def cacheable(req: Request) -> None:
    """Let shared caches keep the answer for a short time; called last, so that no error is kept."""
    seconds = req.service.settings_of(CmsSettings).cms_max_age_seconds
    req.answer_headers["Cache-Control"] = f"public, max-age={seconds}"
