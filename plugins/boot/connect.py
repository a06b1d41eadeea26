"""Opens the database of the settings, or says in a sentence why it cannot be used."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from config.database import (
    DatabaseRefused,
    DatabaseUnavailable,
    Driver,
    missing_set,
    missing_set_at,
    open_driver,
)
from config.settings import Settings
from config.tls import CertificateError
from plugins.boot.listen import StartError

_SETTING = "TRADEWIND_MONGODB_URI"
_NOT_BELIEVED = re.compile(r"certificate verify failed: ([^(\]]+)")


@asynccontextmanager
async def connected(settings: Settings, uri: str) -> AsyncIterator[Driver]:
    """Open a driver of a server that responds and belongs to the replica set of the address. Raises `StartError`."""
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
        hello = await driver.command({"hello": 1})
    except DatabaseRefused as error:
        raise StartError("MongoDB refuses the user or the password in TRADEWIND_MONGODB_URI.") from error
    except DatabaseUnavailable as error:
        out_of_reach = "MongoDB does not respond: check TRADEWIND_MONGODB_URI and that the server runs."
        why = _unusable_certificate(uri, str(error)) or await missing_set_at(uri)
        raise StartError(why or out_of_reach) from error
    if (missing := missing_set(hello)) is not None:
        raise StartError(missing)
    if not hello.get("isWritablePrimary", True):
        advice = "name all members, without directConnection"
        raise StartError(f"{_SETTING} leads to a member of the replica set that takes no writes: {advice}.")


def _unusable_certificate(uri: str, failure: str) -> str | None:
    """Return a sentence if a certificate is the cause of the failure, else None.

    It is MongoDB's certificate, or our own, whose refusal MongoDB does not explain.
    """
    if found := _NOT_BELIEVED.search(failure):
        return f"The certificate of MongoDB is not accepted, {found[1].strip()}: check it, and tlsCAFile in {_SETTING}."
    options = {name.lower(): value for name, value in parse_qsl(urlsplit(uri).query)}
    if own := options.get("tlscertificatekeyfile"):
        from config.tls import check_dates  # late, because few starts need it

        try:
            check_dates(_SETTING, Path(own))
        except CertificateError as error:
            return str(error)
    return None


async def check_connection(settings: Settings, uri: str) -> None:
    """Raise `StartError` if the database cannot be used."""
    async with connected(settings, uri):
        pass
