"""What the daily tests prove of the default HTTP connection holds for Tornado's own: the same tests, another setting."""

import pytest

from tests.support.other_settings import passes


@pytest.mark.parametrize("path", ["tests/api/handlers", "tests/system/handlers"])
def test_the_daily_tests_pass_on_the_other_connection(path: str, mongodb_uri: str) -> None:
    passes(path, mongodb_uri, TRADEWIND_HTTP="tornado")
