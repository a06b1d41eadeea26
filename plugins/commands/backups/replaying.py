"""Applies the changes that later files in the folder of a backup hold, up to a moment."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bson import Timestamp

from config.database.raw_changes import CannotApply, Event, RawChanges
from config.database.raw_documents import RawDatabase
from plugins.commands.backups.archive import ArchiveReader, Kind, moment_of
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.folders import CHANGES, header_of
from plugins.commands.backups.progress import Progress
from plugins.commands.backups.restoring import Pieces, split, undo
from plugins.commands.backups.stored_files import FileTarget, StoredFile
from plugins.files.records import OBJECTS

_INCREMENTS = 0xFFFFFFFF


def moment_to_reach(text: str) -> Timestamp:
    """Return the last moment before a point in time in ISO 8601 with its offset, for argparse."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no time as 2026-01-31T12:30:00+08:00") from error
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no offset from UTC: write {text}Z or {text}+08:00")
    return Timestamp(max(1, int(at.timestamp())) - 1, _INCREMENTS)


@dataclass(frozen=True)
class Later:
    """The changes in `folder` up to `until`, read as `ArchiveReader` reads with these."""

    folder: Path
    until: Timestamp
    secret: str
    unencrypted: bool

    def files(self, database: str, moment: Timestamp) -> Sequence[Path]:
        """Return the files that lead from `moment` of a database to `until`.

        Raises `BackupError` if one is missing, or if `moment` is later than `until`.
        """
        if moment > self.until:
            raise BackupError(f"The backup is of a later moment, {_told(moment)}: choose an earlier one.")
        wanted, reached = [], moment
        for since, end, path in self._spans(database):
            if since <= reached < end and reached < self.until:
                wanted.append(path)
                reached = end
        # changes committed in the same second as the last change of a file, but after it, are in the next file
        if reached.time < self.until.time:
            raise BackupError(
                f"The changes in {self.folder} that go on from this backup reach until {_told(reached)}, and no further."
            )
        return wanted

    def _spans(self, database: str) -> list[tuple[Timestamp, Timestamp, Path]]:
        headers = ((header_of(path), path) for path in self.folder.glob(f"*{CHANGES}"))
        spans = [
            (moment_of(header["since"]), moment_of(header["moment"]), path)
            for header, path in headers
            if header["database"] == database
        ]
        return sorted(spans)


async def replay(later: Later, database: RawDatabase, files: FileTarget, backup: ArchiveReader) -> Timestamp:
    """Apply the changes up to `later.until` to the restored backup, and return the moment of its new state.

    Raises `BackupError`, also for damage. After any failure everything that was restored is removed again.
    """
    moment = moment_of(backup.header["moment"])
    progress = Progress("Changes")
    try:
        for path in later.files(backup.header["database"], moment):
            with path.open("rb") as source:
                reader = ArchiveReader(source, path.name, later.secret, unencrypted=later.unencrypted)
                await _replay_file(reader, database, files, moment, later.until, progress)
                moment = moment_of(reader.header["moment"])
        await database.wait_until_durable()
        await files.remove_unknown(database)
    except BaseException as error:
        await undo(database, files)
        raise (BackupError(str(error)) if isinstance(error, CannotApply) else error) from error.__cause__
    finally:
        progress.end()
    return min(moment, later.until)


async def _replay_file(
    reader: ArchiveReader,
    database: RawDatabase,
    files: FileTarget,
    moment: Timestamp,
    until: Timestamp,
    progress: Progress,
) -> None:
    changes, pieces = RawChanges(database), Pieces(reader)
    try:
        kind = Kind.HEADER
        while kind is not Kind.MANIFEST:
            before, (kind, data) = kind, await pieces.take()
            if before is Kind.CHANGES is not kind:
                await database.wait_until_durable()  # before records are read
            if kind is Kind.CHANGES:
                events = list(_between(data, reader, moment, until))
                await changes.apply(events)
                progress.add(len(data), len(events))
            elif kind is Kind.FILE:
                file = StoredFile(**reader.parse(data))
                blocks = pieces.run(Kind.BYTES, progress)
                if await _is_stored(database, file):
                    await files.put(file, blocks)
                    progress.add(0, files=1)
                else:
                    await _pass_over(blocks)
        await pieces.check_end()
    finally:
        await pieces.close()


async def _is_stored(database: RawDatabase, file: StoredFile) -> bool:
    """Return whether the database has a record of this file that says it is stored."""
    return any(map(StoredFile.of, await database.named(OBJECTS.name, [file.key])))


async def _pass_over(blocks: AsyncIterator[bytes]) -> None:
    async for _ in blocks:
        pass


def _between(data: bytes, reader: ArchiveReader, moment: Timestamp, until: Timestamp) -> Iterator[Event]:
    """Yield the events of a piece that are after `moment` and not after `until`."""
    for document in split(data, reader):
        event = Event(document)
        if moment < event["clusterTime"] <= until:
            yield event


def _told(moment: Timestamp) -> str:
    return datetime.fromtimestamp(moment.time, UTC).isoformat().replace("+00:00", "Z")
