"""HTML that is safe to show: sanitised by nh3 (Ammonia), Markdown rendered by markdown-it-py first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import nh3
from markdown_it import MarkdownIt

from plugins.api import invalid

_INLINE = 20_000  # characters that are sanitised in under 5 ms, so that no thread is worth it
MAX_RENDERED = 2_000_000

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "col", "colgroup", "dd", "del", "details", "div",
    "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li",
    "mark", "ol", "p", "picture", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "video", "audio",
}  # fmt: skip
# their content is no text for readers, so it goes with them
_DROPPED = {"script", "style", "iframe", "object", "embed", "noscript", "template", "title", "textarea", "xmp"}
_CELL = {"colspan", "rowspan", "style"}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "audio": {"src", "controls"},
    "code": {"class"},
    "col": {"span"},
    "colgroup": {"span"},
    "details": {"open"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "p": {"style"},
    "td": _CELL,
    "th": {*_CELL, "scope"},
    "video": {"src", "controls", "poster", "width", "height"},
}
_LANGUAGE = re.compile(r"^language-[A-Za-z0-9+#-]{1,30}$")
# the scheme is one of these, or there is nothing that any reader could take for a scheme
_ADDRESS = re.compile(r"^\s*(https?:|mailto:|tel:|[^:/?#]*([/?#]|$))", re.IGNORECASE)


class Renderer:
    """Makes the HTML of articles; large texts in a thread of its own, so that other requests go on."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cms-renderer")
        self._markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        self._cleaner = nh3.Cleaner(
            tags=_TAGS,
            clean_content_tags=_DROPPED,
            attributes=_ATTRIBUTES,
            attribute_filter=_attribute,
            tag_attribute_values={"a": {"target": {"_blank"}}, "img": {"loading": {"lazy"}}},
            url_schemes={"http", "https", "mailto", "tel"},
            link_rel="noopener noreferrer",
            filter_style_properties={"text-align"},
        )

    async def from_html(self, html: str) -> str:
        """`html` without anything that could run or leave its place; 40001 when that grows too large."""
        clean = self._cleaner.clean(html) if len(html) <= _INLINE else await self._apart(self._cleaner.clean, html)
        return _within_limit("content", clean)

    async def from_markdown(self, source: str) -> str:
        """The HTML of `source` (CommonMark, with tables and strikethrough), sanitised as other HTML."""
        return _within_limit("source", await self._apart(self._rendered, source))

    def _rendered(self, source: str) -> str:
        return self._cleaner.clean(self._markdown.render(source))

    async def _apart(self, work: Callable[[str], str], text: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, text)

    def close(self) -> None:
        """End the thread; what waits for it is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name in ("href", "src", "poster"):
        return value if _ADDRESS.match(value) else None
    # classes of the front end could lay a link over its own buttons; those of code blocks name a language
    return value if name != "class" or _LANGUAGE.match(value) else None


def _within_limit(field: str, html: str) -> str:
    if len(html) > MAX_RENDERED:
        raise invalid(field, "maxLength")
    return html
