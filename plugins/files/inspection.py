"""Whether a file is taken in: by its content, never by its name alone."""

from __future__ import annotations

import asyncio
from typing import BinaryIO

from plugins.api import MEDIA_TYPE, ApiError, Lane, Message, TooCostly
from plugins.files.images import FORMATS
from plugins.files.messages import ACTIVE_SVG, BROKEN_IMAGE, TWO_THINGS, TYPE_CONTRADICTS, TYPE_REFUSED
from plugins.files.settings import FilesSettings
from plugins.files.storage import Visibility
from plugins.files.types import SVG, ZIP, FileType, claims, contradicts, ends_as_zip

_BLOCK_BYTES = 1 << 20


def needs_proof(type: FileType) -> bool:
    """Whether all of the file must be looked at before it is taken: browsers show it in place."""
    return type is SVG or type.media in FORMATS


def check_type(settings: FilesSettings, type: FileType, name: str, media: str, visibility: Visibility | None) -> None:
    """Raise 41500 for a type that the bucket does not take, or that is not what was said. No bucket: either may do."""
    taken = {"public": settings.public_file_types, "private": settings.private_file_types}
    lists = taken.values() if visibility is None else (taken[visibility],)
    if not any(type.media in allowed for allowed in lists):
        raise refused(TYPE_REFUSED, type)
    if any(contradicts(claimed, type) for claimed in claims(name, media)):
        raise refused(TYPE_CONTRADICTS, type)


def check_end(type: FileType, tail: bytes) -> None:
    """Raise 41500 for a file that can be opened as an archive and begins as something else."""
    if ends_as_zip(tail) and not _is_archive(type):
        raise refused(TWO_THINGS, type)


def _is_archive(type: FileType) -> bool:
    return type is ZIP or type.extension in (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".ofd")


async def prove(lane: Lane, settings: FilesSettings, type: FileType, file: BinaryIO) -> None:
    """Look at the whole of an image or a drawing, in a worker process; raise 41500 when it is not just that."""
    reason = ACTIVE_SVG if type is SVG else BROKEN_IMAGE
    file.seek(0)
    try:
        async with await lane.begin("plugins.files.proving:is_sound", type.media, settings.max_image_pixels) as work:
            while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
                await work.send(block)
            sound = await work.result()
    except TooCostly as error:
        raise refused(reason, type) from error
    if not sound:
        raise refused(reason, type)


def refused(reason: Message, type: FileType) -> ApiError:
    """The 41500 that says why."""
    return ApiError(MEDIA_TYPE, reason.filled(type=type.media))
