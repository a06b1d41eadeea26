"""The dictionaries of cms."""

from __future__ import annotations

from plugins.api import Dictionary, Item, Message
from plugins.cms.states import ARTICLE_STATES

_COLORS = {"draft": "gray", "scheduled": "orange", "published": "green", "archived": "red"}

DICTIONARIES = (
    Dictionary.of_states("cms_article_status", Message("文章状态", "Article status"), ARTICLE_STATES, _COLORS),
    Dictionary(
        "cms_article_format",
        Message("文章格式", "Article format"),
        (
            Item("html", Message("富文本", "Rich text")),
            Item("markdown", Message("Markdown", "Markdown")),
        ),
    ),
)
