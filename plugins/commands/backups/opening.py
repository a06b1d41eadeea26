"""Opens a backup of any format, if the key fits it."""

from __future__ import annotations

from typing import BinaryIO

from plugins.commands.backups import encryption, old_archive
from plugins.commands.backups.archive import GZIP_MAGIC, Archive
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.keys import Key
from plugins.commands.backups.old_archive import OldArchive
from plugins.commands.backups.pieces import Backup


def open_backup(source: BinaryIO, name: str, key: Key | None, *, unencrypted: bool = False) -> Backup:
    """Return the backup in `source`, which error messages call `name`, before anything of it is checked.

    With a key, a backup without encryption is refused, because whoever can write where backups lie could have made it;
    `unencrypted` accepts it all the same. Raises `BackupError`.
    """
    start = source.read(len(encryption.MAGIC))
    backup: Backup
    if start.startswith(old_archive.MAGIC):
        old = OldArchive(source, name, key)
        backup, is_encrypted = old, old.is_encrypted
    elif start.startswith((encryption.MAGIC, GZIP_MAGIC)):
        is_encrypted = start.startswith(encryption.MAGIC)
        backup = Archive(source, name, key if is_encrypted else None)
    else:
        raise BackupError(f"{name} is no backup of Tradewind.")
    if is_encrypted and key is None:
        raise BackupError(f"{name} is encrypted: give its key, as TRADEWIND_BACKUP_KEY or by --key-file.")
    if key is not None and not is_encrypted and not unencrypted:
        raise BackupError(
            f"{name} is not encrypted although there is a key, so anybody may have made it: "
            "with --unencrypted it is read all the same."
        )
    return backup
