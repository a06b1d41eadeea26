"""Restores a backup into a new database, reads it back and compares it, and creates the indexes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from config.database import open_driver
from config.database.raw_documents import RawDatabase
from config.settings import Settings
from handlers.data.database import AlikeRecords, Database
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import catalogue_of
from plugins.commands.backups.archive import ArchiveReader, Kind
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.progress import Progress
from plugins.commands.backups.stored_files import FileTarget, StoredFile
from plugins.commands.backups.tally import compare

_INDEX_MS = 3_600_000
_LEAST_DOCUMENT = 5  # bytes: MongoDB's empty document

Piece = tuple[Kind, bytes]


async def restore(reader: ArchiveReader, database: RawDatabase, files: FileTarget) -> dict[str, Any]:
    """Write the backup into the database, which must be empty, and compare the two; return the manifest.

    After any failure the database is dropped and the files are removed. Raises `BackupError`.
    """
    if not await database.claim():
        raise BackupError(
            f"A restore into {database.name} was killed, or is running: drop that database, or choose another name."
            if await database.is_unfinished()
            else f"The database {database.name} is not empty: restore into a new name, nothing is overwritten."
        )
    try:
        manifest = await _load(reader, database, files)
        await database.wait_until_durable()
        progress = Progress("Comparison", sum(one["documents"] for one in manifest["collections"].values()))
        await compare(database, manifest["collections"], progress)
        progress.end()
    except BaseException:
        await undo(database, files)
        raise
    return manifest


async def undo(database: RawDatabase, files: FileTarget) -> None:
    """Remove everything that was restored."""
    try:
        await files.undo()
    finally:
        await database.drop()


async def finish(database: RawDatabase, files: FileTarget, settings: Settings, uri: str) -> None:
    """Create the indexes as the service does at its start, and make the database usable; undo everything on failure."""
    try:
        await _create_indexes(settings, uri, database.name)
        await files.settle(database)
        await database.finish()
    except BaseException:
        await undo(database, files)
        raise


async def _create_indexes(settings: Settings, uri: str, name: str) -> None:
    catalogue = catalogue_of(settings, load_plugins(settings.plugins), check=False)
    driver = open_driver(settings.mongodb_driver, uri, name, _INDEX_MS)
    try:
        await Progress("Indexes").during(Database(driver, catalogue.collections.values()).prepare())
    except AlikeRecords as error:
        raise BackupError(str(error)) from error
    finally:
        await driver.close()


async def _load(reader: ArchiveReader, database: RawDatabase, files: FileTarget) -> dict[str, Any]:
    pieces, progress = Pieces(reader), Progress("Restore")
    collection = ""
    try:
        while True:
            kind, data = await pieces.take()
            if kind is Kind.COLLECTION:
                collection = str(reader.parse(data)["name"])
                await database.create(collection)
            elif kind is Kind.DOCUMENTS:
                documents = list(split(data, reader))
                await database.insert(collection, documents)
                progress.add(len(data), len(documents))
            elif kind is Kind.FILE:
                await files.put(StoredFile(**reader.parse(data)), pieces.run(Kind.BYTES, progress))
                progress.add(0, files=1)
            elif kind is Kind.MANIFEST:
                manifest = reader.parse(data)
                await pieces.check_end()
                return manifest
    finally:
        progress.end()
        await pieces.close()


def split(data: bytes, reader: ArchiveReader) -> Iterator[bytes]:
    """Yield the documents of a piece."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        if not _LEAST_DOCUMENT <= size <= len(data) - at:
            raise reader.damaged()
        yield data[at : at + size]
        at += size


class Pieces:
    """The pieces of a backup; each one is read and checked in a thread while the previous one is written."""

    def __init__(self, reader: ArchiveReader) -> None:
        self._pieces = iter(reader)
        self._ahead = self._read()

    def _read(self) -> asyncio.Task[Piece | None]:
        return asyncio.create_task(asyncio.to_thread(next, self._pieces, None))

    async def take(self) -> Piece:
        """Return the next piece. Must not be called again after the manifest."""
        piece = await self._ahead
        if piece is None:
            raise RuntimeError("the manifest was the last piece")
        self._ahead = self._read()
        return piece

    async def run(self, kind: Kind, progress: Progress) -> AsyncIterator[bytes]:
        """Yield the contents of the following pieces, as long as they are of this kind."""
        while (piece := await self._ahead) is not None and piece[0] is kind:
            _, data = await self.take()
            progress.add(len(data))
            yield data

    async def check_end(self) -> None:
        """Raise `BackupError` if anything follows the manifest."""
        await self._ahead

    async def close(self) -> None:
        """Wait for the thread to finish."""
        await asyncio.wait([self._ahead])
        if not self._ahead.cancelled():
            self._ahead.exception()
