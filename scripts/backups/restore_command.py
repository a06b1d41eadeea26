"""What `scripts/restore` does: put a backup into a new database, or prove that it could be."""

from __future__ import annotations

import argparse
import json
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from config.database.raw_documents import RawDatabase
from config.settings import Settings
from scripts.backups.archive import ArchiveReader, Kind
from scripts.backups.errors import BackupError
from scripts.backups.kept_settings import write_settings
from scripts.backups.keys import backup_secret
from scripts.backups.restoring import finish, restore, undo
from scripts.backups.running import DONE, EXIT_CODES, exit_code_of, run, written_to
from scripts.backups.stored_files import FileTarget, NoTarget, Spool, StorageTarget, open_files

_EXAMPLES = """examples:
  {0} today.backup --list           what is in it; every byte is checked
  {0} today.backup --check          restores it into a temporary database, compares, drops that
  {0} today.backup --into tradewind2
                                                then start servers with TRADEWIND_MONGODB_DATABASE=tradewind2
  {0} today.backup --list --settings-to restored.env

"""
_NAME = re.compile("[A-Za-z0-9_-]{1,38}")  # as TRADEWIND_MONGODB_DATABASE


def main(arguments: Sequence[str], program: str = "scripts/restore", folder: str = "") -> int:
    """Restore, check or list a backup; the exit code. Paths are relative to `folder`."""
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
    parser.add_argument("--key-file", type=path, help="the key is in this file, not in TRADEWIND_BACKUP_KEY")
    parser.add_argument(
        "--settings-to", type=path, metavar="FILE", help="write the settings that it holds to a new file"
    )
    parser.add_argument("--json", action="store_true", help="say what is in it as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    if chosen.into is not None and not _NAME.fullmatch(chosen.into):
        parser.error("--into takes the name of a database: letters, digits, _ and -, at most 38")
    return exit_code_of("restore", lambda: _restore(chosen))


def _restore(chosen: argparse.Namespace) -> int:
    if chosen.settings_to is not None and chosen.settings_to.exists():
        raise BackupError(f"{chosen.settings_to} exists already: name a new file.")
    with chosen.file.open("rb") as source:
        reader = ArchiveReader(source, chosen.file.name, backup_secret(chosen.key_file))
        if chosen.list:
            manifest = read_through(reader)
        else:
            given: dict[str, Any] = {"demo": True} if chosen.demo else {}
            settings = Settings(**given)
            with written_to(settings) as uri:
                name = chosen.into or f"tradewind_check_{secrets.token_hex(4)}"
                manifest = run(restore_into(name, reader, settings, uri, keeps=chosen.into is not None))
    if chosen.settings_to is not None:
        write_settings(chosen.settings_to, reader.settings)
    print(json.dumps({**reader.header, **manifest}) if chosen.json else _sentences(chosen, reader, manifest))
    return DONE


def read_through(reader: ArchiveReader) -> dict[str, Any]:
    """Check every piece; the manifest."""
    manifest: dict[str, Any] = {}
    for kind, data in reader:
        if kind is Kind.MANIFEST:
            manifest = reader.parse(data)
    return manifest


async def restore_into(
    name: str, reader: ArchiveReader, settings: Settings, uri: str, keeps: bool = True
) -> dict[str, Any]:
    """Restore into the database `name` and the storage of files; if it `keeps` nothing, both are as before afterwards."""
    database = RawDatabase(uri, name)
    try:
        async with _file_target(settings, keeps) as files:
            manifest = await restore(reader, database, files)
            await finish(database, files, settings, uri)
            if not keeps:
                await undo(database, files)
        return manifest
    finally:
        await database.close()


@asynccontextmanager
async def _file_target(settings: Settings, keeps: bool) -> AsyncIterator[FileTarget]:
    if not keeps:
        yield NoTarget()
        return
    with tempfile.TemporaryFile() as written, tempfile.TemporaryFile() as kept:
        async with open_files(settings) as storage:
            yield StorageTarget(storage, Spool(written), Spool(kept))


def _sentences(chosen: argparse.Namespace, reader: ArchiveReader, manifest: dict[str, Any]) -> str:
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
