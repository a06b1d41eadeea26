"""Opens the database of the settings, or says in a sentence why it cannot be used."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from config.database import (
    DatabaseRefused,
    DatabaseUnavailable,
    Driver,
    missing_set,
    missing_set_at,
    open_driver,
)
from config.settings import Settings
from plugins.listening import StartError


@asynccontextmanager
async def connected(settings: Settings, uri: str) -> AsyncIterator[Driver]:
    """A driver of a server that responds and belongs to the replica set of the address. Raises `StartError`."""
    try:
        driver = open_driver(
            settings.mongodb_driver,
            uri,
            settings.mongodb_database,
            settings.mongodb_timeout_ms,
            settings.mongodb_dashboards,
        )
    except ValueError as error:
        raise StartError(str(error)) from error
    try:
        await _check(driver, uri)
        yield driver
    finally:
        await driver.close()


async def _check(driver: Driver, uri: str) -> None:
    try:
        missing = missing_set(await driver.command({"hello": 1}))
    except DatabaseRefused as error:
        raise StartError("MongoDB refuses the user or the password in TRADEWIND_MONGODB_URI.") from error
    except DatabaseUnavailable as error:
        out_of_reach = "MongoDB does not respond: check TRADEWIND_MONGODB_URI and that the server runs."
        raise StartError(await missing_set_at(uri) or out_of_reach) from error
    if missing is not None:
        raise StartError(missing)


async def check_connection(settings: Settings, uri: str) -> None:
    """Raise `StartError` where the database cannot be used."""
    async with connected(settings, uri):
        pass
