"""Fixtures of the WeCom tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from tests.support.wecom_platform import Platform, platform_on


@pytest.fixture(scope="module")
def wecom_servers(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Three servers on one database and one WeCom simulator."""
    block = platform_on(mongodb_uri, tmp_path_factory.mktemp("wecom"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture
def platform(wecom_servers: Platform) -> Iterator[Platform]:
    """The servers, with a WeCom that is sound and has counted nothing."""
    wecom = wecom_servers.wecom
    wecom.delay, wecom.broken, wecom.reject_tokens = 0, "", 0
    wecom.calls.clear()
    yield wecom_servers
    wecom.delay, wecom.broken, wecom.reject_tokens = 0, "", 0
