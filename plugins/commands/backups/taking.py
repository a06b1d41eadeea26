"""Takes a backup: all documents as of one moment, then the files that they refer to."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar

from bson import Timestamp

from config.database.raw_documents import RawDatabase, RawDocument
from config.settings import Settings
from config.version import VERSION
from plugins.commands.backups.archive import ArchiveWriter, Target
from plugins.commands.backups.kept_settings import as_environment
from plugins.commands.backups.pieces import BLOCK_BYTES, described_moment
from plugins.commands.backups.progress import BackupError, Progress
from plugins.commands.backups.stored_files import Spool, StoredFile, open_files, read_file
from plugins.files.records import OBJECTS

_MOST_NAMED = 20
Part = TypeVar("Part")


async def take(
    database: RawDatabase, settings: Settings, kept_settings: Mapping[str, str], output: Target
) -> dict[str, Any]:
    """Write a backup of the database and of its files to `output`; return what is in it, and the seconds.

    Raises `BackupError` and `SnapshotLost`.
    """
    names = await database.collections()
    if not names:
        raise BackupError(f"The database {database.name} is empty: there is nothing to back up.")
    if await database.is_unfinished():
        raise BackupError(f"The database {database.name} is being restored, or a restore into it was killed.")
    moment = await database.begin(names)
    measured = {name: await database.measure(name, moment) for name in names}
    progress = Progress("Backup", sum(documents for documents, _ in measured.values()))
    manifest: dict[str, Any] = {
        "version": VERSION,
        "database": database.name,
        "moment": described_moment(moment),
        "collections": {name: {"documents": documents, "bytes": size} for name, (documents, size) in measured.items()},
    }
    try:
        with tempfile.TemporaryFile() as hashes, tempfile.TemporaryFile() as spooled:
            archive = ArchiveWriter(output, hashes, manifest, as_environment(kept_settings).encode())
            taking = _Taking(database, moment, archive, Spool(spooled), progress)
            for name, entry in manifest["collections"].items():
                entry["sha256"] = await taking.copy(name, entry["bytes"])
            files = await taking.copy_files(settings)
            await asyncio.to_thread(archive.finish, files)
    finally:
        progress.end()
    return {**manifest, "files": files, "seconds": round(progress.seconds, 1)}


class _Taking:
    """One backup that is being written."""

    def __init__(
        self, database: RawDatabase, moment: Timestamp, archive: ArchiveWriter, spool: Spool, progress: Progress
    ) -> None:
        self._database = database
        self._moment = moment
        self._archive = archive
        self._spool = spool
        self._progress = progress

    async def copy(self, collection: str, size: int) -> str:
        """Copy a collection of so many bytes, and return the hash of its documents."""
        described = await self._database.described(collection)
        with self._archive.collection(collection, described, size) as member:

            def write(page: Sequence[RawDocument]) -> None:
                data = b"".join(page)
                member.write(data)
                self._progress.add(len(data), len(page))
                if collection == OBJECTS.name:
                    for file in filter(None, map(StoredFile.of, page)):
                        self._spool.add(file)

            await _in_thread(self._database.pages(collection, self._moment), write)
        return member.sha256

    async def copy_files(self, settings: Settings) -> dict[str, Any]:
        """Copy the files, and return how many there are, and which of them are missing or damaged."""
        taken, missing, damaged = 0, [], []
        if self._spool.count:
            async with open_files(settings) as storage:
                for file in self._spool:
                    blocks = await read_file(storage, file)
                    if blocks is None:  # a file without references: the sweep may remove such files at any time
                        missing.append(file.key)
                        continue
                    if not await self._copy_file(file, blocks):
                        damaged.append(file.key)
                    taken += 1
        return {"count": taken, **_counted("missing", missing), **_counted("damaged", damaged)}

    async def _copy_file(self, file: StoredFile, blocks: AsyncIterator[bytes]) -> bool:
        """Copy a file, and return whether it is what its record says; one that ends early is filled up with zeros."""
        with self._archive.file(file.visibility, file.key, file.size) as member:

            def write(block: bytes) -> None:
                member.write(block)
                self._progress.add(len(block))

            await _in_thread(blocks, write)
            is_whole = not member.left
            while member.left > 0:
                member.write(bytes(min(member.left, BLOCK_BYTES)))
        self._progress.add(0, files=1)
        return is_whole and file.sha256 in (None, member.sha256)


def _counted(name: str, keys: Sequence[str]) -> dict[str, Any]:
    return {name: len(keys), f"{name}_keys": keys[:_MOST_NAMED]}


async def _in_thread(parts: AsyncIterator[Part], write: Callable[[Part], None]) -> None:
    """Call `write` with each part in a thread, in order, while the next part is read."""
    writing: asyncio.Task[None] | None = None
    try:
        async for part in parts:
            if writing is not None:
                await asyncio.shield(writing)  # the thread cannot be cancelled
            writing = asyncio.create_task(asyncio.to_thread(write, part))
    finally:
        if writing is not None:
            await asyncio.wait([writing])
    if writing is not None:
        writing.result()
