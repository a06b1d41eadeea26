"""Many accounts of leave with random rules, grants, leave and expiry, against the model; daily there are forty."""

from random import Random

import pytest

from tests.support.leave_model import find_difference, make_case


@pytest.mark.parametrize("seed", range(100, 140))
def test_an_account_has_the_balance_of_the_model_on_every_day(seed: int) -> None:
    random = Random(seed)
    assert [found for _ in range(150) if (found := find_difference(make_case(random)))] == []
