"""`Files`: the stored files and their records. A file exists when the state of its record is `stored`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from plugins.api import NOT_FOUND, Actor, ApiError, Store, utc_now
from plugins.api.data import Database, try_transition
from plugins.api.errors import MEDIA_TYPE
from plugins.api.workers import Lane
from plugins.files.inspection import check_end, check_type, needs_proof, prove
from plugins.files.messages import FILE_TOO_LARGE, OTHER_THAN_SIGNED
from plugins.files.names import check_key, new_key
from plugins.files.presence import Presence
from plugins.files.record_types import StoredFile
from plugins.files.records import OBJECTS
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label, Storage, Visibility
from plugins.files.types import BY_MEDIA, HEAD_BYTES, TAIL_BYTES, UNKNOWN, FileType, detect


@dataclass(frozen=True)
class Files:
    """What the handlers need: the records, the storage, the settings, and a folder for files that are being checked."""

    database: Database
    storage: Storage
    settings: FilesSettings
    presence: Presence
    folder: Path
    proving: Lane

    @property
    def records(self) -> Store[StoredFile]:
        """The store of the records, without data scope: `may_read` decides about access."""
        return self.database.store(OBJECTS)

    async def find(self, key: str) -> StoredFile:
        """Return the record of this key, or raise 40400.

        It checks neither whether the caller may read the file, nor whether an expected file has arrived (`settle`).
        """
        file = await self.records.find_one({"_id": check_key(key), "state": {"$in": ["stored", "expected"]}})
        if file is None:
            raise ApiError(NOT_FOUND)
        return file

    async def settle(self, file: StoredFile) -> StoredFile:
        """Return the record of a stored file. A file uploaded straight to S3 is checked when it is first used.

        Raises 40400 if it has not arrived. Raises 41500, and removes the file, if it is not what was announced.
        """
        return file if file["state"] == "stored" else await self._check_expected(file)

    async def begin(self, actor: Actor, label: Label, visibility: Visibility, state: str, size: int = 0) -> str:
        """Create the record before the first byte arrives. Returns its key."""
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

    async def take(self, key: str) -> StoredFile | None:
        """Claim the expected file of a signed address for this process. Returns None if the file is not expected."""
        return await try_transition(self.records, {"_id": check_key(key)}, "arrive", writer=self.presence.id)

    async def give_back(self, key: str) -> None:
        """Expect the file again, after an upload to a signed address failed."""
        await try_transition(self.records, {"_id": key}, "expect", writer=None)

    async def finish(self, key: str, facts: Mapping[str, Any]) -> StoredFile:
        """Record that the file is complete and in its place. Repeating it is harmless."""
        file = await try_transition(self.records, {"_id": key}, "store", **{**facts, "writer": None})
        if file is None:  # the sweep has removed it
            raise ApiError(NOT_FOUND)
        return file

    async def forget(self, key: str) -> bool:
        """Remove the record of a file that does not exist. Returns False if it is gone already."""
        return await self.records.remove({"_id": key}) > 0

    async def mark_attached(self, key: str) -> bool:
        """Mark the file as attached, so that it is never swept. Returns False if the file is gone already."""
        marked = await self.records.update_where({"_id": key, "state": "stored"}, {"attached": True})
        return marked is not None

    async def remove(self, key: str) -> bool:
        """Remove a file, then its record, so that an interrupted removal is repeated. Returns False if it was gone."""
        await self.storage.discard(key)
        return await self.forget(key)

    def spool(self) -> BinaryIO:
        """Return an unnamed temporary file, which disappears with the process."""
        return tempfile.TemporaryFile(dir=self.folder)

    async def read(self, file: StoredFile) -> bytes:
        """Return the whole content of a stored file, whose size the caller has limited. Raises 40400 if it is gone."""
        return await self._read(file, file["etag"] or "", 0, file["size"])

    async def _check_expected(self, file: StoredFile) -> StoredFile:
        visibility: Visibility = file["visibility"]
        found = await self.storage.stat(visibility, file["id"])
        if found is None:
            raise ApiError(NOT_FOUND)
        try:
            if found.size != file["size"]:
                raise ApiError(MEDIA_TYPE, OTHER_THAN_SIGNED)
            type = await self._inspect(file, found.etag)
        except ApiError as error:
            if error.kind is MEDIA_TYPE:
                await self.remove(file["id"])
            raise
        return await self.finish(file["id"], {"etag": found.etag, "content_type": type.media})

    async def _inspect(self, file: StoredFile, etag: str) -> FileType:
        size, name = file["size"], file["name"]
        head = await self._read(file, etag, 0, min(size, HEAD_BYTES))
        tail = await self._read(file, etag, max(0, size - TAIL_BYTES), size)
        type = detect(head, tail, name)
        check_type(self.settings, type, name, file["content_type"], file["visibility"])
        check_end(type, tail)
        if needs_proof(type):
            if size > self.settings.max_image_bytes:
                raise ApiError(MEDIA_TYPE, FILE_TOO_LARGE.filled(bytes=self.settings.max_image_bytes))
            with self.spool() as spool:
                await self._read(file, etag, 0, size, spool)
                await prove(self.proving, self.settings, type, spool)
        return type

    async def _read(self, file: StoredFile, etag: str, start: int, stop: int, into: BinaryIO | None = None) -> bytes:
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


def get_label(file: Mapping[str, Any]) -> Label:
    """Return name and type of a stored file."""
    return Label(file["name"], BY_MEDIA.get(file["content_type"], UNKNOWN))
