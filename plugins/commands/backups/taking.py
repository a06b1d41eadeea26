"""Takes a backup: all documents as of one moment, or the changes since one, then the files that they refer to."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

from bson import Timestamp

from config.database.raw_changes import Event, RawChanges
from config.database.raw_documents import RawDatabase, RawDocument
from config.settings import Settings
from handlers.operations.process_metrics import BACKUPS
from plugins.commands.backups.archive import ArchiveWriter, Kind, described_moment
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.progress import Progress
from plugins.commands.backups.sealing import Seal
from plugins.commands.backups.stored_files import Spool, StoredFile, open_files, read_file
from plugins.commands.backups.tally import Tally
from plugins.files.records import OBJECTS

_MOST_NAMED = 20
Part = TypeVar("Part")


async def take(
    database: RawDatabase, settings: Settings, kept_settings: Mapping[str, str], output: BinaryIO, seal: Seal | None
) -> dict[str, Any]:
    """Write a backup of the database and of its files to `output`; return the manifest with the size and the seconds.

    Raises `BackupError` and `SnapshotLost`.
    """
    names = await database.collections()
    if not names:
        raise BackupError(f"The database {database.name} is empty: there is nothing to back up.")
    if await database.is_unfinished():
        raise BackupError(f"The database {database.name} is being restored, or a restore into it was killed.")
    progress = Progress("Backup", sum([await database.estimate(name) for name in names]))
    moment = await database.begin(names)
    about = {"database": database.name, "moment": described_moment(moment)}
    archive = ArchiveWriter(output, about, seal)
    archive.describe(Kind.SETTINGS, kept_settings)
    try:
        with tempfile.TemporaryFile() as spooled:
            taking = Taking(database, moment, archive, Spool(spooled), progress)
            collections = {name: await taking.copy(name) for name in names}
            files = await taking.copy_files(settings)
    finally:
        progress.end()
    manifest = {**about, "collections": collections, "files": files}
    archive.describe(Kind.MANIFEST, manifest)
    return {**manifest, "size": archive.size, "seconds": round(progress.seconds, 1)}


async def take_changes(
    database: RawDatabase, settings: Settings, since: Timestamp, output: BinaryIO, seal: Seal | None
) -> dict[str, Any]:
    """Write the changes since a moment to `output`; return the manifest with the size and the seconds.

    Raises the same errors as `take`, and `ChangesLost`.
    """
    await RawChanges(database).mark(BACKUPS)
    moment = await database.now(BACKUPS)
    progress = Progress("Changes")
    about = {"database": database.name, "since": described_moment(since), "moment": described_moment(moment)}
    archive = ArchiveWriter(output, about, seal)
    try:
        with tempfile.TemporaryFile() as spooled:
            taking = Taking(database, moment, archive, Spool(spooled), progress)
            count = await taking.copy_changes(since)
            files = await taking.copy_files(settings)
    finally:
        progress.end()
    manifest = {**about, "changes": count, "collections": {}, "files": files}
    archive.describe(Kind.MANIFEST, manifest)
    return {**manifest, "size": archive.size, "seconds": round(progress.seconds, 1)}


class Taking:
    """One backup that is being written."""

    def __init__(
        self, database: RawDatabase, moment: Timestamp, archive: ArchiveWriter, spool: Spool, progress: Progress
    ) -> None:
        self._database = database
        self._moment = moment
        self._archive = archive
        self._spool = spool
        self._progress = progress

    async def copy(self, collection: str) -> dict[str, Any]:
        """Copy a collection, and return its entry in the manifest."""
        self._archive.describe(Kind.COLLECTION, {"name": collection})
        tally = Tally()

        def write(page: Sequence[RawDocument]) -> None:
            data = tally.add(page)
            self._archive.write(Kind.DOCUMENTS, data)
            self._progress.add(len(data), len(page))
            if collection == OBJECTS.name:
                for file in filter(None, map(StoredFile.of, page)):
                    self._spool.add(file)

        await _in_thread(self._database.pages(collection, self._moment), write)
        return tally.as_json()

    async def copy_changes(self, since: Timestamp) -> int:
        """Copy the changes since a moment, and return how many there are."""
        pages = [0]

        def write(page: Sequence[Event]) -> None:
            data = b"".join(event.raw for event in page)
            self._archive.write(Kind.CHANGES, data)
            self._progress.add(len(data), len(page))
            pages.append(len(page))

        await _in_thread(self._with_their_files(RawChanges(self._database).since(since, self._moment, BACKUPS)), write)
        return sum(pages)

    async def _with_their_files(self, pages: AsyncIterator[list[Event]]) -> AsyncIterator[list[Event]]:
        """Yield the same pages; add the files that their events concern, and that are stored by now, to the spool."""
        async for page in pages:
            of_files = (event for event in page if "documentKey" in event and event["ns"]["coll"] == OBJECTS.name)
            if keys := {event["documentKey"]["_id"] for event in of_files}:
                for file in filter(None, map(StoredFile.of, await self._database.named(OBJECTS.name, list(keys)))):
                    self._spool.add(file)
            yield page

    async def copy_files(self, settings: Settings) -> dict[str, Any]:
        """Copy the files, and return their entry in the manifest."""
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
        """Copy a file, and return whether it is what its record says."""
        self._archive.describe(Kind.FILE, vars(file))
        hashed, sizes = hashlib.sha256(), [0]

        def write(block: bytes) -> None:
            hashed.update(block)
            sizes.append(len(block))
            self._archive.write(Kind.BYTES, block)
            self._progress.add(len(block))

        await _in_thread(blocks, write)
        self._progress.add(0, files=1)
        return sum(sizes) == file.size and file.sha256 in (None, hashed.hexdigest())


def _counted(name: str, keys: Sequence[str]) -> dict[str, Any]:
    return {name: len(keys), f"{name}_keys": keys[:_MOST_NAMED]}


async def _in_thread(parts: AsyncIterator[Part], write: Callable[[Part], None]) -> None:
    """Call `write` with each part in a thread, in order, while the next part is read."""
    writing: asyncio.Task[None] | None = None
    try:
        async for part in parts:
            if writing is not None:
                await writing
            writing = asyncio.create_task(asyncio.to_thread(write, part))
    finally:
        if writing is not None:
            await asyncio.wait([writing])
    if writing is not None:
        writing.result()
