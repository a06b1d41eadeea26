"""Leases: one holder at a time by the database's clock, with a number that grows."""

import asyncio

import pytest

from handlers.data.database import Database, Lease
from plugins.testing import eventually, unique

pytestmark = pytest.mark.gen_test
SHORT = 0.3


async def test_a_lease_has_one_holder(database: Database, other_instance: Database) -> None:
    name = unique("lease")
    contenders = [Lease(instance, name, 60) for instance in (database, other_instance) for _ in range(5)]
    assert sorted(await asyncio.gather(*(lease.acquire() for lease in contenders))) == [False] * 9 + [True]


async def test_a_lease_that_is_released_is_free(database: Database) -> None:
    name = unique("lease")
    first, second = Lease(database, name, 60), Lease(database, name, 60)
    assert await first.acquire()
    await first.release()
    assert await second.acquire()


async def test_only_the_holder_releases_a_lease(database: Database) -> None:
    name = unique("lease")
    first, second = Lease(database, name, 60), Lease(database, name, 60)
    assert await first.acquire()
    await second.release()
    assert not await second.acquire()


async def test_the_lease_of_a_dead_holder_runs_out(database: Database, other_instance: Database) -> None:
    name = unique("lease")
    assert await Lease(database, name, SHORT).acquire()
    heir = Lease(other_instance, name, 60)
    assert not await heir.acquire()
    await eventually(heir.acquire, seconds=2)


async def test_a_lease_that_is_renewed_does_not_run_out(database: Database) -> None:
    name = unique("lease")
    holder, other = Lease(database, name, SHORT), Lease(database, name, 60)
    assert await holder.acquire()
    end = asyncio.get_running_loop().time() + 2 * SHORT
    while asyncio.get_running_loop().time() < end:
        assert await holder.renew()
        assert not await other.acquire()


async def test_a_lost_lease_cannot_be_renewed(database: Database) -> None:
    name = unique("lease")
    loser, winner = Lease(database, name, SHORT), Lease(database, name, 60)
    assert await loser.acquire()
    await eventually(winner.acquire, seconds=2)
    assert not await loser.renew()


async def test_the_fencing_number_grows_with_every_holder(database: Database) -> None:
    name, numbers = unique("lease"), []
    for _ in range(3):
        async with Lease(database, name, 60) as lease:
            numbers.append(lease.fencing)
    assert numbers == [1, 2, 3]


async def test_a_lease_that_is_not_held_has_no_fencing_number(database: Database) -> None:
    name = unique("lease")
    holder, other = Lease(database, name, 60), Lease(database, name, 60)
    await holder.acquire()
    await other.acquire()
    assert (holder.fencing, other.fencing) == (1, 0)


async def test_as_a_block_a_lease_lets_in_one_after_the_other(database: Database, other_instance: Database) -> None:
    name, inside, most = unique("lease"), 0, 0

    async def enter(instance: Database) -> None:
        nonlocal inside, most
        async with Lease(instance, name, 60, poll_seconds=0.01):
            inside += 1
            most = max(most, inside)
            await instance.driver.command({"ping": 1})
            inside -= 1

    await asyncio.gather(*(enter(instance) for instance in (database, other_instance) for _ in range(3)))
    assert most == 1


async def test_a_block_that_takes_longer_than_its_lease_keeps_it(database: Database, other_instance: Database) -> None:
    name = unique("lease")
    async with Lease(database, name, SHORT):
        end = asyncio.get_running_loop().time() + 3 * SHORT
        while asyncio.get_running_loop().time() < end:
            assert not await Lease(other_instance, name, 60).acquire()
    assert await Lease(other_instance, name, 60).acquire()


async def test_a_database_that_is_prepared_does_not_wait_for_others(
    database: Database, other_instance: Database
) -> None:
    async with Lease(database, "prepare", 60), asyncio.timeout(5):
        await other_instance.prepare()
