"""Accounts of leave, against a model that goes from day to day."""

from random import Random

import pytest

from tests.support.leave_model import find_difference, make_case


@pytest.mark.parametrize("seed", range(2))
def test_an_account_has_the_balance_of_the_model_on_every_day(seed: int) -> None:
    random = Random(seed)
    assert [found for _ in range(20) if (found := find_difference(make_case(random)))] == []
