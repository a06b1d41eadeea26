"""The state machine of articles."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.cms.messages import ALREADY_PUBLISHED, NOT_PUBLIC

_PUBLISH = ("发布", "Publish")
ARTICLE_STATES = StateMachine(
    name="cms_article",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "scheduled": ("定时发布", "Scheduled"),
        "published": ("已发布", "Published"),
        "archived": ("已下线", "Unpublished"),
    },
    transitions={
        "publish": Transition(("draft", "scheduled", "archived"), "published", _PUBLISH, event="cms.article.published"),
        "schedule": Transition(("draft", "scheduled", "archived"), "scheduled", _PUBLISH),
        "come-due": Transition("scheduled", "published", event="cms.article.published"),
        "unpublish": Transition(("scheduled", "published"), "archived", ("下线", "Unpublish"), refusal=NOT_PUBLIC),
    },
    record="article",
    refusal=ALREADY_PUBLISHED,
)
