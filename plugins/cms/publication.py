"""Publishing articles, at once or at a given time, and unpublishing them.

An article is public from its `published_at` on. Queries compare that time, so a scheduled article appears exactly then;
a job sets its status to `published` later.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from plugins.api import Action, Route, Service, Step, transitions, utc_now
from plugins.cms.record_types import Article
from plugins.cms.records import ARTICLES, PUBLISH_BODY, VERSION_BODY
from plugins.cms.states import ARTICLE_STATES

PUBLISHED_EVENT = ARTICLE_STATES.transitions["publish"].event
_BATCH = 1000
log = logging.getLogger("tradewind.cms")


def _publish_at(step: Step[Article]) -> datetime | None:
    """Return the time in the body, or else that of the article."""
    at: datetime | None = step.body.get("publish_at", step.record["publish_at"])
    return at


def _choose(step: Step[Article]) -> str:
    """Return the action: `schedule` for a time in the future, else `publish`."""
    at = _publish_at(step)
    return "schedule" if at is not None and at > step.now else "publish"


def _times(step: Step[Article]) -> dict[str, Any]:
    at = _publish_at(step)
    return {"publish_at": at, "published_at": at if step.action == "schedule" else step.now}


async def publish_due(service: Service) -> int:
    """Set the status of due articles to `published`. Returns how many articles this instance changed.

    Each update is conditional, so exactly one of several instances makes it and emits the event.
    """
    now = utc_now()
    store = service.database.store(ARTICLES, now=now)
    due = {"$and": [ARTICLE_STATES.allows("come-due"), {"published_at": {"$lte": now}}]}
    marked = 0
    for row in await store.find(due, limit=_BATCH, fields=["status"]):
        article = await store.update_where(
            {"$and": [{"_id": row["id"]}, due]}, {"status": ARTICLE_STATES.after("come-due")}
        )
        if article is not None:
            marked += 1
            log.info("article published at its time", extra={"article_id": str(article["id"])})
            await service.events.emit(PUBLISHED_EVENT, {"article": article})
    return marked


ROUTES: tuple[Route, ...] = transitions(
    ARTICLES,
    Action(
        "POST /api/v1/cms/manage/articles/{id}/publish",
        access="cms:article:publish",
        does=("publish", "schedule"),
        summary="Publish or schedule an article",
        body=PUBLISH_BODY,
        choose=_choose,
        values=_times,
    ),
    Action(
        "POST /api/v1/cms/manage/articles/{id}/unpublish",
        access="cms:article:unpublish",
        summary="Unpublish an article",
        body=VERSION_BODY,
        values=lambda step: {"published_at": None},
    ),
)
