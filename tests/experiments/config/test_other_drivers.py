"""What the daily tests prove of the default driver holds for the two others: the same tests, with another setting."""

import pytest

from tests.support.other_settings import passes

PATHS = (
    "tests/api/handlers/data",
    "tests/system/config/test_indexes.py",
    "tests/system/config/test_keyed_locks.py",
    "tests/experiments/database/test_orphans.py",
    "tests/experiments/database/test_replica_set.py",
    "tests/system/config/test_waiting.py",
    "tests/experiments/faults/test_database_away.py",
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("driver", ["motor", "pymongo"])
def test_the_daily_tests_pass_over_each_driver(driver: str, path: str, mongodb_uri: str) -> None:
    passes(path, mongodb_uri, TRADEWIND_MONGODB_DRIVER=driver)
