"""The database: `open_driver` returns the `Driver` that the setting names.

`motor` and `pymongo` share everything but the few calls that differ between them; `direct_driver.py` replaces the
operations that stand alone.
"""

from config.database.commands import Document, Filter, count_command
from config.database.driver import Change, Driver
from config.database.drivers import DRIVERS, open_driver
from config.database.errors import (
    AWAY_CODES,
    REPEATED_CODES,
    DatabaseRefused,
    DatabaseUnavailable,
    DuplicateKey,
    NoSuchIndex,
    translated,
)
from config.database.indexes import IndexSpec, differences
from config.database.members import missing_set, missing_set_at
from config.database.operations import MARGIN_SECONDS, begin_waiting
from config.database.together import Together

__all__ = [
    "AWAY_CODES",
    "DRIVERS",
    "MARGIN_SECONDS",
    "REPEATED_CODES",
    "Change",
    "DatabaseRefused",
    "DatabaseUnavailable",
    "Document",
    "Driver",
    "DuplicateKey",
    "Filter",
    "IndexSpec",
    "NoSuchIndex",
    "Together",
    "begin_waiting",
    "count_command",
    "differences",
    "missing_set",
    "missing_set_at",
    "open_driver",
    "translated",
]
