"""The database: `open_driver` returns the `Driver` that the setting names.

`driver.py` is the interface. `library_driver.py` implements it over Motor or PyMongo, whose few differences are in
`libraries.py`. `direct/` wraps such a driver and sends single commands over the wire protocol itself.
"""

from config.database.batcher import Batcher
from config.database.commands import RESTORING, Document, Filter, Update, count_command
from config.database.driver import Change, Driver
from config.database.drivers import DRIVERS, open_driver
from config.database.errors import (
    AWAY_CODES,
    REPEATED_CODES,
    DatabaseRefused,
    DatabaseUnavailable,
    DuplicateKey,
    NoSuchIndex,
    translate_errors,
)
from config.database.indexes import IndexSpec, differences
from config.database.keyed_locks import WriteConflict
from config.database.members import missing_set, missing_set_at, reading_from_secondaries
from config.database.operations import MARGIN_SECONDS, create_separate_context, share_deadline, wait_for_shared_work
from config.database.traced_driver import TracedDriver

__all__ = [
    "AWAY_CODES",
    "DRIVERS",
    "MARGIN_SECONDS",
    "REPEATED_CODES",
    "RESTORING",
    "Batcher",
    "Change",
    "DatabaseRefused",
    "DatabaseUnavailable",
    "Document",
    "Driver",
    "DuplicateKey",
    "Filter",
    "IndexSpec",
    "NoSuchIndex",
    "TracedDriver",
    "Update",
    "WriteConflict",
    "count_command",
    "create_separate_context",
    "differences",
    "missing_set",
    "missing_set_at",
    "open_driver",
    "reading_from_secondaries",
    "share_deadline",
    "translate_errors",
    "wait_for_shared_work",
]
