"""The dictionaries of cms."""

from __future__ import annotations

from plugins.api import Dictionary, Item, Message
from plugins.cms.messages import ARCHIVED, DRAFT, PUBLISHED, SCHEDULED

DICTIONARIES = (
    Dictionary(
        "cms_article_status",
        Message("文章状态", "Article status"),
        (
            Item("draft", DRAFT, "gray"),
            Item("scheduled", SCHEDULED, "orange"),
            Item("published", PUBLISHED, "green"),
            Item("archived", ARCHIVED, "red"),
        ),
    ),
    Dictionary(
        "cms_article_format",
        Message("文章格式", "Article format"),
        (
            Item("html", Message("富文本", "Rich text")),
            Item("markdown", Message("Markdown", "Markdown")),
        ),
    ),
)
