"""Articles, as editors see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Page, Request, Route, conflicts, crud, invalid, route
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.records import with_deleted
from plugins.cms.messages import NEEDS_ITS_TIME, PUBLISHED_SINCE
from plugins.cms.record_types import Article
from plugins.cms.records import ARTICLE_SUMMARY, ARTICLES
from plugins.cms.rendering import Renderer
from plugins.cms.revisions import save, store_revision
from plugins.cms.slugs import create_with_slug

_LISTED = tuple(name for name in ARTICLE_SUMMARY.fields or {} if name != "id")
_OLD_SLUGS = 20


async def list_articles(req: Request) -> Page:
    """Return a page of the articles in the caller's data scope, without their texts."""
    return await req.store(ARTICLES).page(req.query, fields=_LISTED)


async def create(req: Request) -> Article:
    """Create a draft and its first revision."""
    values = {**req.body, **await _resolve_content(req, req.body, {})}
    values["author"] = values.get("author") or req.actor.name
    store = req.store(ARTICLES)

    async def make(slug: str) -> Article:
        async def work() -> Article:
            article = await store.create({**values, "slug": slug, "revision": 1})
            await store_revision(req.service, req.actor, article)
            return article

        return await req.transaction(work)

    return await create_with_slug(req.system_store(ARTICLES), values.get("slug"), values["title"], "article", make)


async def update(req: Request) -> Article:
    """Change an article. Changes of a published one are public at once."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(ARTICLES).get(req.path["id"])
    values |= await _resolve_content(req, values, before)
    values |= _reschedule(values, before)
    renamed = values.get("slug", before["slug"]) != before["slug"]
    old_slug = {"$push": {"old_slugs": {"$each": [before["slug"]], "$slice": -_OLD_SLUGS}}}
    return await save(req, before, values, version, old_slug if renamed else None)


async def _resolve_content(req: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return `content` and `source` to store. Clients send HTML as `content`, or Markdown as `source`."""
    markdown = values.get("format", before.get("format")) == "markdown"
    if not markdown:
        if values.get("source") is not None:
            raise invalid("source", "invalid")
        html = values.get("content")
        given = {} if html is None else {"content": await req.part(Renderer).from_html(html, req)}
        return {"source": None, **given}
    source = values.get("source", before.get("source"))
    if source is None:
        raise invalid("source", "required")
    if "content" in values:
        raise invalid("content", "invalid")
    if source == before.get("source"):
        return {}
    return {"source": source, "content": await req.part(Renderer).from_markdown(source, req)}


def _reschedule(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that follow from a new `publish_at`: only a scheduled article moves to that time.

    For a draft or an archived article it is only a plan. Raises 40901 for a published article, or if the new time of a
    scheduled one is null.
    """
    at = values.get("publish_at", before["publish_at"])
    if at == before["publish_at"] or before["status"] in ("draft", "archived"):
        return {}
    if before["status"] == "published":
        raise ApiError(CONFLICT, PUBLISHED_SINCE)
    if at is None:
        raise ApiError(CONFLICT, NEEDS_ITS_TIME)
    return {"published_at": at}


_USUAL = crud(
    ARTICLES,
    at="/api/v1/cms/manage/articles",
    resource="cms:article",
    only=("read", "create", "delete"),
    create=create,
)
ROUTES: tuple[Route, ...] = (
    with_deleted(
        ARTICLES,
        route(
            "GET /api/v1/cms/manage/articles",
            list_articles,
            summary="List articles",
            access="cms:article:list",
            paged=True,
            query=ARTICLES.list_query,
            returns=ARTICLE_SUMMARY,
            collection=ARTICLES.name,
        ),
        _USUAL,
    ),
    *_USUAL,
    route(
        "PATCH /api/v1/cms/manage/articles/{id}",
        update,
        summary="Change an article",
        access="cms:article:update",
        body=ARTICLES.update,
        record=ARTICLES,
        errors=(DUPLICATE, STALE),
        refusals=conflicts(PUBLISHED_SINCE, NEEDS_ITS_TIME),
    ),
)
