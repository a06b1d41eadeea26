"""Proof that an SVG is a drawing: no script, no handler, nothing loaded from elsewhere."""

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
# a drawing refers to its own parts and to pictures that it carries; a link may lead to a page
_OWN = re.compile(r"$|#|data:image/(png|jpeg|gif|webp);", re.IGNORECASE)
_PAGE = re.compile(r"https?://", re.IGNORECASE)
_RUNNING = re.compile(r"(javascript|vbscript|data):", re.IGNORECASE)
_LOADING_STYLE = re.compile(
    r"@import|expression\s*\(|javascript:|url\(\s*['\"]?\s*(?!#|['\"]?data:image/)", re.IGNORECASE
)
_MAX_DEPTH = 200
_SEPARATOR = " "


class _Forbidden(Exception):
    """The drawing has something in it that is no drawing."""


class _Reader:
    """Follows the parser through the document; raises at the first thing that does not belong."""

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
        """Entities expand without end, and instructions load style sheets."""
        raise _Forbidden("declaration")


def _check_attribute(element: str, name: str, value: str) -> None:
    plain = re.sub(r"[\x00-\x20]+", "", value)
    linked = name in _LINKS and not _OWN.match(plain) and not (element == "a" and _PAGE.match(plain))
    if name.startswith("on") or linked or (name in _ANIMATED and _RUNNING.search(plain)):
        raise _Forbidden(name)
    _check_style(value)


def _check_style(text: str) -> None:
    if _LOADING_STYLE.search(text):
        raise _Forbidden("style")


def is_sound_svg(file: BinaryIO) -> bool:
    """Whether the file is a well-formed drawing and nothing else. Reads all of it."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = parser.ProcessingInstructionHandler = reader.refuse
    file.seek(0)
    try:
        parser.ParseFile(file)
    except (expat.ExpatError, _Forbidden, ValueError):
        return False
    return True
