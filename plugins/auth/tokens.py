"""Access and refresh tokens: JWTs made by PyJWT. HS256 is the only algorithm, and `kid` names the key."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import jwt
from jwt.types import Options
from lru import LRU

from plugins.api import ApiError
from plugins.api.errors import TOKEN_EXPIRED, UNAUTHENTICATED
from plugins.auth.errors import REFRESH_REFUSED

ALGORITHM = "HS256"
# `iat` is not checked (RFC 7519 section 4.1.6): another instance's clock may be a little ahead
_CHECKS: Options = {"require": ["exp", "jti"], "verify_iat": False}
VERIFIED_TOKENS = 20_000


class Tokens:
    """Signs with the first key; verifies with every listed key."""

    def __init__(self, secrets: Sequence[str], access: timedelta, refresh: timedelta) -> None:
        self._keys = {key_id(secret): secret for secret in secrets}
        self._current = key_id(secrets[0])
        # the claims of tokens with a verified signature; `Sessions` checks for each request that the session is live
        self._verified: LRU[str, dict[str, Any]] = LRU(VERIFIED_TOKENS)
        self.access_life = access
        self.refresh_life = refresh

    def access(self, user_id: int, roles: list[str], session_id: str, jti: str, now: datetime, until: datetime) -> str:
        """Return a new access token that expires at `until`."""
        claims = {"user_id": user_id, "roles": roles, "jti": jti, "sid": session_id}
        return self._sign({**claims, "iat": int(now.timestamp()), "exp": int(until.timestamp())})

    def refresh(self, user_id: int, session_id: str, jti: str, until: datetime) -> str:
        """Return the refresh token of these claims; equal claims give the same token."""
        return self._sign({"user_id": user_id, "jti": jti, "sid": session_id, "exp": int(until.timestamp())})

    def successors(self, jti: str) -> list[str]:
        """Return the identifiers that the successor of `jti` may have, one for each key, that of the current key first.

        They are keyed hashes, so only a holder of the keys can compute them.
        """
        message = f"successor:{jti}".encode()
        keys = [self._keys[self._current], *(key for kid, key in self._keys.items() if kid != self._current)]
        return [hmac.new(key.encode(), message, hashlib.sha256).hexdigest()[:32] for key in keys]

    def read_access(self, token: str) -> dict[str, Any]:
        """Return the claims of an access token. Raises 40101 if it expired and 40100 if it is invalid."""
        known = self._verified.get(token)
        if known is not None:
            if known["exp"] <= time.time():
                raise ApiError(TOKEN_EXPIRED)
            return known
        try:
            claims = self._verify(token)
        except jwt.ExpiredSignatureError as error:
            raise ApiError(TOKEN_EXPIRED) from error
        except jwt.InvalidTokenError as error:
            raise ApiError(UNAUTHENTICATED) from error
        if not isinstance(claims.get("roles"), list) or not _has_valid_types(claims):
            raise ApiError(UNAUTHENTICATED)
        self._verified[token] = claims
        return claims

    def read_refresh(self, token: str) -> dict[str, Any]:
        """Return the claims of a refresh token. Raises 40102 if it expired or is invalid."""
        try:
            claims = self._verify(token)
        except jwt.InvalidTokenError as error:
            raise ApiError(REFRESH_REFUSED) from error
        if "roles" in claims or not _has_valid_types(claims):
            raise ApiError(REFRESH_REFUSED)
        return claims

    def _sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self._keys[self._current], algorithm=ALGORITHM, headers={"kid": self._current})

    def _verify(self, token: str) -> dict[str, Any]:
        kid = jwt.get_unverified_header(token).get("kid")
        secrets = [self._keys[kid]] if kid in self._keys else list(self._keys.values()) if kid is None else []
        for secret in secrets:
            try:
                claims: dict[str, Any] = jwt.decode(token, secret, algorithms=[ALGORITHM], options=_CHECKS)
            except jwt.InvalidSignatureError:
                continue
            return claims
        raise jwt.InvalidTokenError("no key verifies this token")


def key_id(secret: str) -> str:
    """Return the public name of a key."""
    return hashlib.sha256(b"kid:" + secret.encode()).hexdigest()[:8]


def _has_valid_types(claims: dict[str, Any]) -> bool:
    # PyJWT accepts an `exp` that is a string of digits; RFC 7519 section 4.1.4 requires a number
    numbers = type(claims.get("user_id")) is int and type(claims.get("exp")) in (int, float)
    return numbers and all(isinstance(claims.get(name), str) for name in ("jti", "sid"))
