"""The files of the service, read from its storage and written into it, through the storage's own interface."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, BinaryIO

import bson

from config.database.raw_documents import RawDatabase, RawDocument
from config.settings import Settings
from handlers.schema.errors import ApiError
from plugins.api.requests import Signatures
from plugins.commands.backups.pieces import BLOCK_BYTES
from plugins.commands.backups.progress import BackupError
from plugins.files.lifespan import open_storage
from plugins.files.names import KEY
from plugins.files.records import OBJECTS, VISIBILITIES
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label, Storage, Visibility
from plugins.files.types import BY_MEDIA, UNKNOWN

_UPDATES_AT_ONCE = 500


@dataclass(frozen=True)
class StoredFile:
    """The facts about a stored file that its record holds. Raises `BackupError` for a place that no service makes."""

    key: str
    visibility: Visibility
    size: int
    sha256: str | None
    etag: str
    name: str
    content_type: str

    def __post_init__(self) -> None:
        if self.visibility not in VISIBILITIES or not KEY.fullmatch(self.key):
            raise BackupError(f"The file {self.visibility}/{self.key} is none that Tradewind stores.")

    @classmethod
    def of(cls, document: RawDocument) -> StoredFile | None:
        """Return the file of a record, or None if no file is stored yet, or any more."""
        record = bson.decode(document)
        if record["state"] != "stored":
            return None
        facts = ("visibility", "size", "sha256", "etag", "name", "content_type")
        return cls(record["_id"], **{name: record[name] for name in facts})

    @property
    def label(self) -> Label:
        """The name and type with which it is stored."""
        return Label(self.name, BY_MEDIA.get(self.content_type, UNKNOWN))


class Spool:
    """A list of files for later, kept in a temporary file because there may be millions."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.count = 0

    def add(self, file: StoredFile) -> None:
        """Add a file."""
        self._file.write(json.dumps(asdict(file)).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[StoredFile]:
        """Iterate over all files."""
        self._file.seek(0)
        for line in self._file:
            yield StoredFile(**json.loads(line))


@asynccontextmanager
async def open_files(settings: Settings) -> AsyncIterator[Storage]:
    """Open the storage of the settings. Within the block its errors are `BackupError` with the reason."""
    from_environment: Any = FilesSettings
    try:
        async with open_storage(from_environment(), settings.data_dir / "files", Signatures(())) as storage:
            yield storage
    except ApiError as error:
        raise BackupError(f"The storage of files fails: {error.__cause__ or error}.") from error


async def read_file(storage: Storage, file: StoredFile) -> AsyncIterator[bytes] | None:
    """Return the content of a file in blocks of `BLOCK_BYTES`, or None if the file is gone.

    A file that ends early gives fewer bytes.
    """
    if not file.size:
        return _nothing() if await storage.stat(file.visibility, file.key) is not None else None
    source = await storage.open(file.visibility, file.key, file.etag, 0, file.size)
    return None if source is None else _blocks(source)


async def _nothing() -> AsyncIterator[bytes]:
    for _ in ():
        yield b""


async def _blocks(source: Any) -> AsyncIterator[bytes]:
    block = bytearray()
    try:
        async for part in source:
            block += part
            if len(block) >= BLOCK_BYTES:
                yield bytes(block)
                block.clear()
    except EOFError:
        pass  # the hash will show that the file is incomplete
    finally:
        await source.aclose()
    if block:
        yield bytes(block)


class FileTarget:
    """The place to which the files of a backup are restored: this one checks that they can be read, and keeps none."""

    async def put(self, file: StoredFile, blocks: AsyncIterator[bytes]) -> None:
        """Consume a file and all of its blocks."""
        async for _ in blocks:
            pass

    async def settle(self, database: RawDatabase) -> None:
        """Write into the restored records the etags that the storage gave the files."""

    async def undo(self) -> None:
        """Remove the files that were put."""


class StorageTarget(FileTarget):
    """Puts files into a storage. Files that it has already stay as they are: a key is never used twice."""

    def __init__(self, storage: Storage, written: Spool, kept: Spool) -> None:
        self._storage = storage
        self._written = written
        self._kept = kept

    async def put(self, file: StoredFile, blocks: AsyncIterator[bytes]) -> None:
        """Write the file. Raises `BackupError` if the storage has a different one with its key."""
        found = await self._storage.stat(file.visibility, file.key)
        if found is not None:
            return await self._compare(file, found.etag, found.size, blocks)
        async with self._storage.writer(file.key, file.visibility, file.label) as writer:
            async for block in blocks:
                await writer.write(block)
            etag = await writer.commit(file.visibility, file.label)
        self._written.add(_stored_as(file, etag))

    async def _compare(self, file: StoredFile, etag: str, size: int, blocks: AsyncIterator[bytes]) -> None:
        there = _stored_as(file, etag, size)
        wanted, stored = await _hash(blocks), await read_file(self._storage, there)
        if stored is None or await _hash(stored) != wanted:
            raise BackupError(f"The storage has another file with the key {file.key}: restore into an empty storage.")
        self._kept.add(there)

    async def settle(self, database: RawDatabase) -> None:
        """Set the etags in the records: S3 derives them from the content and from the way it was sent."""
        etags: dict[str, str] = {}
        for file in chain(self._written, self._kept):
            etags[file.key] = file.etag
            if len(etags) == _UPDATES_AT_ONCE:
                await database.set_field(OBJECTS.name, "etag", etags)
                etags.clear()
        if etags:
            await database.set_field(OBJECTS.name, "etag", etags)

    async def undo(self) -> None:
        """Remove the files that were written."""
        for file in self._written:
            await self._storage.delete(file.visibility, file.key)


def _stored_as(file: StoredFile, etag: str, size: int | None = None) -> StoredFile:
    return StoredFile(**{**asdict(file), "etag": etag, "size": file.size if size is None else size})


async def _hash(blocks: AsyncIterator[bytes]) -> bytes:
    hashed = hashlib.sha256()
    async for block in blocks:
        hashed.update(block)
    return hashed.digest()
