"""HTML that is safe to show: sanitised by nh3 (Ammonia), Markdown rendered by markdown-it-py first.

It imports nothing of the service: worker processes load it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import nh3

from plugins.cms.complexity import most_elements

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_TAGS = {
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "video",
    "audio",
}
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
_ADDRESS = re.compile(r"^\s*+(https?:|mailto:|tel:|[^:/?#]*+([/?#]|$))", re.IGNORECASE)


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name in ("href", "src", "poster"):
        return value if _ADDRESS.match(value) else None
    # classes of the front end could lay a link over its own buttons; those of code blocks name a language
    return value if name != "class" or _LANGUAGE.match(value) else None


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags=_DROPPED,
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    tag_attribute_values={"a": {"target": {"_blank"}}, "img": {"loading": {"lazy"}}},
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel="noopener noreferrer",
    filter_style_properties={"text-align"},
)


def clean(html: str) -> str:
    """`html` without anything that could run or leave its place. Raises `TooComplex`."""
    most_elements(html)
    return _CLEANER.clean(html)


def clean_html(pieces: Iterator[bytes]) -> bytes:
    """Worker process: sanitise HTML."""
    return clean(b"".join(pieces).decode()).encode()


def clean_markdown(pieces: Iterator[bytes]) -> bytes:
    """Worker process: the HTML of CommonMark with tables and strikethrough, sanitised as other HTML."""
    return clean(_markdown().render(b"".join(pieces).decode())).encode()


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # worker processes alone need it

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])
