"""Two dozen kills of a server and of `mongod`, in turn, with the proofs of the daily tests."""

import pytest

from tests.experiments.system import test_killed_processes as daily

found = daily.found
globals().update({name: test for name, test in vars(daily).items() if name.startswith("test_")})


@pytest.fixture(scope="module")
def rounds() -> int:
    """How often both are killed."""
    return 12
