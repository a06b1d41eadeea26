"""After random moves of people and customers everybody lists what the model says, with more seeds than every day."""

import pytest

from plugins.testing import Client, People
from tests.api.crm.test_responsible_department import check_moves

pytestmark = pytest.mark.gen_test(timeout=60)


@pytest.mark.parametrize("seed", range(1, 6))
async def test_after_more_random_moves_everybody_lists_what_the_model_says(
    admin: Client, people: People, seed: int
) -> None:
    await check_moves(admin, people, seed)
