"""Restores a backup into a new database, reads it back and compares it, and creates the indexes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from config.database import open_driver
from config.database.raw_documents import RawDatabase
from config.settings import Settings
from handlers.catalogue.custom_fields import with_custom_fields
from handlers.data.database import AlikeRecords, Database
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import catalogue_of
from plugins.commands.backups.pieces import Backup, Collection, File, Piece
from plugins.commands.backups.progress import BackupError, Progress, compare
from plugins.commands.backups.stored_files import FileTarget, StoredFile
from plugins.files.records import OBJECTS

_INDEX_MS = 3_600_000


async def restore(backup: Backup, database: RawDatabase, files: FileTarget) -> None:
    """Write a backup that has been checked into the database, which must be empty, and compare the two.

    After any failure the database is dropped and the files are removed. Raises `BackupError`.
    """
    if not await database.claim():
        raise BackupError(
            f"A restore into {database.name} was killed, or is running: drop that database, or choose another name."
            if await database.is_unfinished()
            else f"The database {database.name} is not empty: restore into a new name, nothing is overwritten."
        )
    collections = backup.manifest["collections"]
    try:
        await _load(backup, database, files)
        await database.wait_until_durable()
        progress = Progress("Comparison", sum(one["documents"] for one in collections.values()))
        await compare(database, collections, progress)
        progress.end()
    except BaseException:
        await undo(database, files)
        raise


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
        catalogue = await with_custom_fields(driver, catalogue)
        await Progress("Indexes").during(Database(driver, catalogue.collections.values()).prepare())
    except AlikeRecords as error:
        raise BackupError(str(error)) from error
    finally:
        await driver.close()


async def _load(backup: Backup, database: RawDatabase, files: FileTarget) -> None:
    progress = Progress("Restore")
    collection, is_durable = "", True
    try:
        async with aclosing(Ahead(backup)) as pieces:
            while (piece := await pieces.take()) is not None:
                if isinstance(piece, Collection):
                    collection = piece.name
                    await database.create(collection, piece.options)
                elif isinstance(piece, list):
                    await database.insert(collection, piece)
                    progress.add(sum(map(len, piece)), len(piece))
                    is_durable = False
                elif isinstance(piece, File):
                    if not is_durable:
                        await database.wait_until_durable()  # what is read is what a majority has
                        is_durable = True
                    await files.put(await _recorded(database, piece), pieces.contents(progress))
                    progress.add(0, files=1)
    finally:
        progress.end()


async def _recorded(database: RawDatabase, file: File) -> StoredFile:
    """Return the facts that the restored record of a file holds."""
    found = [*filter(None, map(StoredFile.of, await database.named(OBJECTS.name, [file.key])))]
    if not found:
        raise BackupError(f"The file {file.key} is none that the documents of the backup name.")
    return found[0]


class Ahead:
    """The pieces of a backup; each one is read and checked in a thread while the previous one is written."""

    def __init__(self, backup: Backup) -> None:
        self._pieces = iter(backup)
        self._next = self._read()

    def _read(self) -> asyncio.Task[Piece | None]:
        return asyncio.create_task(asyncio.to_thread(next, self._pieces, None))

    async def take(self) -> Piece | None:
        """Return the next piece, or None after the last one."""
        piece = await asyncio.shield(self._next)  # the thread cannot be cancelled
        if piece is not None:
            self._next = self._read()
        return piece

    async def contents(self, progress: Progress) -> AsyncIterator[bytes]:
        """Yield what follows of a file."""
        while isinstance(piece := await asyncio.shield(self._next), bytes):
            await self.take()
            progress.add(len(piece))
            yield piece

    async def aclose(self) -> None:
        """Wait for the thread, and end the reading."""
        await asyncio.wait([self._next])
        self._next.exception()
        await asyncio.to_thread(self._pieces.close)
