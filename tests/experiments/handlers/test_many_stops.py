"""Servers that stop one after the other lose no request of those who write to them, on either connection."""

import pytest

from tests.experiments.handlers.test_draining import test_writers_on_kept_connections_lose_nothing

__all__ = ["test_writers_on_kept_connections_lose_nothing"]
pytestmark = pytest.mark.gen_test(timeout=60)


@pytest.fixture
def turns() -> int:
    return 5


@pytest.fixture(params=["fast", "tornado"])
def http(request: pytest.FixtureRequest) -> str:
    return str(request.param)
