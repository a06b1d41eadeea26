"""The fixtures of Tradewind, and one server with the clinic for all tests."""

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, load_plugins, serving
from tradewind_clinic.plugin import plugin

pytest_plugins = ["plugins.testing"]


@pytest.fixture(scope="session")
def clinic(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The administrator of a company with a clinic."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("clinic"), plugins=[*load_plugins(()), plugin])
    running = io_loop.run_sync(block.__aenter__)
    yield io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
