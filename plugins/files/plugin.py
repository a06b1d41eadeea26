"""Files in two buckets, and attachments of business records."""

from __future__ import annotations

from plugins.api import Message, Plugin
from plugins.files import attachments, downloads, uploads
from plugins.files.lifespan import start
from plugins.files.records import ATTACHMENTS, OBJECTS
from plugins.files.settings import FilesSettings

plugin = Plugin(
    name="files",
    title=Message("文件", "Files"),
    settings=FilesSettings,
    start=start,
    collections=(OBJECTS, ATTACHMENTS),
    routes=(
        *uploads.ROUTES,
        *downloads.ROUTES,
        *attachments.ROUTES,
    ),
)
