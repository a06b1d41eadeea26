"""Fixtures of the files tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from tests.api.files.places import Place, place


@pytest.fixture(scope="module")
def here(
    request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """A server with local files; for tests that are marked `on_both`, one with files in S3 too."""
    if getattr(request, "param", "local") == "local":
        yield request.getfixturevalue("local")
        return
    block = place(mongodb_uri, tmp_path_factory.mktemp("s3"), request.getfixturevalue("s3"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def local(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server with local files, for tests that do not depend on the storage."""
    block = place(mongodb_uri, tmp_path_factory.mktemp("local-only"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
