"""Revisions: earlier texts of an article; the newest `cms_revisions` are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import NOT_FOUND, Actor, ApiError, Page, Refusal, Request, Route, Service, route
from plugins.api.errors import STALE
from plugins.cms.messages import NO_REVISION
from plugins.cms.record_types import Article, ArticleRevision
from plugins.cms.records import ARTICLES, REVISED, REVISION_SUMMARY, REVISIONS, VERSION_BODY
from plugins.cms.rendering import Renderer
from plugins.cms.settings import CmsSettings

_LISTED = tuple(name for name in REVISION_SUMMARY.fields or {} if name != "id")


async def save(
    req: Request,
    before: Mapping[str, Any],
    values: Mapping[str, Any],
    version: int | None,
    operators: Mapping[str, Any] | None = None,
) -> Article:
    """Change an article; a changed text becomes a revision. Raises as `Store.update` does."""
    store = req.store(ARTICLES)
    if all(values.get(name, before[name]) == before[name] for name in REVISED):
        return await store.update(before["id"], values, version=version, operators=operators)

    async def work() -> Article:
        counted = {**(operators or {}), "$inc": {"revision": 1}}
        article = await store.update(before["id"], values, version=version, operators=counted)
        await store_revision(req.service, req.actor, article)
        return article

    return await req.transaction(work)


async def store_revision(service: Service, actor: Actor, article: Article) -> None:
    """Store the text of `article` as a revision, and delete those beyond the newest `cms_revisions`."""
    revisions = service.database.store(REVISIONS, actor)
    number = article["revision"]
    revision = {
        "article_id": article["id"],
        "number": number,
        **{name: article.get(name) for name in REVISED},
        "editor_id": actor.user_id,
        "editor": actor.name,
        "created_at": article["updated_at"],
    }
    await revisions.create(revision, id=_make_key(article, number))
    oldest = number - service.settings_of(CmsSettings).cms_revisions
    await revisions.remove({"article_id": article["id"], "number": {"$lte": oldest}})


async def list_revisions(req: Request) -> Page:
    """Return a page of the revisions of an article, newest first, without their texts."""
    article = await req.store(ARTICLES).get(req.path["id"])
    return await req.store(REVISIONS).page(req.query, {"article_id": article["id"]}, fields=_LISTED, shown=_LISTED)


async def read(req: Request) -> ArticleRevision:
    """Return a revision with its text."""
    return await _get_revision(req, await req.store(ARTICLES).get(req.path["id"]))


async def restore(req: Request) -> Article:
    """Restore the text of a revision, which makes a new revision. The status of the article does not change.

    The text is sanitised again, because the rules may have become stricter.
    """
    article = await req.store(ARTICLES).get(req.path["id"])
    revision = await _get_revision(req, article)
    renderer = req.part(Renderer)
    if revision["format"] == "markdown":
        content = await renderer.from_markdown(revision["source"] or "", req)
    else:
        content = await renderer.from_html(revision["content"], req)
    values = {**{name: revision.get(name) for name in REVISED}, "content": content}
    return await save(req, article, values, req.body.get("version"))


async def _get_revision(req: Request, article: Article) -> ArticleRevision:
    number = req.path["number"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise ApiError(NOT_FOUND)
    return await req.store(REVISIONS).get(_make_key(article, int(number)))


def _make_key(article: Article, number: int) -> str:
    return f"{article['id']}:{number}"


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/cms/manage/articles/{id}/revisions",
        list_revisions,
        summary="List the revisions of an article",
        title=("历史版本", "Revisions"),
        paged=True,
        access="cms:article:read",
        query=REVISIONS.list_query,
        returns=REVISION_SUMMARY,
        collection=ARTICLES.name,
    ),
    route(
        "GET /api/v1/cms/manage/articles/{id}/revisions/{number}",
        read,
        summary="Read a revision of an article",
        access="cms:article:read",
        returns=REVISIONS.read,
        collection=ARTICLES.name,
        refusals=(Refusal(NOT_FOUND, hint=NO_REVISION),),
    ),
    route(
        "POST /api/v1/cms/manage/articles/{id}/revisions/{number}/restore",
        restore,
        summary="Restore a revision of an article",
        access="cms:article:restore",
        body=VERSION_BODY,
        record=ARTICLES,
        errors=(STALE,),
        refusals=(Refusal(NOT_FOUND, hint=NO_REVISION),),
    ),
)
