"""Whether HTML can be parsed in a time that grows with its length alone.

A parser opens formatting elements that were left open again in every block (HTML Living Standard, 13.2.4.3), looks
through all open elements at nearly every tag, and compares every attribute of a tag with all others. Text of people
has few of these; text that has many is refused before it is parsed.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 1000
MAX_FORMATS = 40
MAX_ATTRIBUTES = 100
_ALIKE = 3  # of the same formatting, no more are opened again
_NAMES = {
    "formatting": "b big code em font i s small strike strong tt u",
    # those that end by themselves where the next one begins, and those without content
    "unnested": "a area base br col dd dt embed hr img input li link meta nobr option p param source tbody td tfoot th "
    "thead tr track wbr",
    "foreign": "math svg",
    # elements of HTML that end a drawing or a formula around them, and those of a drawing that hold HTML again
    "ends foreign": "b big blockquote body br center code dd desc div dl dt em embed font foreignobject h1 h2 h3 h4 h5 "
    "h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strike strong sub sup table title tt u ul var",
}
_FORMATTING, _UNNESTED, _FOREIGN, _ENDS_FOREIGN = (frozenset(names.split()) for names in _NAMES.values())
_ATTRIBUTE = (
    r"""[^\t\n\f\r />][^\t\n\f\r />=]*+(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >]++)?+)?+"""
)
_TAG = re.compile(rf"<!--|<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_FEW_CHARACTERS = 2 * MAX_ATTRIBUTES


class TooComplex(ValueError):
    """The text would take a parser far longer than its length says."""


def most_elements(html: str) -> int:
    """How many elements a parser makes of `html` at most, roughly.

    Raises `TooComplex` for what is nested too deep, or has too many kinds of formatting, or attributes at one place.
    """
    formats: set[str] = set()
    nesting = _Nesting()
    at = tags = 0
    while (tag := _TAG.search(html, at)) is not None:
        at = tag.end()
        if tag[2] is None:
            at = _end_of_comment(html, at)
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
    """How deep elements are nested, as their tags say."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._foreign = 0
        self.depth = 0

    def begin(self, name: str, closed: bool) -> None:
        """A tag opens an element; in a drawing or a formula it may close it, too."""
        if name in _ENDS_FOREIGN:
            self._foreign = 0
        if name in _UNNESTED or (closed and self._foreign):
            return
        self._foreign += 1 if name in _FOREIGN else 0
        self._open[name] += 1
        self.depth += 1

    def end(self, name: str) -> None:
        """A tag closes an element."""
        if self._open[name] > 0:
            self._open[name] -= 1
            self.depth -= 1
            self._foreign -= 1 if name in _FOREIGN and self._foreign else 0


def _end_of_comment(html: str, at: int) -> int:
    """Where the comment ends whose `<!--` ends at `at`."""
    if html.startswith((">", "->"), at):
        return at + 1
    end = html.find("-->", at)
    return end + 3 if end >= 0 else len(html)
