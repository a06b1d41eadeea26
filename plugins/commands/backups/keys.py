"""The key of a backup: from the settings, or from a file."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from config.settings import EnvironmentSettings, secret_weakness
from plugins.commands.backups.errors import BackupError


class _Key(EnvironmentSettings):
    """The only setting that is needed to read a backup, on a machine that may have no other settings yet."""

    backup_key: SecretStr = SecretStr("")


def backup_secret(key_file: Path | None) -> str:
    """Return the secret that encrypts backups, or "" without one.

    Raises `BackupError` if the secret is weak, or `key_file` is given and cannot be read.
    """
    if key_file is None:
        named, secret = "TRADEWIND_BACKUP_KEY", _Key().backup_key.get_secret_value()
        if not secret:
            return ""
    else:
        named, secret = f"The key in {key_file}", _read(key_file)
    weakness = secret_weakness(secret)
    if weakness:
        raise BackupError(f"{named} {weakness}; make one with `openssl rand -base64 48`.")
    return secret


def _read(key_file: Path) -> str:
    try:
        return key_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"The key file {key_file} cannot be read: {error}.") from error
