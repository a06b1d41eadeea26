"""`kill -9` of a server, then of `mongod`, amid everything that people do: nothing is lost, left, or done twice."""

from __future__ import annotations

import pytest
from tornado.ioloop import IOLoop

from tests.support import kills
from tests.support.kills import HANDED_OVER, TABS, Found

# far from the minute after which MongoDB itself would end the transactions of a killed instance
LIMIT_SECONDS = 15


@pytest.fixture(scope="module")
def rounds() -> int:
    """How often both are killed."""
    return 1


@pytest.fixture(scope="module")
def found(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory, rounds: int) -> Found:
    """What is found after the kills."""
    made: Found = io_loop.run_sync(
        lambda: kills.run(tmp_path_factory.mktemp("kills"), rounds), timeout=600 + 60 * rounds
    )
    return made


def test_the_history_of_every_record_is_exactly_what_was_written(found: Found) -> None:
    assert found.history == []


def test_the_ledgers_agree_and_nothing_acknowledged_is_lost(found: Found) -> None:
    assert found.differences == []
    assert found.lost == set()
    assert found.acknowledged > 0


def test_a_handover_goes_on_elsewhere_and_no_record_is_moved_twice(found: Found, rounds: int) -> None:
    assert all(moved < HANDED_OVER for moved in found.moved_before)
    assert found.handovers == [("finished", [HANDED_OVER], HANDED_OVER, 1)] * rounds


def test_nobody_is_locked_out_and_no_refresh_token_is_valid_twice(found: Found, rounds: int) -> None:
    assert found.tokens == {(0, 0, 0, 40102, 40102, 40100): TABS * rounds}


def test_what_a_killed_server_was_writing_is_gone_after_the_next_start(found: Found, rounds: int) -> None:
    assert found.uploads == [(True, True)] * rounds


def test_what_a_killed_instance_held_is_soon_free(found: Found, rounds: int) -> None:
    assert [code for code, _ in found.held] == [0, 0] * rounds
    assert max(seconds for _, seconds in found.held) < LIMIT_SECONDS
