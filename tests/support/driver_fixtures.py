"""What the tests of the drivers share."""

import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from tornado.ioloop import IOLoop

from config.database import Driver, open_driver
from tests.support.proxy import Proxy

LIMIT_MS = 1000  # of an operation behind the proxy


@pytest.fixture(scope="module")
def database_name() -> str:
    """A database of the module's own."""
    return f"test_{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def driver(driver_name: str, io_loop: IOLoop, mongodb_uri: str, database_name: str) -> Iterator[Driver]:
    """The driver called `driver_name` on this database."""
    made = open_driver(driver_name, mongodb_uri, database_name, 5000)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def things() -> str:
    """A collection that no other test uses."""
    return f"things_{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def proxy(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Proxy]:
    made = Proxy(urlsplit(mongodb_uri).port or 0)
    io_loop.run_sync(made.up)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture(scope="module")
def address(proxy: Proxy, mongodb_uri: str) -> str:
    """The database through the proxy."""
    parts = urlsplit(mongodb_uri)
    return f"mongodb://{parts.username}:{parts.password}@127.0.0.1:{proxy.port}/?directConnection=true&authSource=admin"


@pytest.fixture
def limit_ms() -> int:
    """The time limit of the driver behind the proxy."""
    return LIMIT_MS


@pytest.fixture
def behind(
    driver_name: str, limit_ms: int, io_loop: IOLoop, address: str, proxy: Proxy, database_name: str
) -> Iterator[Driver]:
    """The driver called `driver_name`, without a connection yet, behind the proxy, which is up before and after."""
    made = open_driver(driver_name, address, database_name, limit_ms)
    yield made
    proxy.delay = 0
    io_loop.run_sync(proxy.up)
    io_loop.run_sync(made.close)
