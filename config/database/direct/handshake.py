"""The first commands on a connection of the wire protocol: who the client is, and SCRAM-SHA-256 (RFC 5802, RFC 7677)."""

from __future__ import annotations

import hashlib
import hmac
import platform
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pymongo.saslprep import saslprep

from config.database.commands import APP_NAME
from config.version import VERSION

# https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md
HELLO: Mapping[str, Any] = {
    "hello": 1,
    "client": {
        "application": {"name": APP_NAME},
        "driver": {"name": "tradewind", "version": VERSION},
        "os": {"type": platform.system()},
    },
    "$db": "admin",
}


def primary_of(hello: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the host and port of the primary that the reply names; None if it names none."""
    primary = hello.get("primary")
    host, _, port = primary.rpartition(":") if isinstance(primary, str) else ("", "", "")
    sound = host and port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535
    return (host.strip("[]"), int(port)) if sound else None


MECHANISM = "SCRAM-SHA-256"
_FEWEST_ITERATIONS = 4096
_MOST_ITERATIONS = 1_000_000  # these take a second; MongoDB's default is 15,000


class ScramError(Exception):
    """A message of the server does not follow the RFC."""


class Scram:
    """One exchange: call `first`, then `final` with the server's first message, then `verify` with its last."""

    def __init__(self, user: str, password: str) -> None:
        self._password = password
        self._nonce = secrets.token_urlsafe(24)
        self._bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={self._nonce}"
        self._signature = b""

    def first(self) -> bytes:
        """Return the client's first message."""
        return f"n,,{self._bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        """Return the client's last message, with its proof. Raises `ScramError`."""
        try:
            fields = _fields(server_first)
            nonce, salt, iterations = fields.get("r", ""), b64decode(fields.get("s", "")), int(fields.get("i", "0"))
        except ValueError as error:
            raise ScramError("the server's first message cannot be read") from error
        if not nonce.startswith(self._nonce) or not _FEWEST_ITERATIONS <= iterations <= _MOST_ITERATIONS:
            raise ScramError("the server's first message is invalid")
        salted = _salted(self._password, salt, iterations)
        without_proof = f"c=biws,r={nonce}"
        exchanged = ",".join((self._bare, server_first.decode(), without_proof)).encode()
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        proof = hmac.digest(hashlib.sha256(client_key).digest(), exchanged, "sha256")
        self._signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), exchanged, "sha256")
        proven = bytes(one ^ other for one, other in zip(client_key, proof, strict=True))
        return f"{without_proof},p={b64encode(proven).decode()}".encode()

    def verify(self, server_final: bytes) -> None:
        """Raise `ScramError` unless the server proves that it knows the password."""
        try:
            signature = b64decode(_fields(server_final).get("v", ""))
        except ValueError as error:
            raise ScramError("the server's last message cannot be read") from error
        if not self._signature or not hmac.compare_digest(signature, self._signature):
            raise ScramError("the server does not prove that it knows the password")


@lru_cache(maxsize=8)
def _salted(password: str, salt: bytes, iterations: int) -> bytes:
    """Return the salted password; cached for all connections of a process, as by design it takes milliseconds."""
    return hashlib.pbkdf2_hmac("sha256", saslprep(password).encode(), salt, iterations)


def _fields(message: bytes) -> dict[str, str]:
    return {part[:1]: part[2:] for part in message.decode().split(",")}
