"""Articles, as those who write them see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Page, Request, invalid
from plugins.cms.messages import NEEDS_ITS_TIME, PUBLISHED_SINCE
from plugins.cms.records import ARTICLE_SUMMARY, ARTICLES
from plugins.cms.rendering import Renderer
from plugins.cms.revisions import keep, save
from plugins.cms.slugs import create_with_slug

_LISTED = tuple(name for name in ARTICLE_SUMMARY.fields or {} if name != "id")
_OLD_SLUGS = 20


async def list_articles(req: Request) -> Page:
    """A page of the articles in the caller's data scope, without their texts."""
    return await req.store(ARTICLES).page(req.query, fields=_LISTED)


async def create(req: Request) -> dict[str, Any]:
    """A draft, and its first revision."""
    values = {**req.body, **await _content(req, req.body, {})}
    values["author"] = values.get("author") or req.actor.name
    store = req.store(ARTICLES)

    async def make(slug: str) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            article = await store.create({**values, "slug": slug, "revision": 1})
            await keep(req.service, req.actor, article)
            return article

        return await req.transaction(work)

    return await create_with_slug(req.system_store(ARTICLES), values.get("slug"), values["title"], "article", make)


async def update(req: Request) -> dict[str, Any]:
    """Change an article; what the public sees of a published one changes at once."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(ARTICLES).get(req.path["id"])
    values |= await _content(req, values, before)
    values |= _moved(values, before)
    renamed = values.get("slug", before["slug"]) != before["slug"]
    old_slug = {"$push": {"old_slugs": {"$each": [before["slug"]], "$slice": -_OLD_SLUGS}}}
    return await save(req, before, values, version, old_slug if renamed else None)


async def _content(req: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The `content` and `source` that follow from what the client gives: HTML, or Markdown as `source`."""
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


def _moved(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What a new `publish_at` means: a scheduled article appears then; of a draft it is a plan."""
    at = values.get("publish_at", before["publish_at"])
    if at == before["publish_at"] or before["status"] in ("draft", "archived"):
        return {}
    if before["status"] == "published":
        raise ApiError(CONFLICT, PUBLISHED_SINCE)
    if at is None:
        raise ApiError(CONFLICT, NEEDS_ITS_TIME)
    return {"published_at": at}
