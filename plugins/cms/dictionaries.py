"""The dictionaries of cms."""

from __future__ import annotations

from plugins.api import Dictionary, Message, dictionary
from plugins.cms.states import ARTICLE_STATES

_COLORS = {"draft": "gray", "scheduled": "orange", "published": "green", "archived": "red"}

DICTIONARIES = (
    Dictionary.of_states("cms_article_status", Message("文章状态", "Article status"), ARTICLE_STATES, _COLORS),
    dictionary(
        "cms_article_format",
        ("文章格式", "Article format"),
        html=("富文本", "Rich text"),
        markdown=("Markdown", "Markdown"),
    ),
)
