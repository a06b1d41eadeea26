"""Checks that an SVG is only a drawing: no scripts, no event handlers, nothing loaded from elsewhere."""

from __future__ import annotations

import re
from typing import BinaryIO
from xml.parsers import expat

_NAMESPACE = "http://www.w3.org/2000/svg"
_FORBIDDEN = frozenset(
    {"script", "foreignobject", "iframe", "object", "embed", "handler", "listener", "audio", "video"}
)
_LINKS = frozenset({"href", "src", "base", "action", "formaction"})
_ANIMATED = frozenset({"from", "to", "values", "by"})
# a drawing may refer to its own parts and to embedded pictures; only links may lead to other pages
_OWN = re.compile(r"$|#|data:image/(png|jpeg|gif|webp);", re.IGNORECASE)
_PAGE = re.compile(r"https?://", re.IGNORECASE)
_RUNNING = re.compile(r"(javascript|vbscript|data):", re.IGNORECASE)
# functions of CSS that load resources (CSS Images 4, CSS Values 5), unless these are parts of the drawing itself
_LOADING_STYLE = re.compile(
    r"@import|expression\s*+\(|javascript:|(?<![\w-])(-webkit-)?(image-set|image|src|cross-fade)\("
    r"|url\(\s*+['\"]?+\s*+(?!#|data:image/)",
    re.IGNORECASE,
)
# a code point in hexadecimal, or any other escaped character (CSS Syntax 3, section 4.3.7)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})(?:\r\n|\s)?|(.))", re.IGNORECASE | re.DOTALL)
_MAX_DEPTH = 200
_SEPARATOR = " "


class _Forbidden(Exception):
    """The file contains something that is not allowed in a drawing."""


class _Reader:
    """Handles the events of the parser. Raises `_Forbidden` at the first thing that is not allowed."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._style: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, name = tag.rpartition(_SEPARATOR)
        if not self._open and (space, name) != (_NAMESPACE, "svg"):
            raise _Forbidden(tag)
        if name.lower() in _FORBIDDEN or len(self._open) >= _MAX_DEPTH:
            raise _Forbidden(name)
        self._open.append(name)
        for attribute, value in attributes.items():
            _check_attribute(name, attribute.rpartition(_SEPARATOR)[2].lower(), value)

    def end(self, tag: str) -> None:
        if self._open.pop() == "style":
            _check_style("".join(self._style))
            self._style.clear()

    def text(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self._style.append(data)

    def refuse(self, *_: object) -> None:
        """Refuse declarations: entities that expand, instructions that load style sheets, attribute defaults."""
        raise _Forbidden("declaration")


def _check_attribute(element: str, name: str, value: str) -> None:
    plain = re.sub(r"[\x00-\x20]+", "", value)
    linked = name in _LINKS and not _OWN.match(plain) and not (element == "a" and _PAGE.match(plain))
    if name.startswith("on") or linked or (name in _ANIMATED and _RUNNING.search(plain)):
        raise _Forbidden(name)
    _check_style(value)


def _check_style(text: str) -> None:
    if _LOADING_STYLE.search(text) or ("\\" in text and _LOADING_STYLE.search(_ESCAPE.sub(_unescape, text))):
        raise _Forbidden("style")


def _unescape(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    number = int(escape[1], 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"


def is_sound_svg(file: BinaryIO) -> bool:
    """Return whether the file is a well-formed drawing and nothing else. Reads all of it."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = parser.ProcessingInstructionHandler = reader.refuse
    parser.AttlistDeclHandler = parser.ElementDeclHandler = reader.refuse
    file.seek(0)
    try:
        # in one call: expat before 2.6.0 parses a long token again for every piece of it
        parser.Parse(file.read(), True)
    except (expat.ExpatError, _Forbidden, ValueError):
        return False
    return True
