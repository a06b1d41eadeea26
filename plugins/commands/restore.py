"""The command `tradewind restore`: restores a backup into a new database, or proves that it can be restored."""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from config.database import DatabaseUnavailable
from config.database.raw_documents import RawDatabase
from config.settings import Settings
from plugins.commands.backups.archive import ArchiveReader, Kind, described_moment, moment_of
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.kept_settings import write_settings
from plugins.commands.backups.keys import backup_secret
from plugins.commands.backups.replaying import Later, moment_to_reach, replay
from plugins.commands.backups.restoring import finish, restore, undo
from plugins.commands.backups.running import DONE, EXIT_CODES, exit_code_of, run, written_to
from plugins.commands.backups.stored_files import FileTarget, NoTarget, Spool, StorageTarget, StoredFile, open_files
from plugins.files.records import OBJECTS

_EXAMPLES = """examples:
  {0} today.backup --list           what is in it; every byte is checked
  {0} today.backup --check          restores it into a temporary database, compares, drops that
  {0} today.backup --into tradewind2
                                                then start servers with TRADEWIND_MONGODB_DATABASE=tradewind2
  {0} today.backup --into tradewind2 --until 2026-01-31T12:30:00+08:00
                                                and then the changes that its folder has of until then
  {0} today.backup --list --settings-to restored.env

"""
_NAME = re.compile("[A-Za-z0-9_-]{1,38}")  # the same limits as those of TRADEWIND_MONGODB_DATABASE
_LEAST_ROOM = 256 << 20  # bytes; with less the embedded `mongod` may end


