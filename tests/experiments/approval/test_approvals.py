"""All people and kinds of records of the passes of an approval, and long random walks through random flows."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, People
from tests.api.approval.asked import KINDS, NAMES, assemble
from tests.api.approval.flows import configured, several
from tests.api.approval.test_approval_model import act_at_random
from tests.api.approval.test_passes import CELLS, check_outside_the_data_scope, check_without_permission, permit

pytestmark = pytest.mark.gen_test(timeout=120)


async def test_being_asked_opens_the_record_and_nothing_else(people: People, tradewind: Running, admin: Client) -> None:
    cast, permitted = await assemble(people, tradewind, *KINDS), await permit(people, tradewind)
    for name, kind in product(NAMES, KINDS):
        if (name, kind) not in CELLS:
            await check_without_permission(name, kind, cast, admin)
            await check_outside_the_data_scope(name, kind, permitted)


@pytest.fixture(scope="module")
def team(io_loop: IOLoop, people: People) -> list[Client]:
    clients: list[Client] = io_loop.run_sync(lambda: several(people, 5))
    return clients


@pytest.mark.parametrize("own_requests", ["ask", "leave_out"])
@pytest.mark.parametrize("seed", range(3, 23))
async def test_random_actions_do_what_the_model_says(
    seed: int, own_requests: str, admin: Client, team: list[Client]
) -> None:
    async with configured(admin, approval_own_requests=own_requests):
        await act_at_random(random.Random(seed), admin, team, own_requests == "leave_out")
