"""Publication: at once, at a time, and its end.

The public sees an article from its `published_at` on: that moment alone decides, so a scheduled one appears exactly
then. The job marks it `published` later.
"""

from __future__ import annotations

import logging
from typing import Any

from plugins.api import Request, Service, utc_now
from plugins.cms.messages import ALREADY_PUBLISHED, NOT_PUBLIC
from plugins.cms.records import ARTICLES
from plugins.cms.states import after, allows

PUBLISHED_EVENT = "cms.article.published"
_AT_ONCE = 1000
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
    """Take an article from the public at once; a scheduled one will not appear."""
    values = {"status": after("unpublish"), "published_at": None}
    return await req.store(ARTICLES).update(
        req.path["id"], values, version=req.body.get("version"), where=allows("unpublish"), reason=NOT_PUBLIC
    )


async def publish_due(service: Service) -> int:
    """Mark the scheduled articles whose time has come as published; answers how many this instance marked.

    Each is one conditional change: of several instances exactly one makes it, and tells of it.
    """
    now = utc_now()
    store = service.database.store(ARTICLES, now=now)
    due = {"$and": [allows("come-due"), {"published_at": {"$lte": now}}]}
    marked = 0
    for row in await store.find(due, limit=_AT_ONCE, fields=["status"]):
        article = await store.change_one({"$and": [{"_id": row["id"]}, due]}, {"status": after("come-due")})
        if article is not None:
            marked += 1
            log.info("article published at its time", extra={"article_id": str(article["id"])})
            await service.events.emit(PUBLISHED_EVENT, {"article": article})
    return marked
