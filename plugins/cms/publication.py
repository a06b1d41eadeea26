"""Publishing articles, at once or at a given time, and unpublishing them.

An article is public from its `published_at` on. Queries compare that time, so a scheduled article appears exactly then;
a job sets its status to `published` later.
"""

from __future__ import annotations

import logging
from typing import Any

from plugins.api import STALE, Request, Route, Service, conflicts, route, utc_now
from plugins.cms.messages import ALREADY_PUBLISHED, NOT_PUBLIC
from plugins.cms.records import ARTICLES, PUBLISH_BODY, VERSION_BODY
from plugins.cms.states import after, allows

PUBLISHED_EVENT = "cms.article.published"
_BATCH = 1000
log = logging.getLogger("tradewind.cms")


async def publish(req: Request) -> dict[str, Any]:
    """Publish an article now, or schedule it for a time in the future."""
    store = req.store(ARTICLES)
    article = await store.get(req.path["id"])
    at = req.body.get("publish_at", article["publish_at"])
    scheduled = at is not None and at > req.now
    action = "schedule" if scheduled else "publish"
    values = {"status": after(action), "publish_at": at, "published_at": at if scheduled else req.now}

    async def work() -> dict[str, Any]:
        changed = await store.update(
            article["id"], values, version=req.body.get("version"), where=allows(action), reason=ALREADY_PUBLISHED
        )
        if not scheduled:
            await req.emit(PUBLISHED_EVENT, article=changed)
        return changed

    return await req.transaction(work)


async def unpublish(req: Request) -> dict[str, Any]:
    """Hide an article from the public at once; a scheduled one will not appear."""
    values = {"status": after("unpublish"), "published_at": None}
    return await req.store(ARTICLES).update(
        req.path["id"], values, version=req.body.get("version"), where=allows("unpublish"), reason=NOT_PUBLIC
    )


async def publish_due(service: Service) -> int:
    """Set the status of due articles to `published`. Returns how many articles this instance changed.

    Each update is conditional, so exactly one of several instances makes it and emits the event.
    """
    now = utc_now()
    store = service.database.store(ARTICLES, now=now)
    due = {"$and": [allows("come-due"), {"published_at": {"$lte": now}}]}
    marked = 0
    for row in await store.find(due, limit=_BATCH, fields=["status"]):
        article = await store.update_where({"$and": [{"_id": row["id"]}, due]}, {"status": after("come-due")})
        if article is not None:
            marked += 1
            log.info("article published at its time", extra={"article_id": str(article["id"])})
            await service.events.emit(PUBLISHED_EVENT, {"article": article})
    return marked


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/cms/manage/articles/{id}/publish",
        publish,
        summary="Publish an article, or schedule it",
        access="cms:article:publish",
        body=PUBLISH_BODY,
        record=ARTICLES,
        errors=(STALE,),
        refusals=conflicts(ALREADY_PUBLISHED),
    ),
    route(
        "POST /api/v1/cms/manage/articles/{id}/unpublish",
        unpublish,
        summary="Take an article from the public",
        access="cms:article:unpublish",
        body=VERSION_BODY,
        record=ARTICLES,
        errors=(STALE,),
        refusals=conflicts(NOT_PUBLIC),
    ),
)
