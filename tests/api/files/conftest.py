"""Fixtures of the files tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from tests.api.files.places import Place, place

KINDS: dict[str, dict[str, str]] = {"local": {}, "tornado": {"http": "tornado"}, "s3": {}}


@pytest.fixture(scope="module", params=KINDS)
def here(
    request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """A server with local files, the same behind Tornado's own HTTP connection, and one with files in S3."""
    if request.param == "local":
        yield request.getfixturevalue("local")
        return
    server = request.getfixturevalue("s3") if request.param == "s3" else None
    block = place(mongodb_uri, tmp_path_factory.mktemp(request.param), server, **KINDS[request.param])
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def local(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server with local files, for tests that do not depend on the storage."""
    block = place(mongodb_uri, tmp_path_factory.mktemp("local-only"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
