"""Encrypts the pieces of a backup with a key of the operator (AES-256-GCM; the key is derived with scrypt)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

_COST, _BLOCKS = 1 << 14, 8  # 16 MiB of memory
_SALT_BYTES = 16
_NONCE_BYTES = 12


class Seal:
    """Encrypts and decrypts the pieces of one backup; its random `salt` makes its key different from all others."""

    def __init__(self, secret: str, salt: bytes) -> None:
        key = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCKS, p=1).derive(secret.encode())
        self._cipher = AESGCM(key)
        self.described: Mapping[str, str] = {
            "cipher": "AES-256-GCM",
            "salt": salt.hex(),
            # distinguishes a wrong key from damage; the hash of a derived key reveals nothing about the secret
            "fingerprint": hashlib.sha256(b"fingerprint" + key).hexdigest()[:16],
        }

    @classmethod
    def create(cls, secret: str) -> Seal:
        """Return a seal for a new backup."""
        return cls(secret, secrets.token_bytes(_SALT_BYTES))

    @classmethod
    def of(cls, secret: str, described: Mapping[str, str]) -> Seal | None:
        """Return the seal of a backup whose header has these values, or None if it was made with another secret."""
        seal = cls(secret, bytes.fromhex(described["salt"]))
        return seal if hmac.compare_digest(seal.described["fingerprint"], described["fingerprint"]) else None

    def close(self, number: int, data: bytes, about: bytes) -> bytes:
        """Encrypt piece `number`; `about` is authenticated with it."""
        return self._cipher.encrypt(number.to_bytes(_NONCE_BYTES), data, about)

    def open(self, number: int, data: bytes, about: bytes) -> bytes | None:
        """Decrypt piece `number`, or return None if it or `about` is not as it was encrypted."""
        try:
            return self._cipher.decrypt(number.to_bytes(_NONCE_BYTES), data, about)
        except InvalidTag:
            return None
