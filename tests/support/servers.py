"""Servers and helpers for the tests of log-ins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import jwt

from plugins.auth.records import LOGIN_LOGS
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, empty_database, serving
from tests.support.notes import NOTES_PLUGIN

PROFILE = "/api/v1/auth/profile"
PASSWORD_PATH = "/api/v1/auth/password"
REFRESH = "/api/v1/auth/refresh"
LOGIN = "/api/v1/auth/login"
WRONG = "Wrong-horse-8"


@asynccontextmanager
async def instances(uri: str, folder: Path, *each: dict[str, Any], **settings: Any) -> AsyncIterator[list[Running]]:
    """As many servers as `each` has entries, on one new database, with the settings of all and those of each."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(empty_database(uri))
        shared = {"mongodb_database": database, "jwt_secret": KEYS[0], **settings}
        yield [
            await stack.enter_async_context(
                serving(uri, folder, [*load_plugins(("auth", "rbac")), NOTES_PLUGIN], **{**shared, **own})
            )
            for own in each
        ]


KEYS = tuple(f"{number}-a-key-of-the-tests-with-enough-characters" for number in range(3))


def claims_of(token: str | None) -> dict[str, Any]:
    """The claims of a token, unchecked."""
    claims: dict[str, Any] = jwt.decode(str(token), options={"verify_signature": False})
    return claims


async def refresh(url: str, token: str) -> Reply:
    """Exchange a refresh token."""
    return await Client(url).post(REFRESH, {"refreshToken": token})


async def try_login(url: str, username: str, password: str = WRONG) -> Reply:
    """Attempt a log-in."""
    return await Client(url).post(LOGIN, {"username": username, "password": password})


async def logged(running: Running, **filter: Any) -> list[dict[str, Any]]:
    """The entries of the log-in log that match, oldest first."""
    return await running.service.database.store(LOGIN_LOGS).find(filter, sort="at")


async def state(url: str, token: str | None) -> int:
    """Return the code of a request with this access token."""
    return (await Client(url, token).get(PROFILE)).code
