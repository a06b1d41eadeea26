"""Secrets and signatures, by https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

PREFIX = "whsec_"
_BYTES = 32


class Secrets:
    """Makes secrets, and encrypts them for the database with keys derived from the signing secrets of the service."""

    def __init__(self, signing_secrets: Sequence[str]) -> None:
        self._cipher = MultiFernet([_cipher(secret) for secret in signing_secrets])

    def make(self) -> tuple[str, bytes]:
        """Return a new secret, and what is stored of it."""
        secret = PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
        return secret, self._cipher.encrypt(secret.encode())

    def read(self, stored: bytes) -> str | None:
        """Return the secret, or None if the signing secrets of the service were replaced since."""
        try:
            return self._cipher.decrypt(stored).decode()
        except InvalidToken:
            return None


def signatures(given: Iterable[str], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the header `webhook-signature`: a signature with each of the secrets."""
    content = f"{message_id}.{timestamp}.".encode() + body
    signed = (hmac.digest(base64.b64decode(one.removeprefix(PREFIX)), content, "sha256") for one in given)
    return " ".join(f"v1,{base64.b64encode(one).decode()}" for one in signed)


def _cipher(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"webhook:" + secret.encode()).digest()))
