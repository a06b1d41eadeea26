"""Checks whole images and SVG files in a worker process. This module imports nothing of the service."""

from __future__ import annotations

import io
from collections.abc import Iterator

from plugins.files.images import is_sound_image
from plugins.files.svg import is_sound_svg
from plugins.files.types import BY_MEDIA, SVG


def is_sound(pieces: Iterator[bytes], media: str, max_pixels: int) -> bytes:
    """Return `1` for a valid file of this media type, and nothing for any other."""
    file = io.BytesIO(b"".join(pieces))
    type = BY_MEDIA[media]
    sound = is_sound_svg(file) if type is SVG else is_sound_image(file, type, max_pixels)
    return b"1" if sound else b""
