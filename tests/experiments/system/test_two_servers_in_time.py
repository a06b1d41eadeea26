"""What is changed through one server is in force on the other within two seconds (CONTRACT 5): the daily tests, timed."""

import pytest

from tests.system import test_two_servers as daily

pytestmark = daily.pytestmark
pair = daily.pair
globals().update({name: test for name, test in vars(daily).items() if name.startswith("test_")})


@pytest.fixture(autouse=True)
def _within_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "LIMIT_SECONDS", 2.0)
