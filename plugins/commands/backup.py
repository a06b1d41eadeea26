"""The command `tradewind backup`: writes one file with everything that is needed to restore a service."""

from __future__ import annotations

import argparse
import errno
import fcntl
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from config.database import DatabaseUnavailable, open_driver
from config.database.raw_documents import RawDatabase
from config.settings import Settings
from handlers.operations.process_metrics import BACKUPS
from plugins.boot.registry import load_plugins
from plugins.commands.backups.encryption import Output, encrypting
from plugins.commands.backups.folders import new_name, partial_of, remove_abandoned, remove_old
from plugins.commands.backups.kept_settings import kept_settings
from plugins.commands.backups.keys import Key, backup_key
from plugins.commands.backups.progress import BackupError
from plugins.commands.backups.running import BY_MONGODB, DONE, EXIT_CODES, exit_code_of, read_from, run
from plugins.commands.backups.taking import take

_EXAMPLES = """examples:
  {0}                               to TRADEWIND_BACKUP_FOLDER
  {0} /mnt/backups --keep 14        to that folder, where the newest 14 stay
  {0} --key-file key today.backup   encrypted, to that file
  {0} - | ssh store 'cat > today.backup'
  {0} --identity                    the key with which `age` decrypts the backups

"""
_STANDARD_OUTPUT = "-"


def main(arguments: Sequence[str], program: str = "tradewind backup", folder: str = "") -> int:
    """Take a backup and print what is in it; return the exit code. Paths are relative to `folder`."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Writes all documents as they are at one moment, and the stored files, while the service runs.",
        epilog=_EXAMPLES.format(program) + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("to", nargs="?", help="a new file, a folder, or - for standard output")
    parser.add_argument("--key-file", type=Path, help="encrypt with the key in this file, not TRADEWIND_BACKUP_KEY")
    parser.add_argument(
        "--identity", action="store_true", help="take no backup, print the identity of `age` that decrypts them"
    )
    parser.add_argument("--changes", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=int, help="then remove all but so many backups of this database in the folder")
    parser.add_argument("--json", action="store_true", help="say what is in it as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    if chosen.keep is not None and chosen.keep < 1:
        parser.error("--keep takes at least 1")
    return exit_code_of("backup", lambda: _back_up(chosen, Path(folder)))


def _back_up(chosen: argparse.Namespace, folder: Path) -> int:
    if chosen.changes:
        raise BackupError(f"--changes {BY_MONGODB}")
    key = backup_key(chosen.key_file and folder / chosen.key_file)
    if chosen.identity:
        if key is None:
            raise BackupError("There is no key: give it as TRADEWIND_BACKUP_KEY or by --key-file.")
        print(key.identity)
        return DONE
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    settings = Settings(**given)
    given_path = chosen.to and folder / chosen.to
    in_folder = chosen.keep is not None
    path = None if chosen.to == _STANDARD_OUTPUT else _new_path(settings, given_path, in_folder=in_folder)
    with read_from(settings) as uri:
        with _opened(path) as output:
            taken: dict[str, Any] = run(back_up_to(output, settings, uri, key))
        run(_note(settings, uri, taken["moment"]["at"]))
    removed = remove_old(path.parent, settings.mongodb_database, chosen.keep) if path and chosen.keep else []
    report = {"file": str(path) if path else None, "encrypted": key is not None, **taken, "removed": removed}
    print(json.dumps(report) if chosen.json else _sentences(report), file=sys.stderr if path is None else sys.stdout)
    return DONE


async def back_up_to(output: BinaryIO, settings: Settings, uri: str, key: Key | None = None) -> dict[str, Any]:
    """Write a backup of the database and files of these settings, encrypted if there is a key; see `take`."""
    database, counted = RawDatabase(uri, settings.mongodb_database), Output(output)
    try:
        kept = kept_settings(settings, load_plugins(settings.plugins), with_secrets=key is not None)
        if key is None:
            taken = await take(database, settings, kept, counted)
        else:
            with encrypting(counted, key) as target:
                taken = await take(database, settings, kept, target)
        return {**taken, "size": counted.size}
    finally:
        await database.close()


async def _note(settings: Settings, uri: str, moment: str) -> None:
    """Record the moment of the backup in the database, for monitoring; if that fails, print a warning."""
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, settings.mongodb_timeout_ms)
    try:
        at = datetime.fromisoformat(moment)
        await driver.update_one(BACKUPS, {"_id": "last"}, {"$set": {"at": at}}, upsert=True)
    except DatabaseUnavailable as error:
        print(f"backup: monitoring does not know of it: {error}", file=sys.stderr)
    finally:
        await driver.close()


def _new_path(settings: Settings, given: Path | None, *, in_folder: bool) -> Path:
    """Return the path of a new backup: `given` itself, or a new name in it if it is a folder or, by `in_folder`, meant."""
    path = given or Path(settings.backup_folder or settings.data_dir / "backups")
    if given is None or in_folder:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_dir():
        remove_abandoned(path, settings.mongodb_database)
        path /= new_name(settings.mongodb_database)
    if path.exists():
        raise BackupError(f"{path} exists already: name a new file.")
    return path


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    """Give the block a file to write, which gets its name once it is complete, or standard output if `path` is None."""
    if path is None:
        if sys.stdout.isatty():
            raise BackupError("Standard output is a terminal: send the backup to a file or into a pipe.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    partial = partial_of(path)
    try:
        with closing(os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # shows that a process still writes the file
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise BackupError(
            f"There is no room left for the backup in {path.parent}, or for temporary files in "
            f"{tempfile.gettempdir()}: nothing of it is kept."
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _sentences(report: dict[str, Any]) -> str:
    documents = sum(one["documents"] for one in report["collections"].values())
    files = report["files"]
    lines = [
        f"{report['file'] or 'The backup'}: {documents:,} documents in {len(report['collections'])} collections and "
        f"{files['count']:,} files of {report['database']} as of {report['moment']['at']}, {report['size'] / 1e6:,.1f} MB"
        f"{', encrypted' if report['encrypted'] else ''}, in {report['seconds']:,.0f} s."
    ]
    if files["missing"]:
        lines.append(f"{files['missing']:,} files were removed while it ran: {', '.join(files['missing_keys'])}")
    if files["damaged"]:
        lines.append(f"{files['damaged']:,} files are not what was uploaded: {', '.join(files['damaged_keys'])}")
    if report["removed"]:
        lines.append(f"Removed: {', '.join(report['removed'])}")
    return "\n".join(lines)
