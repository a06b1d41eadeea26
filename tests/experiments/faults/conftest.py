"""The site of the daily tests, with a `mongod` of its own that may be killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import acquire
from tests.system.config.faults.conftest import in_working_order, site, watchdog

__all__ = ["in_working_order", "site", "watchdog"]


@pytest.fixture(scope="session")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the `mongod` of these tests keeps its data."""
    return tmp_path_factory.mktemp("hurt")


@pytest.fixture(scope="session")
def site_mongodb(own_folder: Path) -> Iterator[str]:
    """A `mongod` that nobody else uses."""
    embedded = acquire(own_folder)
    yield embedded.uri
    embedded.release_and_wait(15)
