"""Decides whether a file is accepted: by its content, never by its name alone."""

from __future__ import annotations

import asyncio
from typing import BinaryIO

from plugins.api import ApiError, Message
from plugins.api.errors import MEDIA_TYPE
from plugins.api.workers import Lane, TooCostly
from plugins.files.images import FORMATS
from plugins.files.messages import ACTIVE_SVG, BROKEN_IMAGE, TWO_THINGS, TYPE_CONTRADICTS, TYPE_REFUSED
from plugins.files.settings import FilesSettings
from plugins.files.storage import Visibility
from plugins.files.types import BY_MEDIA, SVG, ZIP, FileType, contradicts, ends_as_zip, list_claims

_BLOCK_BYTES = 1 << 20


def needs_proof(type: FileType) -> bool:
    """Return whether the whole file must be checked before it is accepted: images and SVG, which browsers display."""
    return type is SVG or type.media in FORMATS


def check_type(settings: FilesSettings, type: FileType, name: str, media: str, visibility: Visibility | None) -> None:
    """Raise 41500 if the bucket does not accept the type, or the type contradicts `name` or `media`.

    Without `visibility` it is enough that either bucket accepts it.
    """
    if type.media not in _accepted(settings, visibility):
        raise not_accepted(settings, type.media, visibility)
    if any(contradicts(claimed, type) for claimed in list_claims(name, media)):
        raise make_refusal(TYPE_CONTRADICTS, type)


def not_accepted(settings: FilesSettings, media: str, visibility: Visibility | None) -> ApiError:
    """Return the 41500 for a type that the bucket does not accept; it names those that it does."""
    extensions = {BY_MEDIA[one].extension for one in _accepted(settings, visibility) if one in BY_MEDIA}
    return ApiError(MEDIA_TYPE, TYPE_REFUSED.filled(type=media, accepted=" ".join(sorted(extensions))))


def _accepted(settings: FilesSettings, visibility: Visibility | None) -> set[str]:
    accepted = {"public": settings.public_file_types, "private": settings.private_file_types}
    return set().union(*(accepted.values() if visibility is None else (accepted[visibility],)))


def check_end(type: FileType, tail: bytes) -> None:
    """Raise 41500 for a file that begins as another type but can be opened as an archive."""
    if ends_as_zip(tail) and not _is_archive(type):
        raise make_refusal(TWO_THINGS, type)


def _is_archive(type: FileType) -> bool:
    return type is ZIP or type.extension in (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".ofd")


async def prove(lane: Lane, settings: FilesSettings, type: FileType, file: BinaryIO) -> None:
    """Check a whole image or SVG in a worker process. Raises 41500 if it is broken or contains anything else."""
    reason = ACTIVE_SVG if type is SVG else BROKEN_IMAGE
    file.seek(0)
    try:
        async with await lane.begin("plugins.files.images:is_sound", type.media, settings.max_image_pixels) as work:
            while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
                await work.send(block)
            sound = await work.result()
    except TooCostly as error:
        raise make_refusal(reason, type) from error
    if not sound:
        raise make_refusal(reason, type)


def make_refusal(reason: Message, type: FileType) -> ApiError:
    """Return the 41500 with this reason."""
    return ApiError(MEDIA_TYPE, reason.filled(type=type.media))
