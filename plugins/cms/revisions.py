"""Revisions: every text that an article had, the newest `cms_revisions` of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import NOT_FOUND, Actor, ApiError, Page, Request, Service
from plugins.cms.records import ARTICLES, REVISED, REVISION_SUMMARY, REVISIONS
from plugins.cms.rendering import Renderer
from plugins.cms.settings import CmsSettings

_LISTED = tuple(name for name in REVISION_SUMMARY.fields or {} if name != "id")


async def save(
    req: Request,
    before: Mapping[str, Any],
    values: Mapping[str, Any],
    version: int | None,
    operators: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Change an article; a new text of it becomes a revision. Refusals as in `Store.update`."""
    store = req.store(ARTICLES)
    if all(values.get(name, before[name]) == before[name] for name in REVISED):
        return await store.update(before["id"], values, version=version, operators=operators)

    async def work() -> dict[str, Any]:
        counted = {**(operators or {}), "$inc": {"revision": 1}}
        article = await store.update(before["id"], values, version=version, operators=counted)
        await keep(req.service, req.actor, article)
        return article

    return await req.transaction(work)


async def keep(service: Service, actor: Actor, article: Mapping[str, Any]) -> None:
    """Remember the text of `article` as its revision of that number, and forget the oldest."""
    revisions = service.database.store(REVISIONS, actor)
    number = article["revision"]
    remembered = {
        "article_id": article["id"],
        "number": number,
        **{name: article[name] for name in REVISED},
        "editor_id": actor.user_id,
        "editor": actor.name,
        "created_at": article["updated_at"],
    }
    await revisions.create(remembered, id=_key(article, number))
    oldest = number - service.settings_of(CmsSettings).cms_revisions
    await revisions.remove({"article_id": article["id"], "number": {"$lte": oldest}})


async def list_revisions(req: Request) -> Page:
    """The revisions of an article, newest first, without their texts."""
    article = await req.store(ARTICLES).get(req.path["id"])
    return await req.store(REVISIONS).page(req.query, {"article_id": article["id"]}, fields=_LISTED, shown=_LISTED)


async def read(req: Request) -> dict[str, Any]:
    """One revision with its text."""
    return await _revision(req, await req.store(ARTICLES).get(req.path["id"]))


async def restore(req: Request) -> dict[str, Any]:
    """Give an article the text of a revision again; that makes a new revision. Its state stays.

    The text is sanitised anew: what is allowed may have become less since.
    """
    article = await req.store(ARTICLES).get(req.path["id"])
    revision = await _revision(req, article)
    renderer = req.part(Renderer)
    if revision["format"] == "markdown":
        content = await renderer.from_markdown(revision["source"], req)
    else:
        content = await renderer.from_html(revision["content"], req)
    values = {**{name: revision[name] for name in REVISED}, "content": content}
    return await save(req, article, values, req.body.get("version"))


async def _revision(req: Request, article: Mapping[str, Any]) -> dict[str, Any]:
    number = req.path["number"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise ApiError(NOT_FOUND)
    return await req.store(REVISIONS).get(_key(article, int(number)))


def _key(article: Mapping[str, Any], number: int) -> str:
    return f"{article['id']}:{number}"
