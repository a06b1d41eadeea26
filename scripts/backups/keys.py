"""The key of a backup: that of the settings, or of a file."""

from __future__ import annotations

from pathlib import Path

from config.settings import Settings, secret_weakness
from scripts.backups.errors import BackupError


def backup_secret(settings: Settings, key_file: Path | None) -> str:
    """The secret that encrypts backups, or "" without one. Raises `BackupError` for a weak one or none in the file."""
    if key_file is None:
        return settings.backup_key.get_secret_value()
    try:
        secret = key_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"The key file {key_file} cannot be read: {error}.") from error
    weakness = secret_weakness(secret)
    if weakness:
        raise BackupError(f"The key in {key_file} {weakness}; make one with `openssl rand -base64 48`.")
    return secret
