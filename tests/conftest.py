"""What every test has: the fixtures that integrators get too, and those of the tests over the whole registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tornado.ioloop import IOLoop

    from plugins.runtime import Running
    from plugins.testing import Client

pytest_plugins = ["plugins.testing", "tests.fixtures"]

PATIENCE = 5  # time limits are there to end a test that hangs, not to measure a busy machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every coroutine test its own limit several times over."""
    for item in items:
        marked = item.get_closest_marker("gen_test")
        if marked is not None and "timeout" in marked.kwargs:
            # a mark is shared by all cases of a test, so each gets one of its own
            item.add_marker(pytest.mark.gen_test(timeout=marked.kwargs["timeout"] * PATIENCE), append=False)


@pytest.fixture(scope="session")
def anonymous(io_loop: IOLoop, tradewind: Running) -> Client:
    """A client without a token. What it is denied must be explained, and so for everybody who logs in by it."""
    # here, as pytest wants to load its plugins before anybody else does
    from plugins.testing import Client
    from tests.denials import Explained

    admin: Client = io_loop.run_sync(lambda: Client(tradewind.url).log_in("admin"))
    return Client(tradewind.url, witness=Explained(admin))
