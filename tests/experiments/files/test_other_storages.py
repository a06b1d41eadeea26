"""Every test of files that depends on where they are, on S3 and on a disk behind Tornado's own HTTP connection."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

import pytest
from tornado.ioloop import IOLoop

from tests.api.files import test_attachments, test_downloads, test_hostile, test_sweeping, test_uploads
from tests.api.files.places import Place, place

pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.fixture(scope="module", params=["tornado", "s3"])
def here(
    request: pytest.FixtureRequest, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """A server with files in S3, or else behind Tornado's own HTTP connection."""
    s3 = request.getfixturevalue("s3") if request.param == "s3" else None
    block = place(mongodb_uri, tmp_path_factory.mktemp(request.param), s3, http="fast" if s3 else "tornado")
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


for _module in (test_attachments, test_downloads, test_hostile, test_sweeping, test_uploads):
    for _name, _test in vars(_module).items():
        if _name.startswith("test_") and "here" in signature(_test).parameters:
            globals()[_name] = _test
