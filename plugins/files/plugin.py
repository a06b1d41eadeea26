"""Files in two buckets, and attachments of business records."""

from __future__ import annotations

from plugins.api import Job, Listener, Message, Plugin, dictionary, routes_of
from plugins.api.events import DATA_RESET
from plugins.api.ports import Attachments
from plugins.files import attachments, downloads, uploads
from plugins.files.lifespan import clear_after_reset, start, sweep_all
from plugins.files.records import ATTACHMENTS, OBJECTS
from plugins.files.settings import FilesSettings

DICTIONARIES = (
    dictionary(
        "files_visibility",
        ("文件可见范围", "File visibility"),
        public=("公开", "Public"),
        private=("私有", "Private"),
    ),
)


plugin = Plugin(
    name="files",
    title=Message("文件", "Files"),
    settings=FilesSettings,
    provides=(Attachments,),
    start=start,
    listens=(Listener(DATA_RESET, clear_after_reset),),
    jobs=(Job("files.sweep", "sweep_seconds", sweep_all, Message("清理无用文件", "Remove unused files")),),
    dictionaries=DICTIONARIES,
    collections=(OBJECTS, ATTACHMENTS),
    routes=routes_of(uploads, downloads, attachments),
)
