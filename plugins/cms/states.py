"""The states of an article, and the actions that lead from one to another."""

from __future__ import annotations

from typing import Any

from plugins.api import StateMachine
from plugins.cms.messages import ARCHIVED, DRAFT, PUBLISHED, SCHEDULED

ARTICLE_STATES = StateMachine(
    name="cms_article",
    initial="draft",
    states={"draft": DRAFT, "scheduled": SCHEDULED, "published": PUBLISHED, "archived": ARCHIVED},
    transitions={
        "publish": (("draft", "scheduled", "archived"), "published"),
        "schedule": (("draft", "scheduled", "archived"), "scheduled"),
        "come-due": (("scheduled",), "published"),
        "unpublish": (("scheduled", "published"), "archived"),
    },
)


def allows(action: str) -> dict[str, Any]:
    """Return the filter of the articles whose state allows `action`."""
    return {"status": {"$in": list(ARTICLE_STATES.transitions[action][0])}}


def after(action: str) -> str:
    """Return the state that `action` leads to."""
    return ARTICLE_STATES.transitions[action][1]
