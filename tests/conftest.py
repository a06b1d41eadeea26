"""What every test has: the fixtures that integrators get too, and those of the tests over the whole registry."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator

import pytest

from config.process import exempt_what_exists

pytest_plugins = [
    "plugins.testing",
    "tests.support.scheduling",
    "tests.support.fixtures",
    "tests.support.probe_fixtures",
    "tests.support.driver_fixtures",
    "tests.support.data_fixtures",
    "tests.support.wecom_fixtures",
]

PATIENCE = 5  # time limits are there to end a test that hangs, not to measure a busy machine


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that make the tests of everything fewer or more."""
    parser.addoption(
        "--plugin",
        action="append",
        default=[],
        metavar="NAME",
        help="make the tests of every route and collection for those of this plugin only; may be repeated",
    )
    parser.addoption(
        "--explain-all",
        action="store_true",
        help="ask why for every denial, not once for each route, code and sentence",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Pass on the chosen plugins to where the modules with these tests are imported."""
    if config.option.plugin:
        os.environ["TRADEWIND_TEST_PLUGINS"] = " ".join(config.option.plugin)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is made here, and stays for the whole run, from the garbage collector, as the service does at a start."""
    gc.disable()
    try:
        return (yield)
    finally:
        exempt_what_exists()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every coroutine test its own limit several times over."""
    for item in items:
        marked = item.get_closest_marker("gen_test")
        if marked is not None and "timeout" in marked.kwargs:
            # a mark is shared by all cases of a test, so each gets one of its own
            item.add_marker(pytest.mark.gen_test(timeout=marked.kwargs["timeout"] * PATIENCE), append=False)


@pytest.fixture(scope="session", autouse=True)
def explained_denials(pytestconfig: pytest.Config) -> Iterator[None]:
    """What any client of any server is denied must be explained."""
    # here, as pytest wants to load its plugins before anybody else does
    from plugins.testing import Client
    from tests.support.denials import Explained

    witness = Explained(every=pytestconfig.option.explain_all)
    Client.response_hooks.append(witness)
    yield
    Client.response_hooks.remove(witness)
