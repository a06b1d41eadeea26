"""Sequences: whole numbers, each given once."""

import asyncio

import pytest

from handlers.data.database import Database
from plugins.testing import unique

pytestmark = pytest.mark.gen_test


async def test_a_sequence_begins_with_one(database: Database) -> None:
    assert await database.next_number(unique("sequence")) == 1


async def test_fifty_simultaneous_callers_get_fifty_numbers(database: Database, other_instance: Database) -> None:
    name = unique("sequence")
    drawn = await asyncio.gather(*((database, other_instance)[n % 2].next_number(name) for n in range(50)))
    assert sorted(drawn) == list(range(1, 51))


async def test_two_sequences_are_independent(database: Database) -> None:
    first, second = unique("sequence"), unique("sequence")
    assert [await database.next_number(name) for name in (first, first, second)] == [1, 2, 1]
