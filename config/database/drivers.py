"""The drivers that the setting `TRADEWIND_MONGODB_DRIVER` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pymongo.errors import PyMongoError

from config.database.direct_driver import DirectDriver
from config.database.driver import Driver
from config.database.library_drivers import MotorDriver, PyMongoDriver

DRIVERS: Mapping[str, Callable[[str, str, int], Driver]] = {
    "direct": DirectDriver,
    "motor": MotorDriver,
    "pymongo": PyMongoDriver,
}


def open_driver(name: str, uri: str, database: str, timeout_ms: int) -> Driver:
    """The driver called `name` on `database` at `uri`; raises ValueError for a URI that is none."""
    try:
        return DRIVERS[name](uri, database, timeout_ms)
    except (PyMongoError, ValueError) as error:
        raise ValueError(f"TRADEWIND_MONGODB_URI is not usable: {error}") from error
