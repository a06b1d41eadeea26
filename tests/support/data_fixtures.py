"""A database of one's own, over the driver that `TRADEWIND_MONGODB_DRIVER` names."""

import uuid
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from config.database import Driver, open_driver
from config.settings import Settings
from handlers.data.database import Database
from handlers.data.history.history import CHANGES
from handlers.data.sync.locks import LOCKS
from tests.support.holding import HOLDING
from tests.support.probe import WIDGETS
from tests.support.records import CHILDREN, COUNTERS_LOG, NOTES


@pytest.fixture(scope="session")
def driver_name() -> str:
    """The driver of this run."""
    return settings_of_tests().mongodb_driver


def settings_of_tests() -> Settings:
    """Settings for what is tested without a server."""
    return Settings(_env_file=None, demo=True)


def opened(driver_name: str, uri: str, name: str) -> Driver:
    """A driver on the database called `name`."""
    return open_driver(driver_name, uri, name, 5000)


@pytest.fixture(scope="session")
def database(io_loop: IOLoop, mongodb_uri: str, driver_name: str) -> Iterator[Database]:
    """A database with the collections of these tests, watched."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    collections = (WIDGETS, NOTES, CHILDREN, COUNTERS_LOG, CHANGES, LOCKS, *HOLDING)
    made = Database(opened(driver_name, mongodb_uri, name), collections)
    io_loop.run_sync(made.prepare)
    io_loop.run_sync(made.changes.start)
    yield made
    io_loop.run_sync(made.changes.stop)
    io_loop.run_sync(made.driver.close)


@pytest.fixture(scope="session")
def other_instance(io_loop: IOLoop, mongodb_uri: str, driver_name: str, database: Database) -> Iterator[Database]:
    """The same database as another process has it: with a connection and a change stream of its own."""
    name = io_loop.run_sync(lambda: database.driver.command({"dbStats": 1}))["db"]
    made = Database(opened(driver_name, mongodb_uri, name), database.collections.values())
    io_loop.run_sync(made.changes.start)
    yield made
    io_loop.run_sync(made.changes.stop)
    io_loop.run_sync(made.driver.close)