def main(arguments: Sequence[str], program: str = "tradewind restore", folder: str = "") -> int:
    """Restore, check or list a backup, and return the exit code. Paths are relative to `folder`."""
    path = partial(Path, folder)
    parser = argparse.ArgumentParser(
        prog=program,
        description="Restores a backup into a new database and into the storage of files, or checks that it can be.",
        epilog=_EXAMPLES.format(program) + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=path, help="the backup")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--into", metavar="NAME", help="restore into this database, which must be empty, and the storage")
    what.add_argument("--check", action="store_true", help="prove that it restores, in a temporary database")
    what.add_argument("--list", action="store_true", help="check the file alone, without a database")
    parser.add_argument(
        "--until",
        type=moment_to_reach,
        metavar="TIME",
        help="go on with the changes (`backup --changes`) in the folder of the backup, up to this time",
    )
    parser.add_argument("--key-file", type=path, help="the key is in this file, not in TRADEWIND_BACKUP_KEY")
    parser.add_argument(
        "--unencrypted", action="store_true", help="also without encryption although there is a key: you trust the file"
    )
    parser.add_argument(
        "--settings-to", type=path, metavar="FILE", help="write the settings that it holds to a new file"
    )
    parser.add_argument("--json", action="store_true", help="say what is in it as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    if chosen.until is not None and chosen.list:
        parser.error("--until goes with --into or --check")
    if chosen.into is not None and not _NAME.fullmatch(chosen.into):
        parser.error("--into takes the name of a database: letters, digits, _ and -, at most 38")
    return exit_code_of("restore", lambda: _restore(chosen))


def _restore(chosen: argparse.Namespace) -> int:
    if chosen.settings_to is not None and chosen.settings_to.exists():
        raise BackupError(f"{chosen.settings_to} exists already: name a new file.")
    secret = backup_secret(chosen.key_file)
    with chosen.file.open("rb") as source:
        reader = ArchiveReader(source, chosen.file.name, secret, unencrypted=chosen.unencrypted)
        manifest = read_through(reader) if chosen.list else _restore_from(reader, chosen, secret)
    if chosen.settings_to is not None:
        write_settings(chosen.settings_to, reader.settings)
    print(json.dumps({**reader.header, **manifest}) if chosen.json else _sentences(chosen, reader, manifest))
    return DONE


def _restore_from(reader: ArchiveReader, chosen: argparse.Namespace, secret: str) -> dict[str, Any]:
    if "since" in reader.header:
        raise BackupError(f"{chosen.file.name} has changes alone: restore the backup before it, with --until.")
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    settings = Settings(**given)
    later = None
    if chosen.until is not None:
        later = Later(chosen.file.parent, chosen.until, secret, chosen.unencrypted)
    name = chosen.into or f"tradewind_check_{secrets.token_hex(4)}"
    with written_to(settings) as uri, _room_told(settings):
        restored: dict[str, Any] = run(restore_into(name, reader, settings, uri, chosen.into is not None, later))
    return restored


@contextmanager
def _room_told(settings: Settings) -> Iterator[None]:
    """Turn the loss of the database within the block into a `BackupError` that says so, if the disk is full."""
    try:
        yield
    except DatabaseUnavailable as error:
        free = shutil.disk_usage(settings.data_dir).free
        if settings.mongodb_uri.get_secret_value() or free > _LEAST_ROOM:
            raise
        raise BackupError(
            f"There is no room for the restored database: {settings.data_dir} has {free / 1e6:,.0f} MB left. "
            "Make room, drop what was begun, and restore again."
        ) from error


def read_through(reader: ArchiveReader) -> dict[str, Any]:
    """Check every piece, and return the manifest."""
    manifest: dict[str, Any] = {}
    for kind, data in reader:
        if kind is Kind.MANIFEST:
            manifest = reader.parse(data)
    return manifest


async def restore_into(
    name: str, reader: ArchiveReader, settings: Settings, uri: str, keeps: bool = True, later: Later | None = None
) -> dict[str, Any]:
    """Restore into the database `name` and the storage of files, and apply the changes of `later`; return the manifest.

    Unless `keeps` is set, both are removed again afterwards.
    """
    if later is not None:
        later.files(reader.header["database"], moment_of(reader.header["moment"]))  # fails before anything is written
    database = RawDatabase(uri, name)
    try:
        async with _file_target(settings, keeps) as files:
            manifest = await restore(reader, database, files)
            if later is not None:
                manifest["moment"] = described_moment(await replay(later, database, files, reader))
                manifest |= await _count_stored(database, manifest)
            await finish(database, files, settings, uri)
            if not keeps:
                await undo(database, files)
        return manifest
    finally:
        await database.close()


async def _count_stored(database: RawDatabase, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of documents and files of the manifest, as they are after the changes."""
    known = manifest["collections"]
    counts = {name: await database.estimate(name) for name in await database.collections()}
    stored = [1 async for page in database.pages(OBJECTS.name) for one in page if StoredFile.of(one)]
    return {
        "collections": {name: {**known.get(name, {}), "documents": count} for name, count in counts.items()},
        "files": {**manifest["files"], "count": len(stored)},
    }


@asynccontextmanager
async def _file_target(settings: Settings, keeps: bool) -> AsyncIterator[FileTarget]:
    if not keeps:
        yield NoTarget()
        return
    with tempfile.TemporaryFile() as written, tempfile.TemporaryFile() as kept:
        async with open_files(settings) as storage:
            yield StorageTarget(storage, Spool(written), Spool(kept))


def _sentences(chosen: argparse.Namespace, reader: ArchiveReader, manifest: dict[str, Any]) -> str:
    if "since" in manifest:
        return (
            f"{chosen.file.name} is whole: {manifest['changes']:,} changes and {manifest['files']['count']:,} files of "
            f"{manifest['database']} from {manifest['since']['at']} to {manifest['moment']['at']}."
        )
    documents = sum(one["documents"] for one in manifest["collections"].values())
    what = (
        f"{documents:,} documents in {len(manifest['collections'])} collections and {manifest['files']['count']:,} "
        f"files of {manifest['database']} as of {manifest['moment']['at']}, by Tradewind {reader.header['version']}"
    )
    if chosen.list:
        return f"{chosen.file.name} is whole: {what}."
    if chosen.check:
        return f"{chosen.file.name} restores: {what}. Counts and hashes are equal."
    return f"{chosen.into} has {what}. Counts and hashes are equal. Start servers with TRADEWIND_MONGODB_DATABASE={chosen.into}."
