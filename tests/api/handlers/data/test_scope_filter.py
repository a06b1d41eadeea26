"""A data scope says the same in three ways: as a filter, as parts that share no row, and of one document."""

import random
import uuid

import pytest
from bson import ObjectId

from handlers.data.database import Database
from handlers.data.visible.responsible import new_fields
from handlers.data.visible.scope import ALL_ROWS, Scope

pytestmark = pytest.mark.gen_test


def owned_by(creator_department: int | None, owner_department: int | None) -> dict[str, int | None]:
    """What a record stores of the departments of its creator and its owner."""
    return {"creator_department_id": creator_department, **new_fields(creator_department, owner_department)}


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("shared", [False, True])
async def test_filter_parts_and_admits_agree_on_every_row(database: Database, shared: bool, owned: bool) -> None:
    pick, things = random.Random(7), f"things_{uuid.uuid4().hex[:8]}"
    await database.driver.insert(
        things,
        [
            {
                "_id": ObjectId(),
                **owned_by(pick.choice([None, *range(1, 12)]), pick.choice([None, *range(1, 12)])),
                "creator_id": pick.randrange(5),
                "shared_with": pick.sample(range(5), pick.randrange(3)),
            }
            for _ in range(300)
        ]
        + [
            {"_id": ObjectId()},
            {"_id": ObjectId(), "creator_id": None, "shared_with": None},
        ],
    )
    scopes = [
        Scope(
            department_ids=frozenset(pick.sample(range(1, 12), pick.randrange(9))),
            creator_id=pick.choice([None, pick.randrange(5)]),
            user_id=pick.randrange(5),
        )
        for _ in range(30)
    ]
    for scope in (ALL_ROWS, Scope(), *scopes):
        seen = await database.driver.find(things, scope.filter(shared=shared, owned=owned))
        counted = [await database.driver.count(things, part) for part in scope.parts(shared=shared, owned=owned)]
        assert sum(counted) == len(seen), scope
        stored = await database.driver.find(things, {})
        assert [row for row in stored if scope.admits(row, shared=shared, owned=owned)] == seen, scope
