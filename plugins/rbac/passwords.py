"""Passwords: hashed with bcrypt outside the event loop, checked against the policy."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import secrets
import string
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import bcrypt
import pydantic

from plugins.api import EnvironmentSettings, Field, invalid, text
from plugins.api.errors import unavailable
from plugins.api.fields import HasSettings


class RbacSettings(EnvironmentSettings):
    """Passwords, and the first account."""

    admin_password: pydantic.SecretStr = pydantic.Field(
        pydantic.SecretStr(""),
        description="Password of user 1, `admin`, at the first start, within the policy; if empty, one is made up and printed.",
    )
    password_min_length: int = pydantic.Field(10, ge=8, le=128, description="Least number of characters in a password.")
    password_min_kinds: int = pydantic.Field(
        4,
        ge=1,
        le=4,
        description="Least number of kinds of characters in a password: upper case, lower case, digits, symbols.",
    )
    password_history: int = pydantic.Field(
        5, ge=0, le=24, description="How many earlier passwords, besides the current one, may not be used again."
    )
    bcrypt_cost: int = pydantic.Field(12, ge=4, le=16, description="bcrypt work factor; hashes are upgraded at log-in.")
    bcrypt_threads: int = pydantic.Field(1, ge=1, le=16, description="Threads that hash passwords.")
    bcrypt_queue: int = pydantic.Field(
        100, ge=1, description="How many passwords may wait for a hashing thread; more are refused with 50300."
    )
    handover_resume_seconds: float = pydantic.Field(
        30, gt=0, description="How often to look for handovers that another instance left unfinished, in seconds."
    )


Result = TypeVar("Result")
MAX_PASSWORD = 10_000
_NICENESS = 5
_BCRYPT_ALPHABET = "./" + string.ascii_letters + string.digits
_DIGEST_LENGTH = 31
SYMBOLS = "!@#$%^&*-_=+?"
_KINDS: tuple[Callable[[str], bool], ...] = (
    str.isupper,
    str.islower,
    str.isdigit,
    lambda character: not character.isalnum() and not character.isspace(),
)


def against_policy(service: HasSettings, password: str) -> str | None:
    """Return the rule `policy` if a new password is too short or mixes too few kinds of characters, else None."""
    settings = service.settings_of(RbacSettings)
    mixed = sum(any(map(kind, password)) for kind in _KINDS)
    fits = len(password) >= settings.password_min_length and mixed >= settings.password_min_kinds
    return None if fits else "policy"


def new_password(*, write_only: bool = False) -> Field:
    """Return the field of a request body that takes a new password."""
    return text(
        label=("密码", "Password"),
        required=True,
        max_length=MAX_PASSWORD,
        secret=True,
        check=against_policy,
        write_only=write_only,
    )


class Passwords:
    """The hashing threads, and the rules for new passwords."""

    def __init__(self, settings: RbacSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.bcrypt_threads, "bcrypt", initializer=_lower_priority)
        self._waiting = 0
        # a salt and a random digest, with which the password of an unknown user is compared, so that the refusal takes
        # as long as that of a wrong password
        digest = "".join(secrets.choice(_BCRYPT_ALPHABET) for _ in range(_DIGEST_LENGTH))
        self._nobody = bcrypt.gensalt(settings.bcrypt_cost).decode() + digest

    async def hash(self, password: str) -> str:
        """Return a salted hash of a password of any length."""
        salt = bcrypt.gensalt(self._settings.bcrypt_cost)
        hashed = await self._run(lambda: bcrypt.hashpw(_prehash(password), salt))
        return hashed.decode()

    async def matches(self, password: str, hashed: str | None) -> bool:
        """Return whether `password` matches `hashed`. Without a hash, return False after equally long work."""
        same = await self._run(lambda: self._compare(_prehash(password), hashed or self._nobody))
        return same and hashed is not None

    def _compare(self, password: bytes, hashed: str) -> bool:
        same = bcrypt.checkpw(password, hashed.encode())
        # each cost doubles the work: a hash of cost c and then those of c, c+1 … n-1 take as long as one of cost n, so
        # an old hash does not stand out
        for cost in range(_cost(hashed), self._settings.bcrypt_cost):
            bcrypt.hashpw(password, bcrypt.gensalt(cost))
        return same

    def outdated(self, hashed: str) -> bool:
        """Return whether the cost of the hash differs from the current setting."""
        return _cost(hashed) != self._settings.bcrypt_cost

    async def check_new(self, password: str, used: Sequence[str], field: str) -> None:
        """Raise 40001 for `field` if one of the hashes `used` matches this password."""
        for hashed in used:
            if await self.matches(password, hashed):
                raise invalid(field, "reused")

    def history(self, earlier: Sequence[str]) -> list[str]:
        """Return the hashes of earlier passwords to keep, oldest first."""
        kept = self._settings.password_history
        return list(earlier[-kept:]) if kept else []

    def make(self) -> str:
        """Return a random password that meets the policy."""
        alphabet = string.ascii_letters + string.digits + SYMBOLS
        body = [secrets.choice(alphabet) for _ in range(max(12, self._settings.password_min_length - 4))]
        kinds = (string.ascii_uppercase, string.ascii_lowercase, string.digits, SYMBOLS)
        made = body + [secrets.choice(kind) for kind in kinds]
        secrets.SystemRandom().shuffle(made)
        return "".join(made)

    async def _run(self, work: Callable[[], Result]) -> Result:
        if self._waiting >= self._settings.bcrypt_queue:
            raise unavailable()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _lower_priority() -> None:
    # a storm of log-ins must not slow other requests; only Linux has a priority per thread, others have it per process
    if sys.platform == "linux":
        os.nice(_NICENESS)


def _cost(hashed: str) -> int:
    return int(hashed.split("$")[2])


def _prehash(password: str) -> bytes:
    # bcrypt reads 72 bytes at most and stops at NUL
    return base64.b64encode(hashlib.sha256(password.encode()).digest())
