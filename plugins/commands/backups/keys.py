"""The key of backups: a secret, or a key of the age format (https://age-encryption.org/v1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyrage
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pydantic import SecretStr
from pyrage import x25519

from config.settings import EnvironmentSettings, secret_weakness
from plugins.commands.backups.progress import BackupError

_RECIPIENT, _IDENTITY = "age1", "AGE-SECRET-KEY-1"
_SALT = b"tradewind backup: age identity"
_CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # BIP 173, whose encoding age uses for its keys
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


class _Setting(EnvironmentSettings):
    """The only setting that is needed to read a backup, on a machine that may have no other settings yet."""

    backup_key: SecretStr = SecretStr("")


@dataclass(frozen=True)
class Key:
    """A recipient of age, which only encrypts; an identity of age; or any other secret, which one is derived from."""

    secret: str

    @cached_property
    def identity(self) -> str:
        """The identity that decrypts. Raises `BackupError` if the key is a recipient."""
        if self.secret.startswith(_RECIPIENT):
            raise BackupError("The key is a recipient, which only encrypts: give the identity of it by --key-file.")
        if self.secret.startswith(_IDENTITY):
            return self.secret
        scalar = Scrypt(salt=_SALT, length=32, n=1 << 14, r=8, p=1).derive(self.secret.encode())
        return _bech32("age-secret-key-", scalar).upper()

    @property
    def recipient(self) -> x25519.Recipient:
        """The recipient that backups are encrypted for."""
        if self.secret.startswith(_RECIPIENT):
            return x25519.Recipient.from_str(self.secret)
        return x25519.Identity.from_str(self.identity).to_public()


def backup_key(key_file: Path | None) -> Key | None:
    """Return the key of the file or of the settings, or None without one.

    Raises `BackupError` if it is weak or malformed, or `key_file` is given and cannot be read.
    """
    if key_file is None:
        named, secret = "TRADEWIND_BACKUP_KEY", _Setting().backup_key.get_secret_value()
        if not secret:
            return None
    else:
        named, secret = f"The key in {key_file}", _read(key_file)
    weakness = secret_weakness(secret)
    if weakness:
        raise BackupError(f"{named} {weakness}; make one with `openssl rand -base64 48`.")
    key = Key(secret)
    try:
        _ = key.recipient
    except (pyrage.RecipientError, pyrage.IdentityError) as error:
        raise BackupError(f"{named} is no key of age: {error}.") from error
    return key


def _read(key_file: Path) -> str:
    """Return the key in a file, which may be one of `age-keygen` with its comments."""
    try:
        text = key_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"The key file {key_file} cannot be read: {error}.") from error
    return next((line.strip() for line in text.splitlines() if line.startswith(_IDENTITY)), text)


def _bech32(prefix: str, data: bytes) -> str:
    """Encode bytes with a checksum, as BIP 173 says."""
    bits = "".join(f"{byte:08b}" for byte in data)
    values = [int(bits[at : at + 5].ljust(5, "0"), 2) for at in range(0, len(bits), 5)]
    checksum = 1
    for value in [*(ord(one) >> 5 for one in prefix), 0, *(ord(one) & 31 for one in prefix), *values, *[0] * 6]:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ value
        for at, term in enumerate(_GENERATOR):
            checksum ^= term if top >> at & 1 else 0
    checksum ^= 1
    values += [checksum >> 5 * (5 - at) & 31 for at in range(6)]
    return f"{prefix}1{''.join(_CHARACTERS[value] for value in values)}"
