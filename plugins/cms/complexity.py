"""Refuses HTML that would take a parser more than linear time.

A parser reopens unclosed formatting elements in every block (HTML Living Standard, 13.2.4.3), searches all open
elements at nearly every tag, and compares each attribute of a tag with all others. Text that people write has few of
these; text that has many is refused before it is parsed.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 1000
MAX_FORMATS = 40
MAX_ATTRIBUTES = 100
_ALIKE = 3  # a parser reopens at most three equal formatting elements
_NAMES = {
    "formatting": "b big code em font i s small strike strong tt u",
    # elements that end where the next one begins, and elements without content
    "unnested": "a area base br col dd dt embed hr img input li link meta nobr option p param source tbody td tfoot th "
    "thead tr track wbr",
    "foreign": "math svg",
    # HTML elements that end an SVG or MathML element around them, and SVG elements that contain HTML
    "ends foreign": "b big blockquote body br center code dd desc div dl dt em embed font foreignobject h1 h2 h3 h4 h5 "
    "h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strike strong sub sup table title tt u ul "
    "var",
}
_FORMATTING, _UNNESTED, _FOREIGN, _ENDS_FOREIGN = (frozenset(names.split()) for names in _NAMES.values())
_ATTRIBUTE = (
    r"""[^\t\n\f\r />][^\t\n\f\r />=]*+(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >]++)?+)?+"""
)
_TAG = re.compile(rf"<!--|<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_FEW_CHARACTERS = 2 * MAX_ATTRIBUTES


class TooComplex(ValueError):
    """A parser would need more than linear time for the text."""


def estimate_elements(html: str) -> int:
    """Return an upper bound on the number of elements that a parser creates for `html`.

    Raises `TooComplex` if it is nested too deep, or has too many kinds of formatting or too many attributes in one tag.
    """
    formats: set[str] = set()
    nesting = _Nesting()
    at = tags = 0
    while (tag := _TAG.search(html, at)) is not None:
        at = tag.end()
        if tag[2] is None:
            at = _find_comment_end(html, at)
            continue
        name = tag[2].lower()
        if tag[1]:
            nesting.end(name)
            continue
        tags += 1
        nesting.begin(name, closed=tag[0].endswith("/"))
        if name in _FORMATTING:
            formats.add(tag[0])
        many = len(tag[3]) > _FEW_CHARACTERS and sum(1 for _ in _ATTRIBUTES.finditer(tag[3])) > MAX_ATTRIBUTES
        if many or nesting.depth > MAX_DEPTH or len(formats) > MAX_FORMATS:
            raise TooComplex
    return tags * (1 + _ALIKE * len(formats))


class _Nesting:
    """The depth to which elements are nested, computed from their tags."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._foreign = 0
        self.depth = 0

    def begin(self, name: str, closed: bool) -> None:
        """Count an opening tag. In SVG and MathML a tag may also close its element."""
        if name in _ENDS_FOREIGN:
            self._foreign = 0
        if name in _UNNESTED or (closed and self._foreign):
            return
        self._foreign += 1 if name in _FOREIGN else 0
        self._open[name] += 1
        self.depth += 1

    def end(self, name: str) -> None:
        """Count a closing tag."""
        if self._open[name] > 0:
            self._open[name] -= 1
            self.depth -= 1
            self._foreign -= 1 if name in _FOREIGN and self._foreign else 0


def _find_comment_end(html: str, at: int) -> int:
    """Return the end of the comment whose `<!--` ends at `at`."""
    if html.startswith((">", "->"), at):
        return at + 1
    end = html.find("-->", at)
    return end + 3 if end >= 0 else len(html)
