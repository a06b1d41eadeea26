"""What the tests of the drivers share."""

import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from tornado.ioloop import IOLoop

from config.database import DRIVERS, Driver, open_driver
from scripts.fault_injection.processes import ReplicaSet
from tests.support.proxy import Proxy

LIMIT_MS = 1000  # of an operation behind the proxy


@pytest.fixture(scope="module")
def database_name() -> str:
    """A database of the module's own."""
    return f"test_{uuid.uuid4().hex[:12]}"


@pytest.fixture(params=sorted(DRIVERS), scope="module")
def driver(request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, database_name: str) -> Iterator[Driver]:
    """Each driver in turn, on this database."""
    made = open_driver(request.param, mongodb_uri, database_name, 5000)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def things() -> str:
    """A collection that no other test uses."""
    return f"things_{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    """A server with fault points."""
    made = ReplicaSet(tmp_path_factory.mktemp("failing") / "set", members=1, election_ms=2000, failpoints=True)
    try:
        yield made.start()
    finally:
        made.stop()


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


@pytest.fixture(params=sorted(DRIVERS))
def behind(
    request: pytest.FixtureRequest, io_loop: IOLoop, address: str, proxy: Proxy, database_name: str
) -> Iterator[Driver]:
    """Each driver in turn, without a connection yet, behind the proxy, which is up before and after."""
    made = open_driver(request.param, address, database_name, LIMIT_MS)
    yield made
    proxy.delay = 0
    io_loop.run_sync(proxy.up)
    io_loop.run_sync(made.close)
