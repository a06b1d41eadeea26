"""What the tests of this folder share: one company with demo data, and one browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.commands.fetch_console import fetch, home_of
from plugins.testing import Client, People
from tests.browser.browser import CHROMIUM, DRIVER, Console, do
from tests.support.demo import serving_demo
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker


@pytest.fixture(scope="session")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with demo data and what these tests make: what others leave behind may be what a person sees first."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("company"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def admin(io_loop: IOLoop, company: Running) -> Client:
    """The super administrator of the company."""
    client: Client = io_loop.run_sync(lambda: Client(company.url).log_in("admin"))
    return client


@pytest.fixture(scope="session")
def people(admin: Client) -> People:
    """Creates people of the company."""
    return People(admin)


@pytest.fixture(scope="session")
def maker(admin: Client, company: Running) -> Maker:
    """Makes records of the company."""
    return Maker(admin, HAND_MADE, company.catalogue)


@pytest.fixture(scope="session")
def the_browser(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A browser. What needs it is skipped where there is none."""
    # a browser is no package of Python's: `scripts/test` cannot bring it
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromedriver are not installed")
    fetch(home_of(sys.executable))
    started = Console(tmp_path_factory.mktemp("chromium"))
    yield started
    started.browser.quit()


@pytest.fixture
def console(io_loop: IOLoop, the_browser: Console) -> Iterator[Console]:
    """The browser, which shows nothing yet."""
    yield the_browser
    io_loop.run_sync(lambda: do(the_browser.leave))
