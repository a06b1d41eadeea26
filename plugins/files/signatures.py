"""Addresses that carry their own permission: HMAC-SHA256 over everything that they allow, and until when."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode


class Signatures:
    """Signs with the first key; verifies with every key that is still listed. Each purpose has keys of its own."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secrets)

    def query(self, purpose: str, values: Mapping[str, Any], seconds: int) -> str:
        """The query string that allows `purpose` with these `values` for so long."""
        expires = int(time.time()) + seconds
        signature = _signature(self._secrets[0], purpose, values, expires)
        return urlencode({**values, "expires": expires, "signature": signature})

    def holds(self, purpose: str, values: Mapping[str, Any], expires: int, signature: str) -> bool:
        """Whether the signature allows `purpose` with these `values` now."""
        given = signature.encode()
        genuine = [
            hmac.compare_digest(given, _signature(secret, purpose, values, expires).encode())
            for secret in self._secrets
        ]
        return any(genuine) and expires > time.time()


def _signature(secret: str, purpose: str, values: Mapping[str, Any], expires: int) -> str:
    key = hmac.new(secret.encode(), f"files:{purpose}".encode(), hashlib.sha256).digest()
    # urlencode, so that no value can end where another begins
    said = urlencode(sorted({**values, "expires": expires}.items()))
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()
