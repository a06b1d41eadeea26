"""Checks that an image file is a valid image, not a decompression bomb, and not a file of another format as well."""

from __future__ import annotations

import re
from typing import BinaryIO

from plugins.files.types import FileType

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
