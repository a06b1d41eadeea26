"""Signed URLs, which need no token: HMAC-SHA256 over what they allow and the expiry time."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode


class Signatures:
    """Signs with the first secret and verifies with all of them. A separate key is derived for each purpose."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secrets)

    def make_query(self, purpose: str, values: Mapping[str, Any], seconds: int) -> str:
        """Return the query string that allows `purpose` with these `values` for `seconds`."""
        expires = int(time.time()) + seconds
        signature = _sign(self._secrets[0], purpose, values, expires)
        return urlencode({**values, "expires": expires, "signature": signature})

    def is_valid(self, purpose: str, values: Mapping[str, Any], expires: int, signature: str) -> bool:
        """Return whether the signature is valid for `purpose` with these `values`, and has not expired."""
        given = signature.encode()
        genuine = [
            hmac.compare_digest(given, _sign(secret, purpose, values, expires).encode()) for secret in self._secrets
        ]
        return any(genuine) and expires > time.time()


def _sign(secret: str, purpose: str, values: Mapping[str, Any], expires: int) -> str:
    key = hmac.new(secret.encode(), f"files:{purpose}".encode(), hashlib.sha256).digest()
    # urlencode separates the values unambiguously
    signed = urlencode(sorted({**values, "expires": expires}.items()))
    return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()
