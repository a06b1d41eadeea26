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
from plugins.commands.backups.kept_settings import write_settings
from plugins.commands.backups.keys import backup_key
from plugins.commands.backups.opening import open_backup
from plugins.commands.backups.pieces import Backup
from plugins.commands.backups.progress import BackupError
from plugins.commands.backups.restoring import finish, restore, undo
from plugins.commands.backups.running import BY_MONGODB, DONE, EXIT_CODES, exit_code_of, run, written_to
from plugins.commands.backups.stored_files import FileTarget, Spool, StorageTarget, open_files

_EXAMPLES = """examples:
  {0} today.backup --list           what is in it; every byte is checked
  {0} today.backup --check          restores it into a temporary database, compares, drops that
  {0} today.backup --into tradewind2
                                                then start servers with TRADEWIND_MONGODB_DATABASE=tradewind2
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
    parser.add_argument("--until", help=argparse.SUPPRESS)
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
    if chosen.into is not None and not _NAME.fullmatch(chosen.into):
        parser.error("--into takes the name of a database: letters, digits, _ and -, at most 38")
    return exit_code_of("restore", lambda: _restore(chosen))


def _restore(chosen: argparse.Namespace) -> int:
    if chosen.until is not None:
        raise BackupError(f"--until {BY_MONGODB}")
    if chosen.settings_to is not None and chosen.settings_to.exists():
        raise BackupError(f"{chosen.settings_to} exists already: name a new file.")
    key = backup_key(chosen.key_file)
    with chosen.file.open("rb") as source:
        backup = open_backup(source, chosen.file.name, key, unencrypted=chosen.unencrypted)
        backup.check()
        if not chosen.list:
            _restore_from(backup, chosen)
    if chosen.settings_to is not None:
        write_settings(chosen.settings_to, backup.settings)
    print(json.dumps(backup.manifest) if chosen.json else _sentences(chosen, backup.manifest))
    return DONE


def _restore_from(backup: Backup, chosen: argparse.Namespace) -> None:
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    settings = Settings(**given)
    name = chosen.into or f"tradewind_check_{secrets.token_hex(4)}"
    with written_to(settings) as uri, _reporting_a_full_disk(settings):
        run(restore_into(name, backup, settings, uri, chosen.into is not None))


@contextmanager
def _reporting_a_full_disk(settings: Settings) -> Iterator[None]:
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


async def restore_into(name: str, backup: Backup, settings: Settings, uri: str, keeps: bool = True) -> None:
    """Restore a backup that has been checked into the database `name` and the storage of files.

    Unless `keeps` is set, both are removed again afterwards.
    """
    database = RawDatabase(uri, name)
    try:
        async with _file_target(settings, keeps) as files:
            await restore(backup, database, files)
            await finish(database, files, settings, uri)
            if not keeps:
                await undo(database, files)
    finally:
        await database.close()


@asynccontextmanager
async def _file_target(settings: Settings, keeps: bool) -> AsyncIterator[FileTarget]:
    if not keeps:
        yield FileTarget()
        return
    with tempfile.TemporaryFile() as written, tempfile.TemporaryFile() as kept:
        async with open_files(settings) as storage:
            yield StorageTarget(storage, Spool(written), Spool(kept))


def _sentences(chosen: argparse.Namespace, manifest: dict[str, Any]) -> str:
    documents = sum(one["documents"] for one in manifest["collections"].values())
    what = (
        f"{documents:,} documents in {len(manifest['collections'])} collections and {manifest['files']['count']:,} "
        f"files of {manifest['database']} as of {manifest['moment']['at']}, by Tradewind {manifest['version']}"
    )
    if chosen.list:
        return f"{chosen.file.name} is whole: {what}."
    if chosen.check:
        return f"{chosen.file.name} restores: {what}. Counts and hashes are equal."
    return f"{chosen.into} has {what}. Counts and hashes are equal. Start servers with TRADEWIND_MONGODB_DATABASE={chosen.into}."
