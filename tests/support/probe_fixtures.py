"""A server with the probe plugin for the tests of a file: to start one takes less than to keep it idle for the whole run."""

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.testing import Client, serving
from tests.support import probe


@pytest.fixture(scope="module")
def probed(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running server with the probe, and what it needs."""
    plugins = [*load_plugins(("auth", "rbac", "system")), probe.plugin]
    block = serving(mongodb_uri, tmp_path_factory.mktemp("probe"), plugins)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def probe_admin(io_loop: IOLoop, probed: Running) -> Client:
    """User 1 of that server."""
    client: Client = io_loop.run_sync(lambda: Client(probed.url).log_in("admin"))
    return client


@pytest.fixture(scope="module", params=["tornado", "fast"])
def either(
    request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A running server, once on Tornado's own HTTP connection and once on the fast one."""
    plugins = [*load_plugins(("auth", "rbac", "system")), probe.plugin]
    folder = tmp_path_factory.mktemp(request.param)
    block = serving(mongodb_uri, folder, plugins, http=request.param, request_seconds=10)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def either_admin(io_loop: IOLoop, either: Running) -> Client:
    """User 1 of that server."""
    client: Client = io_loop.run_sync(lambda: Client(either.url).log_in("admin"))
    return client
