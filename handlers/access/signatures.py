"""Signed links, which need no token: HMAC-SHA256 over what they allow and when they expire."""

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

    def sign(self, purpose: str, values: Mapping[str, Any], expires: int) -> str:
        """Return the signature that allows `purpose` with these `values` until `expires`, in seconds since 1970."""
        return _sign(self._secrets[0], purpose, values, expires)

    def make_query(self, purpose: str, values: Mapping[str, Any], seconds: int) -> str:
        """Return the query string that allows `purpose` with these `values` for `seconds`."""
        expires = int(time.time()) + seconds
        return urlencode({**values, "expires": expires, "signature": self.sign(purpose, values, expires)})

    def is_valid(self, purpose: str, values: Mapping[str, Any], expires: int, signature: str) -> bool:
        """Return whether the signature is valid for `purpose` with these `values`, and has not expired."""
        given = signature.encode()
        genuine = [
            hmac.compare_digest(given, _sign(secret, purpose, values, expires).encode()) for secret in self._secrets
        ]
        return any(genuine) and expires > time.time()


def _sign(secret: str, purpose: str, values: Mapping[str, Any], expires: int) -> str:
    key = hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).digest()
    # urlencode separates the values unambiguously
    signed = urlencode(sorted({**values, "expires": expires}.items()))
    return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()
