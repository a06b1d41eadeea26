"""A server with the probe plugin for the tests of a file: to start one takes less than to keep it idle for the whole run."""

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from config.settings import Settings
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, serving
from tests.support import probe


@pytest.fixture(scope="session")
def http() -> str:
    """The HTTP connection of this run; a file may override it with the other one."""
    return Settings(_env_file=None, demo=True).http


@pytest.fixture(scope="module")
def probed(http: str, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running server with the probe, and what it needs."""
    plugins = [*load_plugins(("auth", "rbac", "system")), probe.plugin]
    block = serving(mongodb_uri, tmp_path_factory.mktemp("probe"), plugins, http=http)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def probe_admin(io_loop: IOLoop, probed: Running) -> Client:
    """User 1 of that server."""
    client: Client = io_loop.run_sync(lambda: Client(probed.url).log_in("admin"))
    return client
