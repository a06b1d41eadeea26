"""How the console edits articles: with an editor, or the Markdown as the author wrote it."""

from plugins.api import View
from plugins.cms.records import ARTICLES

VIEWS = (
    View(
        ARTICLES,
        widgets={
            "content": {"type": "rich-text", "visibleOn": "${format != 'markdown'}"},
            "source": {"visibleOn": "${format == 'markdown'}"},
        },
    ),
)
