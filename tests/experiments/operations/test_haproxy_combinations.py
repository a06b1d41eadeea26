"""PROXY headers of the real HAProxy: every connection, version and transport that the daily tests leave out."""

from itertools import product
from pathlib import Path

import pytest

from tests.system.operations import test_haproxy as daily

pytestmark = daily.pytestmark
CELLS = sorted({*product(("tornado", "fast"), ("send-proxy", "send-proxy-v2"), (False, True))} - {*daily.CELLS})


@pytest.mark.parametrize(("http", "announced", "secured"), CELLS)
async def test_the_client_of_haproxy_is_known(
    mongodb_uri: str, tmp_path: Path, http: str, announced: str, secured: bool
) -> None:
    await daily.test_the_client_of_haproxy_is_known(mongodb_uri, tmp_path, http, announced, secured)
