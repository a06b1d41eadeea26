"""The drivers that the setting `TRADEWIND_MONGODB_DRIVER` names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from pymongo.errors import PyMongoError

from config.database.direct.driver import DirectDriver
from config.database.direct.target import target_of
from config.database.driver import Driver
from config.database.libraries import async_pymongo, motor
from config.database.library_driver import LibraryDriver

_SWITCH_SECONDS = 0.0002


def _open_direct(uri: str, database: str, timeout_ms: int, figures: str) -> Driver:
    """Return the direct driver, or Motor alone for an address that the direct driver does not support."""
    library = LibraryDriver(motor(), uri, database, timeout_ms, figures)
    target = target_of(uri, database)
    return library if target is None else DirectDriver(library, target, timeout_ms)


def _open_motor(uri: str, database: str, timeout_ms: int, figures: str) -> Driver:
    """Return Motor. Its threads compete with the event loop for the interpreter: each gets it for 0.2 ms, not 5."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    return LibraryDriver(motor(), uri, database, timeout_ms, figures)


def _open_pymongo(uri: str, database: str, timeout_ms: int, figures: str) -> Driver:
    return LibraryDriver(async_pymongo(), uri, database, timeout_ms, figures)


DRIVERS: Mapping[str, Callable[[str, str, int, str], Driver]] = {
    "direct": _open_direct,
    "motor": _open_motor,
    "pymongo": _open_pymongo,
}


def open_driver(name: str, uri: str, database: str, timeout_ms: int, figures: str = "primary") -> Driver:
    """Return the driver called `name` on `database` at `uri`; raises ValueError for an invalid URI.

    `figures` is the read preference of the aggregations in `reading_from_secondaries`.
    """
    try:
        return DRIVERS[name](uri, database, timeout_ms, figures)
    except (PyMongoError, ValueError, OSError) as error:
        raise ValueError(f"TRADEWIND_MONGODB_URI is not usable: {error}") from error
