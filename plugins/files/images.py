"""Checks that images and SVG files are what they say, in a worker process. This module imports nothing of the service.

An image is valid, no decompression bomb, and not a file of another format as well. An SVG is only a drawing: no scripts,
no event handlers, nothing loaded from elsewhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

from plugins.files.types import BY_MEDIA, SVG, FileType

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


# media type → Pillow's name of the format
FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/avif": "AVIF",
    "image/bmp": "BMP",
    "image/x-icon": "ICO",
    "image/tiff": "TIFF",
}
_FOREIGN = re.compile(rb"<(script|html|svg|iframe|body|object|embed|\?php)[\s>/]|<!doctype html|%PDF-1", re.IGNORECASE)
_STEP = 64 << 10
_OVERLAP = 32
_MAX_BLOCKS = 100_000


def is_sound_image(file: BinaryIO, type: FileType, max_pixels: int) -> bool:
    """Return whether the file is complete, has the format of its signature, and contains no markup. Reads all of it."""
    from PIL import Image  # imported late to keep the start fast

    try:
        with Image.open(file, formats=[FORMATS[type.media]]) as image:
            if image.width * image.height > max_pixels:
                return False
            image.verify()
    except Exception:  # on hostile files Pillow raises anything: SyntaxError, struct.error, MemoryError
        return False
    return _ends_properly(file, type) and not _contains_markup(file)


def _contains_markup(file: BinaryIO) -> bool:
    file.seek(0)
    before = b""
    while block := file.read(_STEP):
        if _FOREIGN.search(before + block):
            return True
        before = block[-_OVERLAP:]
    return False


def _ends_properly(file: BinaryIO, type: FileType) -> bool:
    """Return whether nothing follows the image, for formats that mark their end."""
    size = file.seek(0, 2)
    file.seek(0)
    try:
        if type.media == "image/png":
            return _find_png_end(file) == size
        if type.media == "image/gif":
            return _find_gif_end(file) == size
        if type.media == "image/webp":
            return int.from_bytes(file.read(8)[4:], "little") + 8 in (size, size - 1)
        if type.media == "image/jpeg":
            # cameras append thumbnails and clips, so the end marker is somewhere in the file
            file.seek(max(0, size - (2 << 20)))
            return b"\xff\xd9" in file.read()
    except (IndexError, ValueError):
        return False
    return True


def _find_png_end(file: BinaryIO) -> int:
    """Return where IEND ends (PNG section 5.3: length, type, data, CRC), or -1 if there are too many chunks."""
    file.seek(8)
    for _ in range(_MAX_BLOCKS):
        head = file.read(8)
        if len(head) < 8:
            return -1
        end = file.seek(int.from_bytes(head[:4], "big") + 4, 1)
        if head[4:] == b"IEND":
            return end
    return -1


def _find_gif_end(file: BinaryIO) -> int:
    """Return where the trailer ends (GIF89a: colour tables, then sub-blocks), or -1 if it has too many blocks."""
    file.seek(10)
    file.seek(2 + _get_colour_table_size(file.read(1)[0]), 1)
    budget = [_MAX_BLOCKS]
    while budget[0] > 0:
        kind = file.read(1)
        if kind == b";":
            return file.tell()
        if kind == b",":
            file.seek(8, 1)
            file.seek(_get_colour_table_size(file.read(1)[0]) + 1, 1)
        elif kind == b"!":
            file.seek(1, 1)
        else:
            return -1
        _skip_sub_blocks(file, budget)
    return -1


def _get_colour_table_size(packed: int) -> int:
    return 3 << ((packed & 7) + 1) if packed & 0x80 else 0


def _skip_sub_blocks(file: BinaryIO, budget: list[int]) -> None:
    while (length := file.read(1)[0]) and budget[0] > 0:
        file.seek(length, 1)
        budget[0] -= 1


def is_sound(pieces: Iterator[bytes], media: str, max_pixels: int) -> bytes:
    """Return `1` for a valid file of this media type, and nothing for any other."""
    file = io.BytesIO(b"".join(pieces))
    type = BY_MEDIA[media]
    sound = is_sound_svg(file) if type is SVG else is_sound_image(file, type, max_pixels)
    return b"1" if sound else b""
