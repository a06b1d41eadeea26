"""The public API: published articles, categories, the site configuration.

`filter_public` alone decides what is public. No query of this module reads articles without it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from plugins.api import NOT_FOUND, PUBLIC, ApiError, Page, Record, Refusal, Request, Route, array, route
from plugins.api.values import ReadOnlyRecord
from plugins.cms.categories import Categories, CategoryTree
from plugins.cms.messages import NOT_PUBLISHED
from plugins.cms.records import (
    PUBLIC_ARTICLE,
    PUBLIC_CATEGORY,
    PUBLIC_QUERY,
    PUBLIC_SITE,
    PUBLIC_SUMMARY,
    PUBLISHED,
)
from plugins.cms.settings import CmsSettings
from plugins.cms.site import Site
from plugins.cms.slugs import is_id
from plugins.cms.states import ARTICLE_STATES
from plugins.cms.views import ViewCounts

AT = "/api/v1/cms/articles"
LISTED = tuple(name for name in PUBLIC_SUMMARY.fields or {} if name not in ("id", "category", "status"))


def filter_public(tree: CategoryTree, now: datetime) -> dict[str, Any]:
    """Return the filter for public articles: not deleted, past their `published_at`, and in a public category.

    Drafts and archived articles have no `published_at`.
    """
    # left out if it excludes nothing, because an index alone can then count the articles
    category = {"category_id": {"$nin": tree.closed}} if tree.closed else {}
    return {"deleted": False, "published_at": {"$lte": now}, **category}


async def list_articles(req: Request) -> Page:
    """Return a page of published articles without their texts, newest first by default."""
    tree = await req.part(Categories).get_tree()
    conditions: list[dict[str, Any]] = []
    if "category_id" in req.query:
        conditions.append({"category_id": {"$in": tree.list_subtree(req.query["category_id"])}})
    if "tag" in req.query:
        conditions.append({"tags": req.query["tag"]})
    filter = {"$and": [filter_public(tree, req.now), *conditions]}
    page = await req.system_store(PUBLISHED).page(req.query, filter, fields=LISTED)
    allow_caching(req)
    return replace(page, items=[_to_public(tree, article) for article in page.items])


async def read_article(req: Request) -> dict[str, Any]:
    """Return a published article by `id` or slug. For an old slug, `Content-Location` has the current address."""
    tree = await req.part(Categories).get_tree()
    store = req.system_store(PUBLISHED)
    public, name = filter_public(tree, req.now), req.path["id"]
    by_name = {"_id": PUBLISHED.parse_id(name)} if is_id(name) else {"slug": name}
    article = await store.find_one({"$and": [public, by_name]})
    if article is None:
        article = await store.find_one({"$and": [public, {"old_slugs": name}]})
        if article is None:
            raise ApiError(NOT_FOUND)
        req.response_headers["Content-Location"] = f"{AT}/{article['slug']}"
    if req.method == "GET":
        req.part(ViewCounts).count_view(article["id"])
    allow_caching(req)
    return _to_public(tree, article)


async def list_categories(req: Request) -> list[dict[str, Any]]:
    """Return the enabled categories as a tree, with the number of published articles."""
    tree = await req.part(Categories).get_tree()
    matching = {**filter_public(tree, req.now), "category_id": {"$in": list(tree.open)}}
    by_category = {"$group": {"_id": "$category_id", "count": {"$sum": 1}}}
    rows = await req.system_store(PUBLISHED).aggregate([{"$match": matching}, by_category])
    allow_caching(req)
    return tree.build_nodes({row["_id"]: row["count"] for row in rows})


async def read_site(req: Request) -> Record:
    """Return the site configuration."""
    site = await req.part(Site).current()
    allow_caching(req)
    return site


def _to_public(tree: CategoryTree, article: ReadOnlyRecord) -> dict[str, Any]:
    # an article whose time has come may still be marked as scheduled
    return {**add_category(tree, article), "status": ARTICLE_STATES.after("publish")}


def add_category(tree: CategoryTree, article: ReadOnlyRecord) -> dict[str, Any]:
    """Return the article with its category."""
    return {**article, "category": tree.open.get(article.get("category_id"))}


def allow_caching(req: Request) -> None:
    """Let shared caches keep the response for a short time. Call it last, so that errors are not cached."""
    seconds = req.service.settings_of(CmsSettings).cms_max_age_seconds
    req.response_headers["Cache-Control"] = f"public, max-age={seconds}"


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/cms/articles",
        list_articles,
        summary="List published articles",
        access=PUBLIC,
        paged=True,
        query=PUBLIC_QUERY,
        returns=PUBLIC_SUMMARY,
        etag=True,
    ),
    route(
        "GET /api/v1/cms/articles/{id}",
        read_article,
        summary="Read a published article by id or slug",
        access=PUBLIC,
        returns=PUBLIC_ARTICLE,
        refusals=(Refusal(NOT_FOUND, hint=NOT_PUBLISHED),),
        etag=True,
    ),
    route(
        "GET /api/v1/cms/categories",
        list_categories,
        summary="List article categories as a tree",
        access=PUBLIC,
        returns=array(PUBLIC_CATEGORY, max_items=10_000, nullable=False),
        etag=True,
    ),
    route(
        "GET /api/v1/cms/site-config",
        read_site,
        summary="Read the public site settings",
        access=PUBLIC,
        returns=PUBLIC_SITE,
        etag=True,
    ),
)
