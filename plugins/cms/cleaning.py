"""HTML that is safe to show: sanitised by nh3 (Ammonia), Markdown rendered by markdown-it-py first.

Worker processes load this module, so it must import nothing of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import nh3

from plugins.cms.complexity import estimate_elements

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_TAG_NAMES = """
a abbr audio b blockquote br caption cite code col colgroup dd del details div dl dt em figcaption figure h1
h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q s samp small span strong sub summary sup table
tbody td tfoot th thead tr u ul video
"""
_TAGS = set(_TAG_NAMES.split())
# removed with their content, which is not text for readers
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
# an allowed scheme, or nothing that any parser could take for a scheme
_ADDRESS = re.compile(r"^\s*+(https?:|mailto:|tel:|[^:/?#]*+([/?#]|$))", re.IGNORECASE)


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name in ("href", "src", "poster"):
        return value if _ADDRESS.match(value) else None
    # other classes could apply styles of the front end, for example to lay a link over its buttons
    return value if name != "class" or _LANGUAGE.match(value) else None


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags=_DROPPED,
    attributes=_ATTRIBUTES,
    attribute_filter=_filter_attribute,
    tag_attribute_values={"a": {"target": {"_blank"}}, "img": {"loading": {"lazy"}}},
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel="noopener noreferrer",
    filter_style_properties={"text-align"},
)


def clean(html: str) -> str:
    """Return `html` without anything that could run or cover other parts of the page. Raises `TooComplex`."""
    estimate_elements(html)
    return _CLEANER.clean(html)


def clean_html(pieces: Iterator[bytes]) -> bytes:
    """Sanitise HTML. Runs in a worker process."""
    return clean(b"".join(pieces).decode()).encode()


def clean_markdown(pieces: Iterator[bytes]) -> bytes:
    """Render CommonMark with tables and strikethrough, and sanitise the HTML. Runs in a worker process."""
    return clean(_markdown().render(b"".join(pieces).decode())).encode()


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only worker processes need it

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])
