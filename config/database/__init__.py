"""The database behind one seam: `open_driver` gives the `Driver` that the setting names.

`motor` and `pymongo` share everything but the few calls that differ between them; `mongojet_driver.py` replaces the
operations that stand alone.
"""

from config.database.driver import Change, Document, Driver, Filter, Sort
from config.database.drivers import DRIVERS, open_driver
from config.database.errors import DatabaseRefused, DatabaseUnavailable, DuplicateKey
from config.database.indexes import IndexSpec, differences

__all__ = [
    "DRIVERS", "Change", "DatabaseRefused", "DatabaseUnavailable", "Document", "Driver", "DuplicateKey", "Filter", "IndexSpec",
    "Sort", "differences", "open_driver",
]  # fmt: skip
