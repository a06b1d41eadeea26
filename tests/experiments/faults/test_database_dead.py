"""What the daily tests prove of a database that hangs, of one that refuses connections, or has lost those there were."""

import pytest

from tests.experiments.faults.conftest import Site
from tests.experiments.faults.test_database_away import (
    test_a_server_stops_in_time_without_its_database,
    test_changes_are_heard_of_again,
    test_it_serves_again_when_the_database_is_back,
    test_many_requests_at_once_all_get_503_within_the_time_limit,
)

__all__ = [
    "test_a_server_stops_in_time_without_its_database",
    "test_changes_are_heard_of_again",
    "test_it_serves_again_when_the_database_is_back",
    "test_many_requests_at_once_all_get_503_within_the_time_limit",
]
pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.fixture
def fault() -> str:
    return "dead"


async def test_changes_are_heard_of_again_where_connections_are_lost_without_a_word(site: Site) -> None:
    await test_changes_are_heard_of_again(site, "forgotten")
