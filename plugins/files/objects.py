"""`Files`: the stored files and their records. A file is there when its record says `stored`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from plugins.api import MEDIA_TYPE, NOT_FOUND, Actor, ApiError, Database, Lane, Store, utc_now
from plugins.files.inspection import check_end, check_type, needs_proof, prove
from plugins.files.names import checked_key, new_key
from plugins.files.presence import Presence
from plugins.files.records import OBJECTS
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label, Storage, Visibility
from plugins.files.types import BY_MEDIA, HEAD_BYTES, TAIL_BYTES, UNKNOWN, FileType, detect

File = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """What the handlers need: the records, the storage, the settings, and a folder for what is being looked at."""

    database: Database
    storage: Storage
    settings: FilesSettings
    presence: Presence
    folder: Path
    proving: Lane

    @property
    def records(self) -> Store:
        """The records, without data scope: access follows `may_read`."""
        return self.database.store(OBJECTS)

    async def find(self, key: str) -> File:
        """The record of this key; 40400 for every other key. Not `settled` yet, and not for everybody to know of."""
        file = await self.records.find_one({"_id": checked_key(key), "state": {"$in": ["stored", "expected"]}})
        if file is None:
            raise ApiError(NOT_FOUND)
        return file

    async def settled(self, file: File) -> File:
        """The record of a file that is there: one that went straight to S3 is looked at when it is first asked for.

        40400 when it has not come yet; 41500 when it is not what it was to be, and it is gone.
        """
        return file if file["state"] == "stored" else await self._settle(file)

    async def begin(self, actor: Actor, label: Label, visibility: Visibility, state: str, size: int = 0) -> str:
        """A new record, before the first byte; its key."""
        key = new_key(utc_now(), label.type.extension)
        values = {
            "visibility": visibility,
            "name": label.name,
            "size": size,
            "content_type": label.type.media,
            "sha256": None,
            "etag": None,
            "uploader_id": actor.user_id,
            "uploader_name": actor.name or actor.username,
            "attached": False,
            "state": state,
            "writer": self.presence.id if state == "arriving" else None,
            "created_at": utc_now(),
        }
        await self.records.create(values, id=key)
        return key

    async def take(self, key: str) -> File | None:
        """The file that a signed address is to bring, now being written by this process; None if it is not awaited."""
        taken = {"state": "arriving", "writer": self.presence.id}
        return await self.records.change_one({"_id": checked_key(key), "state": "expected"}, taken)

    async def give_back(self, key: str) -> None:
        """The upload to a signed address failed; it may be tried again."""
        await self.records.change_one({"_id": key, "state": "arriving"}, {"state": "expected", "writer": None})

    async def finish(self, key: str, facts: Mapping[str, Any]) -> File:
        """The file is whole, and in its place; said twice, it is no less so."""
        stored = {**facts, "state": "stored", "writer": None}
        file = await self.records.change_one({"_id": key, "state": {"$ne": "leaving"}}, stored)
        if file is None:  # swept meanwhile
            raise ApiError(NOT_FOUND)
        return file

    async def forget(self, key: str) -> None:
        """Drop the record of a file that is not there."""
        await self.records.remove({"_id": key})

    async def keep(self, key: str) -> bool:
        """Something holds on to this file: it is never swept. False when it is gone already."""
        kept = await self.records.change_one({"_id": key, "state": "stored"}, {"attached": True})
        return kept is not None

    async def remove(self, key: str) -> None:
        """Remove a file and its record, the record last: what is interrupted is done again."""
        await self.storage.discard(key)
        await self.forget(key)

    def spool(self) -> BinaryIO:
        """A file without a name: it is gone with its process, however that ends."""
        return tempfile.TemporaryFile(dir=self.folder)

    async def _settle(self, file: File) -> File:
        visibility: Visibility = file["visibility"]
        found = await self.storage.stat(visibility, file["id"])
        if found is None:
            raise ApiError(NOT_FOUND)
        try:
            if found.size != file["size"]:
                raise ApiError(MEDIA_TYPE)
            type = await self._inspect(file, found.etag)
        except ApiError as error:
            if error.kind is MEDIA_TYPE:
                await self.remove(file["id"])
            raise
        return await self.finish(file["id"], {"etag": found.etag, "content_type": type.media})

    async def _inspect(self, file: File, etag: str) -> FileType:
        size, name = file["size"], file["name"]
        head = await self._read(file, etag, 0, min(size, HEAD_BYTES))
        tail = await self._read(file, etag, max(0, size - TAIL_BYTES), size)
        type = detect(head, tail, name)
        check_type(self.settings, type, name, file["content_type"], file["visibility"])
        check_end(type, tail)
        if needs_proof(type):
            if size > self.settings.max_image_bytes:
                raise ApiError(MEDIA_TYPE)
            with self.spool() as spool:
                await self._read(file, etag, 0, size, spool)
                await prove(self.proving, self.settings, type, spool)
        return type

    async def _read(self, file: File, etag: str, start: int, stop: int, into: BinaryIO | None = None) -> bytes:
        source = await self.storage.open(file["visibility"], file["id"], etag, start, stop)
        if source is None:
            raise ApiError(NOT_FOUND)
        blocks = []
        try:
            async for block in source:
                blocks.append(block) if into is None else into.write(block)
        finally:
            await source.aclose()
        return b"".join(blocks)


def label_of(file: Mapping[str, Any]) -> Label:
    """What a stored file is called and is."""
    return Label(file["name"], BY_MEDIA.get(file["content_type"], UNKNOWN))
