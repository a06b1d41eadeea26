"""Each driver in turn."""

import pytest

from config.database import DRIVERS


@pytest.fixture(params=sorted(DRIVERS), scope="module")
def driver_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
